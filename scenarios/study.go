package scenarios

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/slotwave/slotwave/workload"
)

// StudyFile is a study as it is written: a scenario and the keys that vary.
type StudyFile struct {
	Scenario        string // shipped name or path; empty: none is named
	Input           Input  // the file itself
	Set             []string
	Seed            uint64
	Replications    int
	MaxReplications int
	Precision       float64 // half-width of an interval as a fraction of the mean; 0: none
	Metrics         []string
	Factors         []Factor
	Baseline        []Level   // values of the points with which the others are compared; empty: those of the first
	Size            *SizeFile // nil: not a question about the size of a cluster
}

// Factor is a key with the values it takes; those of a range are made when they are
// asked for. Factors with the same zip name take
// their first values together, then their second, and so on.
type Factor struct {
	Key   string
	Zip   string // empty: all combinations with other factors
	Where string // file:line: of the factor
	Count int    // of its values
	Level func(i int) Level

	Range   bool // the levels are numbers of a range
	Sampled bool // and samples of it
}

// Ways of sampling ranges. They are the zip names of the factors that are sampled.
const (
	latinHypercube = "latin hypercube"
	sobolSequence  = "sobol"
)

// sampling says how the ranges without steps are sampled.
type sampling struct {
	way     string
	seed    uint64
	samples int // 0: none
	factors int // that are sampled so far
}

// parts returns where in its range the samples of the next factor are, from 0 to 1.
func (s *sampling) parts(key string) []float64 {
	source := workload.Seed(s.seed).Named(s.way).Named(key).Stream(0, 0).Generator()
	random := rand.New(&source)
	s.factors++
	if s.way == sobolSequence {
		return sobol(s.factors-1, s.samples, random.Uint32())
	}
	parts := make([]float64, s.samples)
	for i, stratum := range random.Perm(s.samples) {
		parts[i] = (float64(stratum) + random.Float64()) / float64(s.samples)
	}
	return parts
}

// maxLevels is how many values a factor may take.
const maxLevels = 1_000_000

// ReadStudy reads a study file. It returns nil without an error if
// the name is that of a scenario. metrics refuses names of metrics. A study with
// goals may leave the scenario to who asks.
func ReadStudy(name string, metrics func([]string) error) (*StudyFile, error) {
	data, err := os.ReadFile(name)
	if info, _ := os.Stat(name); slices.Contains(List(), name) || info == nil || info.IsDir() {
		return nil, nil // Open says what is wrong with the name
	}
	if err != nil {
		return nil, err
	}
	t, err := parse(data, name)
	if filepath.Ext(name) == ".toml" && err != nil {
		return nil, err
	}
	if err != nil {
		return nil, nil // a recorded case
	}
	if what, _ := kindOf(t); !t.has("scenario") && !t.has("goal") && what != goalsAndOffers {
		return nil, nil
	}
	s := &StudyFile{
		Scenario: t.str("scenario", ""),
		Input:    Input{name, data},
		Seed:     uint64(t.integer("seed", 1, 0, math.MaxInt)),
		Size:     readSize(t),
		Metrics:  t.texts("metrics"),
	}
	if t.has("scenario") && !slices.Contains(List(), s.Scenario) && !filepath.IsAbs(s.Scenario) {
		s.Scenario = filepath.Join(filepath.Dir(name), s.Scenario)
	}
	least, most := 1, 1000
	if s.Size != nil {
		least, most = SizeReplications, s.Size.MostReplications()
	}
	s.Replications = t.integer("replications", least, 1, mostReplications)
	s.MaxReplications = t.integer("max_replications", max(most, s.Replications), s.Replications, mostReplications)
	readPrecision(t, s)
	if err := metrics(s.Metrics); err != nil {
		t.failf("metrics", "%v", err)
	}
	set := t.inner("set")
	for key, v := range inOrder(set) {
		s.Set = append(s.Set, key+"="+workload.TOMLValue(v))
	}
	how := sampling{way: t.oneOf("sampling", latinHypercube, latinHypercube, sobolSequence), seed: s.Seed, samples: t.integer("samples", 0, 1, maxLevels)}
	if t.has("sampling") && how.samples == 0 {
		t.failf("sampling", "has no effect without samples: want both keys or neither")
	}
	for _, f := range t.tables("factor") {
		s.Factors = append(s.Factors, readFactor(f, &how))
		f.done()
	}
	baseline := t.inner("baseline")
	for key, v := range inOrder(baseline) {
		s.Baseline = append(s.Baseline, Level{key, textOf(v), workload.TOMLValue(v)})
	}
	if t.has("cluster") || t.has("job") {
		t.decisive = &problem{line: t.line("goal"), what: fmt.Sprintf("the goals stand in a scenario: want them in a file of their own, with scenario = %q", filepath.Base(name))}
	}
	t.done()
	return s, t.err()
}

