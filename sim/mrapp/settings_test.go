package mrapp

import (
	"testing"
	"time"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// Each property reaches its setting; a value that is none is an error.
func TestReadSettings(t *testing.T) {
	const am, job = "yarn.app.mapreduce.am.", "mapreduce.job."
	for key, want := range map[string]struct {
		value string
		is    func(s *Settings) bool
	}{
		job + "reduce.slowstart.completedmaps":                            {"0.7", func(s *Settings) bool { return s.Slowstart == 0.7 }},
		am + "job.reduce.rampup.limit":                                    {"0.7", func(s *Settings) bool { return s.RampUpLimit == 0.7 }},
		am + "job.reduce.preemption.limit":                                {"0.7", func(s *Settings) bool { return s.PreemptionLimit == 0.7 }},
		job + "reducer.preempt.delay.sec":                                 {"7", func(s *Settings) bool { return s.PreemptDelay == 7*second }},
		job + "reducer.unconditional-preempt.delay.sec":                   {"-1", func(s *Settings) bool { return s.UnconditionalDelay == -second }},
		job + "running.map.limit":                                         {"7", func(s *Settings) bool { return s.RunningMaps == 7 }},
		job + "running.reduce.limit":                                      {"7", func(s *Settings) bool { return s.RunningReduces == 7 }},
		am + "job.node-blacklisting.enable":                               {"false", func(s *Settings) bool { return !s.Blacklist }},
		job + "maxtaskfailures.per.tracker":                               {"7", func(s *Settings) bool { return s.NodeFailures == 7 }},
		am + "job.node-blacklisting.ignore-threshold-node-percent":        {"7", func(s *Settings) bool { return s.IgnorePercent == 7 }},
		"mapreduce.map.maxattempts":                                       {"7", func(s *Settings) bool { return s.MapAttempts == 7 }},
		"mapreduce.reduce.maxattempts":                                    {"7", func(s *Settings) bool { return s.ReduceAttempts == 7 }},
		"mapreduce.map.failures.maxpercent":                               {"7", func(s *Settings) bool { return s.MapFailures == 7 }},
		"mapreduce.reduce.failures.maxpercent":                            {"7", func(s *Settings) bool { return s.ReduceFailures == 7 }},
		"mapreduce.task.timeout":                                          {"70000", func(s *Settings) bool { return s.Progress == engine.At(700*time.Millisecond) }},
		"mapreduce.task.progress-report.interval":                         {"7", func(s *Settings) bool { return s.Progress == engine.At(7*time.Millisecond) }},
		am + "scheduler.heartbeat.interval-ms":                            {"7", func(s *Settings) bool { return s.Heartbeat == engine.At(7*time.Millisecond) }},
		am + "job.recovery.enable":                                        {"false", func(s *Settings) bool { return !s.Recovery }},
		job + "ubertask.enable":                                           {"true", func(s *Settings) bool { return s.Uber }},
		job + "ubertask.maxmaps":                                          {"7", func(s *Settings) bool { return s.UberMaps == 7 }},
		job + "ubertask.maxreduces":                                       {"7", func(s *Settings) bool { return s.UberReduces == 7 }},
		job + "ubertask.maxbytes":                                         {"7", func(s *Settings) bool { return s.UberBytes == 7 }},
		"mapreduce.map.speculative":                                       {"false", func(s *Settings) bool { return !s.Speculation.Maps }},
		"mapreduce.reduce.speculative":                                    {"false", func(s *Settings) bool { return !s.Speculation.Reduces }},
		am + "job.task.estimator.class":                                   {estimatorClasses[SimpleExponential], func(s *Settings) bool { return s.Speculation.Estimator == SimpleExponential }},
		job + "speculative.retry-after-no-speculate":                      {"7", func(s *Settings) bool { return s.Speculation.AfterNone == engine.At(7*time.Millisecond) }},
		job + "speculative.retry-after-speculate":                         {"7", func(s *Settings) bool { return s.Speculation.AfterSome == engine.At(7*time.Millisecond) }},
		job + "speculative.speculative-cap-running-tasks":                 {"0.7", func(s *Settings) bool { return s.Speculation.CapRunning == 0.7 }},
		job + "speculative.speculative-cap-total-tasks":                   {"0.7", func(s *Settings) bool { return s.Speculation.CapTotal == 0.7 }},
		job + "speculative.minimum-allowed-tasks":                         {"7", func(s *Settings) bool { return s.Speculation.Minimum == 7 }},
		am + "job.task.estimator.exponential.smooth.lambda-ms":            {"7", func(s *Settings) bool { return s.Speculation.Smoothing == engine.At(7*time.Millisecond) }},
		am + "job.task.estimator.exponential.smooth.rate":                 {"false", func(s *Settings) bool { return s.Speculation.SmoothTime }},
		am + "job.task.estimator.simple.exponential.smooth.lambda-ms":     {"300000", func(s *Settings) bool { return s.Speculation.SimpleStagnated == 600*second }},
		am + "job.task.estimator.simple.exponential.smooth.skip-initials": {"7", func(s *Settings) bool { return s.Speculation.SimpleSkip == 7 }},
		am + "job.task.estimator.simple.exponential.smooth.stagnated-ms":  {"700000", func(s *Settings) bool { return s.Speculation.SimpleStagnated == 700*second }},
	} {
		var conf workload.Conf
		conf.Set(key, want.value)
		s, err := ReadSettings(conf)
		if unset := defaults(); err != nil || !want.is(&s) || want.is(&unset) {
			t.Errorf("%s = %s: read %+v, %v", key, want.value, s, err)
		}
		conf.Set(key, "many")
		if _, err := ReadSettings(conf); err == nil {
			t.Errorf("%s = many: want an error", key)
		}
	}
}

// Releases are found by name.
