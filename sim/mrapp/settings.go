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

// reader collects the first error of a list of properties.
type reader struct {
	conf workload.Conf
	err  error
}

func (r *reader) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) whole(key string, def int) int {
	v, err := r.conf.Int(key, def)
	r.keep(err)
	return v
}

func (r *reader) number(key string, def float64) float64 {
	v, err := r.conf.Float(key, def)
	r.keep(err)
	return v
}

func (r *reader) truth(key string, def bool) bool {
	v, err := r.conf.Bool(key, def)
	r.keep(err)
	return v
}

func (r *reader) in(unit time.Duration, key string, def int) engine.Time {
	return engine.At(unit) * engine.Time(r.whole(key, def))
}

// timeout is after how many ms a silent task is given up. Without a timeout tasks report
// as often as with the usual one.
func (r *reader) timeout() int {
	const usual = 600000
	if ms := r.whole("mapreduce.task.timeout", usual); ms > 0 {
		return ms
	}
	return usual
}

func (r *reader) estimator() Estimator {
	const key = "yarn.app.mapreduce.am.job.task.estimator.class"
	name := r.conf.String(key, estimatorClasses[Legacy])
	for i, class := range estimatorClasses {
		if class == name {
			return Estimator(i)
		}
	}
	r.keep(fmt.Errorf("%s: got %s: want one of %q", key, name, estimatorClasses))
	return Legacy
}

// ReadSettings reads the settings of a job, with the defaults of Hadoop 2.7 and 3.3.
func ReadSettings(conf workload.Conf) (Settings, error) {
	r := &reader{conf: conf}
	s := Settings{
		Slowstart:          float32(r.number("mapreduce.job.reduce.slowstart.completedmaps", 0.05)),
		RampUpLimit:        float32(r.number("yarn.app.mapreduce.am.job.reduce.rampup.limit", 0.5)),
		PreemptionLimit:    float32(r.number("yarn.app.mapreduce.am.job.reduce.preemption.limit", 0.5)),
		PreemptDelay:       r.in(time.Second, "mapreduce.job.reducer.preempt.delay.sec", 0),
		UnconditionalDelay: r.in(time.Second, "mapreduce.job.reducer.unconditional-preempt.delay.sec", 300),
		RunningMaps:        r.whole("mapreduce.job.running.map.limit", 0),
		RunningReduces:     r.whole("mapreduce.job.running.reduce.limit", 0),
		Blacklist:          r.truth("yarn.app.mapreduce.am.job.node-blacklisting.enable", true),
		NodeFailures:       r.whole("mapreduce.job.maxtaskfailures.per.tracker", 3),
		IgnorePercent:      r.whole("yarn.app.mapreduce.am.job.node-blacklisting.ignore-threshold-node-percent", 33),
		MapAttempts:        r.whole("mapreduce.map.maxattempts", 4),
		ReduceAttempts:     r.whole("mapreduce.reduce.maxattempts", 4),
		MapFailures:        r.whole("mapreduce.map.failures.maxpercent", 0),
		ReduceFailures:     r.whole("mapreduce.reduce.failures.maxpercent", 0),
		Progress:           r.in(time.Millisecond, "mapreduce.task.progress-report.interval", r.timeout()/100),
		Heartbeat:          r.in(time.Millisecond, "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", 1000),
		Recovery:           r.truth("yarn.app.mapreduce.am.job.recovery.enable", true),
		Uber:               r.truth("mapreduce.job.ubertask.enable", false),
		UberMaps:           r.whole("mapreduce.job.ubertask.maxmaps", 9),
		UberReduces:        r.whole("mapreduce.job.ubertask.maxreduces", 1),
		UberBytes:          int64(r.whole("mapreduce.job.ubertask.maxbytes", 0)),
		Speculation:        r.speculation(),
	}
	return s, r.err
}

func (r *reader) speculation() SpeculationSettings {
	const smooth = "yarn.app.mapreduce.am.job.task.estimator."
	s := SpeculationSettings{
		Maps:            r.truth("mapreduce.map.speculative", true),
		Reduces:         r.truth("mapreduce.reduce.speculative", true),
		Estimator:       r.estimator(),
		AfterNone:       r.in(time.Millisecond, "mapreduce.job.speculative.retry-after-no-speculate", 1000),
		AfterSome:       r.in(time.Millisecond, "mapreduce.job.speculative.retry-after-speculate", 15000),
		CapRunning:      r.number("mapreduce.job.speculative.speculative-cap-running-tasks", 0.1),
		CapTotal:        r.number("mapreduce.job.speculative.speculative-cap-total-tasks", 0.01),
		Minimum:         r.whole("mapreduce.job.speculative.minimum-allowed-tasks", 10),
		Smoothing:       r.in(time.Millisecond, smooth+"exponential.smooth.lambda-ms", 60000),
		SmoothTime:      !r.truth(smooth+"exponential.smooth.rate", true),
		SimpleSmoothing: r.in(time.Millisecond, smooth+"simple.exponential.smooth.lambda-ms", 120000),
		SimpleSkip:      r.whole(smooth+"simple.exponential.smooth.skip-initials", 24),
	}
	// SimpleExponentialTaskRuntimeEstimator.contextualize
	s.SimpleStagnated = max(2*s.SimpleSmoothing, r.in(time.Millisecond, smooth+"simple.exponential.smooth.stagnated-ms", 360000))
	return s
}