// readPrecision reads "2 %" or 0.02.
func readPrecision(t *table, s *StudyFile) {
	v, ok := t.ask("precision")
	if !ok {
		if t.has("max_replications") && s.Size == nil {
			t.failf("max_replications", "has no effect without precision: want both keys or neither")
		}
		return
	}
	f, ok := asPercent(v)
	if !ok || !(f > 0 && f < 1) {
		t.want("precision", v, `a fraction of the mean such as "2 %" or 0.02`)
		return
	}
	s.Precision = f
	s.Replications = max(2, s.Replications)
}

// readFactor reads one [[factor]].
func readFactor(t *table, how *sampling) Factor {
	f := Factor{Key: t.str("key", ""), Zip: t.str("zip", ""), Where: fmt.Sprintf("%s:%d: ", t.file, t.lines[t.path])}
	if f.Key == "" {
		t.lacks("%s: key: missing: want a key of the scenario", t.path)
	}
	if v, ok := t.ask("values"); ok {
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			t.want("values", v, "a list of values")
		}
		if text, twice := repeated(list); twice && f.Zip == "" {
			t.failf("values", "got %s twice: want different values", text)
		}
		f.Count, f.Level = len(list), func(i int) Level { return Level{f.Key, textOf(list[i]), workload.TOMLValue(list[i])} }
		return f
	}
	r := readSpan(t)
	f.Range = true
	switch {
	case r.bad:
		t.ask("step")
		t.ask("count")
	case t.has("step"):
		step := t.number("step", 0, above, math.MaxFloat64)
		n := math.Floor((r.to-r.from)/step + 1e-9)
		if r.log || !(step > 0) || n >= maxLevels {
			t.failf("step", "got %v: want a step of a linear scale that gives at most %d values", step, maxLevels)
			break
		}
		if _, whole := t.values["step"].(int64); !whole {
			r.whole = false
		}
		f.Count, f.Level = int(n)+1, func(i int) Level { return r.level(f.Key, r.from+float64(float64(i)*step)) }
	case t.has("count"):
		n := t.integer("count", 2, 2, maxLevels)
		f.Count, f.Level = n, func(i int) Level { return r.level(f.Key, r.at(float64(i)/float64(n-1))) }
	case how.samples > 0:
		if f.Zip != "" {
			t.failf("zip", "got %q: a sampled factor has no zip", f.Zip)
		}
		if how.way == sobolSequence && how.factors == mostSobol {
			t.fail(t.line(""), "%s: got more than %d sampled factors: want sampling = %q", t.path, mostSobol, latinHypercube)
			break
		}
		f.Zip, f.Sampled = how.way, true
		parts := how.parts(f.Key)
		f.Count, f.Level = len(parts), func(i int) Level { return r.level(f.Key, r.at(parts[i])) }
	default:
		t.lacks("%s: want values, or from and to with step or count, or samples at the top of the file", t.path)
	}
	return f
}

// span is a range of numbers.
type span struct {
	from, to        float64
	log, whole, bad bool
}

// readSpan reads from, to and scale. If both ends are whole numbers, so are the
// values between.
func readSpan(t *table) span {
	wrong := len(t.problems)
	r := span{from: t.number("from", math.NaN(), -anyNumber, anyNumber), to: t.number("to", math.NaN(), -anyNumber, anyNumber)}
	r.log = t.oneOf("scale", "linear", "linear", "log") == "log"
	_, first := t.values["from"].(int64)
	_, last := t.values["to"].(int64)
	r.whole = first && last
	r.bad = len(t.problems) > wrong
	switch {
	case r.bad:
	case !t.has("from") || !t.has("to"):
		t.lacks("%s: want values, or from and to", t.path)
		r.bad = true
	case r.from > r.to || r.log && r.from <= 0:
		t.failf("from", "got %v to %v: want the smaller number first, above 0 on a log scale", r.from, r.to)
		r.bad = true
	}
	return r
}

// at is the value at a part of the range.
func (r *span) at(part float64) float64 {
	switch {
	case part == 1:
		return r.to
	case r.log:
		return r.from * math.Exp(float64(part*math.Log(r.to/r.from)))
	}
	return r.from + float64(part*(r.to-r.from))
}

func (r *span) level(key string, v float64) Level {
	if r.whole {
		text := strconv.FormatInt(int64(math.Round(v)), 10)
		return Level{key, text, text}
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	return Level{key, textOf(v), workload.TOMLValue(v)}
}

// With returns the file with more settings. It shares the open traces.
func (f *File) With(settings ...string) (*File, error) {
	with := *f
	with.set = slices.Clone(f.set)
	with.traces = make(map[string]*openedTrace, len(f.traces))
	for key, t := range f.traces {
		with.traces[key] = t
	}
	for _, text := range settings {
		s, err := parseSetting(text)
		if err != nil {
			return nil, err
		}
		with.set = append(with.set, s)
	}
	return &with, nil
}

// Redrawn returns the file for other runs of the jobs that a seed draws: the seed of a
// scenario draws recorded times of equal tasks from each other. It shares the open traces.
func (f *File) Redrawn(jobs uint64) *File {
	again := *f
	again.jobs = &jobs
	return &again
}
