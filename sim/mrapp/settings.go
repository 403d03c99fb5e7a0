package mrapp

import (
	"fmt"
	"time"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// Settings are the properties of a job that its ApplicationMaster reads.
type Settings struct {
	Slowstart          float32 // mapreduce.job.reduce.slowstart.completedmaps
	RampUpLimit        float32 // yarn.app.mapreduce.am.job.reduce.rampup.limit
	PreemptionLimit    float32 // yarn.app.mapreduce.am.job.reduce.preemption.limit
	PreemptDelay       engine.Time
	UnconditionalDelay engine.Time // negative: never
	RunningMaps        int         // mapreduce.job.running.map.limit; 0: no limit
	RunningReduces     int
	Blacklist          bool // yarn.app.mapreduce.am.job.node-blacklisting.enable
	NodeFailures       int  // mapreduce.job.maxtaskfailures.per.tracker
	IgnorePercent      int  // share of blacklisted nodes that lifts the blacklist; -1: none
	MapAttempts        int
	ReduceAttempts     int
	MapFailures        int // percent of the maps that may fail
	ReduceFailures     int
	Progress           engine.Time // mapreduce.task.progress-report.interval; unset: a hundredth of mapreduce.task.timeout
	Heartbeat          engine.Time // yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms
	Recovery           bool        // yarn.app.mapreduce.am.job.recovery.enable
	Uber               bool
	UberMaps           int
	UberReduces        int
	UberBytes          int64 // 0: a block
	Speculation        SpeculationSettings
}

// SpeculationSettings are those that DefaultSpeculator and its estimators read.
type SpeculationSettings struct {
	Maps, Reduces   bool
	Estimator       Estimator
	AfterNone       engine.Time // pause after a pass that launched nothing
	AfterSome       engine.Time
	CapRunning      float64 // speculative tasks as a share of the running ones
	CapTotal        float64
	Minimum         int
	Smoothing       engine.Time // exponential: time constant
	SmoothTime      bool        // exponential: time per unit of progress instead of the rate
	SimpleSmoothing engine.Time // simple: time constant
	SimpleSkip      int
	SimpleStagnated engine.Time
}

// Estimator names a class of yarn.app.mapreduce.am.job.task.estimator.class.
type Estimator uint8

// Estimators.
const (
	Legacy            Estimator = iota // LegacyTaskRuntimeEstimator
	Exponential                        // ExponentiallySmoothedTaskRuntimeEstimator
	SimpleExponential                  // SimpleExponentialTaskRuntimeEstimator, 3.3
)

const speculatePackage = "org.apache.hadoop.mapreduce.v2.app.speculate."

var estimatorClasses = []string{
	Legacy:            speculatePackage + "LegacyTaskRuntimeEstimator",
	Exponential:       speculatePackage + "ExponentiallySmoothedTaskRuntimeEstimator",
	SimpleExponential: speculatePackage + "SimpleExponentialTaskRuntimeEstimator",
}

// reader reads properties and keeps the first error.
type reader struct{ workload.ConfReader }

func (r *reader) in(unit time.Duration, key string, def int) engine.Time {
	return engine.At(unit) * engine.Time(r.Int(key, def))
}

// timeout is after how many ms a silent task is given up. Without a timeout tasks report
// as often as with the usual one.
func (r *reader) timeout() int {
	const usual = 600000
	if ms := r.Int("mapreduce.task.timeout", usual); ms > 0 {
		return ms
	}
	return usual
}

func (r *reader) estimator() Estimator {
	const key = "yarn.app.mapreduce.am.job.task.estimator.class"
	name := r.Conf.String(key, estimatorClasses[Legacy])
	for i, class := range estimatorClasses {
		if class == name {
			return Estimator(i)
		}
	}
	r.Note(fmt.Errorf("%s: got %s: want one of %q", key, name, estimatorClasses))
	return Legacy
}

// ReadSettings reads the settings of a job, with the defaults of Hadoop 2.7 and 3.3.
func ReadSettings(conf workload.Conf) (Settings, error) {
	r := &reader{workload.ConfReader{Conf: conf}}
	s := Settings{
		Slowstart:          float32(r.Float("mapreduce.job.reduce.slowstart.completedmaps", 0.05)),
		RampUpLimit:        float32(r.Float("yarn.app.mapreduce.am.job.reduce.rampup.limit", 0.5)),
		PreemptionLimit:    float32(r.Float("yarn.app.mapreduce.am.job.reduce.preemption.limit", 0.5)),
		PreemptDelay:       r.in(time.Second, "mapreduce.job.reducer.preempt.delay.sec", 0),
		UnconditionalDelay: r.in(time.Second, "mapreduce.job.reducer.unconditional-preempt.delay.sec", 300),
		RunningMaps:        r.Int("mapreduce.job.running.map.limit", 0),
		RunningReduces:     r.Int("mapreduce.job.running.reduce.limit", 0),
		Blacklist:          r.Bool("yarn.app.mapreduce.am.job.node-blacklisting.enable", true),
		NodeFailures:       r.Int("mapreduce.job.maxtaskfailures.per.tracker", 3),
		IgnorePercent:      r.Int("yarn.app.mapreduce.am.job.node-blacklisting.ignore-threshold-node-percent", 33),
		MapAttempts:        r.Int("mapreduce.map.maxattempts", 4),
		ReduceAttempts:     r.Int("mapreduce.reduce.maxattempts", 4),
		MapFailures:        r.Int("mapreduce.map.failures.maxpercent", 0),
		ReduceFailures:     r.Int("mapreduce.reduce.failures.maxpercent", 0),
		Progress:           r.in(time.Millisecond, "mapreduce.task.progress-report.interval", r.timeout()/100),
		Heartbeat:          r.in(time.Millisecond, "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", 1000),
		Recovery:           r.Bool("yarn.app.mapreduce.am.job.recovery.enable", true),
		Uber:               r.Bool("mapreduce.job.ubertask.enable", false),
		UberMaps:           r.Int("mapreduce.job.ubertask.maxmaps", 9),
		UberReduces:        r.Int("mapreduce.job.ubertask.maxreduces", 1),
		UberBytes:          int64(r.Int("mapreduce.job.ubertask.maxbytes", 0)),
		Speculation:        r.speculation(),
	}
	return s, r.Err
}

func (r *reader) speculation() SpeculationSettings {
	const smooth = "yarn.app.mapreduce.am.job.task.estimator."
	s := SpeculationSettings{
		Maps:            r.Bool("mapreduce.map.speculative", true),
		Reduces:         r.Bool("mapreduce.reduce.speculative", true),
		Estimator:       r.estimator(),
		AfterNone:       r.in(time.Millisecond, "mapreduce.job.speculative.retry-after-no-speculate", 1000),
		AfterSome:       r.in(time.Millisecond, "mapreduce.job.speculative.retry-after-speculate", 15000),
		CapRunning:      r.Float("mapreduce.job.speculative.speculative-cap-running-tasks", 0.1),
		CapTotal:        r.Float("mapreduce.job.speculative.speculative-cap-total-tasks", 0.01),
		Minimum:         r.Int("mapreduce.job.speculative.minimum-allowed-tasks", 10),
		Smoothing:       r.in(time.Millisecond, smooth+"exponential.smooth.lambda-ms", 60000),
		SmoothTime:      !r.Bool(smooth+"exponential.smooth.rate", true),
		SimpleSmoothing: r.in(time.Millisecond, smooth+"simple.exponential.smooth.lambda-ms", 120000),
		SimpleSkip:      r.Int(smooth+"simple.exponential.smooth.skip-initials", 24),
	}
	// SimpleExponentialTaskRuntimeEstimator.contextualize
	s.SimpleStagnated = max(2*s.SimpleSmoothing, r.in(time.Millisecond, smooth+"simple.exponential.smooth.stagnated-ms", 360000))
	return s
}
