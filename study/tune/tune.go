// Package tune searches the Hadoop settings with which a job takes the least time.
//
//	Tune -> rules of thumb, Herodotou's equations, random draws -> candidates
//	     -> simulations choose and refine -> pairs of runs measure the gain (study/search)
//	     -> Tuned    table, text and JSON (answer)
package tune

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/search"
	"github.com/slotwave/slotwave/workload"
)

// Limits of the search.
const (
	searches    = 3    // with the equations, each with a seed of its own
	explored    = 120  // random points, each with one run
	promising   = 3    // of them that become candidates
	batches     = 4    // of points near the best one
	batch       = 40   // points, each with one run
	mostAtOnce  = 4    // settings in which such a point differs from the best one
	screening   = 2    // runs by which candidates are compared
	rounds      = 2    // of changing one setting after another
	worthIt     = 0.01 // least gain for which a setting is changed in the search
	heapForSort = 0.6  // largest share of a map's heap for io.sort.mb
)

// keptBytes is the space for a record in the second area of the sort buffer.
const keptBytes = 16

const codecKey = "mapred.map.output.compression.codec"

// tunedCodecs are the codecs that Tune tries for map output.
var tunedCodecs = []string{
	"org.apache.hadoop.io.compress.DefaultCodec", "com.hadoop.compression.lzo.LzoCodec", "org.apache.hadoop.io.compress.SnappyCodec",
}

// Setting is a setting that Tune may change.
type Setting struct {
	analytic.TuneParam
	key      string // of the scenario
	IsSwitch bool
	Choices  []string  // values are indices of it; nil: values are numbers
	Tries    []float64 // values that the search simulates
}

// Text returns a value as a scenario states it.
func (d *Setting) Text(v float64) string {
	switch {
	case d.Choices != nil:
		return d.Choices[int(v)]
	case d.IsSwitch:
		return strconv.FormatBool(v != 0)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// assignment returns KEY=VALUE as --set takes it.
func (d *Setting) assignment(v float64) string {
	text := d.Text(v)
	if d.Choices != nil {
		text = workload.TOMLText(text)
	}
	return d.key + "=" + text
}

// Round returns the nearest value that people would write.
func (d *Setting) Round(v float64) float64 {
	if d.Whole {
		return math.Round(v)
	}
	return math.Round(v*100) / 100
}

// tuner searches the settings of one job.
type tuner struct {
	study       *study.Study
	question    *model.WhatIf
	settings    []Setting
	progress    study.SweepProgress // may be nil
	mutex       sync.Mutex
	step        study.SweepStatus
	times       map[string]float64 // of the job, by settings and seed; s
	simulations int
}

// Tune searches the Hadoop settings with which the only job of the scenario takes
// the least time. Herodotou's equations, rules of thumb and random draws propose
// candidates. The simulator chooses among them, changes one setting after another,
// then several at a time, and measures the gain in pairs of runs with common seeds,
// one for each replication. progress may be nil.
func Tune(s *study.Study, progress study.SweepProgress) (*Tuned, error) {
	if n := s.Options.NumReplications(); n < search.LeastPairs {
		return nil, fmt.Errorf("--replications: got %d: want %d or more, for an interval", n, search.LeastPairs)
	}
	t, err := newTuner(s)
	if err != nil {
		return nil, err
	}
	t.progress = progress
	start := make([]float64, len(t.settings))
	for i := range t.settings {
		start[i] = t.settings[i].Start
	}
	candidates, note, err := t.candidates(start)
	if err != nil {
		return nil, err
	}
	t.step.Step, t.step.Total = "random settings", explored
	random, err := t.explore()
	if err != nil {
		return nil, err
	}
	t.step.Step, t.step.Total = "candidates", 0
	best, err := t.better(start, append(candidates, random...), 0)
	if err != nil {
		return nil, err
	}
	for _, step := range []struct {
		name string
		do   func([]float64) ([]float64, error)
	}{{"one setting at a time", t.refine}, {"several at a time", t.changeSeveral}, {"one at a time again", t.refine}} {
		t.step.Step = step.name
		if best, err = step.do(best); err != nil {
			return nil, err
		}
	}
	t.step.Step = "gains"
	tuned, err := t.measure(start, best)
	if err != nil {
		return nil, err
	}
	if note != "" {
		tuned.Notes = append(tuned.Notes, note)
	}
	return tuned, nil
}

func newTuner(s *study.Study) (*tuner, error) {
	if len(s.Scenario.Runs) != 1 || len(s.Scenario.Runs[0].Question.Jobs) != 1 {
		return nil, fmt.Errorf("%s: got %s and %s: want a scenario of one job, without [vary] or --over (--job chooses one of a history)",
			s.Scenario.Name, workload.Counted(len(s.Scenario.Runs), "run", "runs"), workload.Counted(len(s.Scenario.Runs[0].Question.Jobs), "job", "jobs"))
	}
	q := &s.Scenario.Runs[0].Question
	if q.Fidelity < model.Phase {
		return nil, fmt.Errorf("%s: fidelity: got %s: want phase or device, where settings change the times of tasks", s.Scenario.Name, q.Fidelity)
	}
	if slices.ContainsFunc(q.Cluster.Machines, func(m model.Machine) bool { return m.Fitted != nil }) {
		return nil, fmt.Errorf("%s: a fitted platform holds the settings of its benchmarks: want a platform with devices, such as dl145-g3", s.Scenario.Name)
	}
	if q.Jobs[0].Reduces.Count == 0 {
		return nil, fmt.Errorf("%s: the job has no reduces: want some, because tune changes how map output is sorted and fetched", s.Scenario.Name)
	}
	t := &tuner{study: s, question: q, times: map[string]float64{}}
	return t, t.readSettings()
}

// SettingsOf lists the settings of a job that may change.
func SettingsOf(s *study.Study, q *model.WhatIf) ([]Setting, error) {
	t := &tuner{study: s, question: q}
	err := t.readSettings()
	return t.settings, err
}

// readSettings lists the settings of the job that may change.
func (t *tuner) readSettings() error {
	j := &t.question.Jobs[0]
	c, err := taskplan.ReadConf(j.Conf)
	if err != nil {
		return err
	}
	for _, key := range workload.Properties() {
		p, _ := workload.FindProperty(key)
		if key == codecKey {
			t.addCodec(j.Conf.String(key, p.Default))
			continue
		}
		if p.Tuned == nil {
			continue
		}
		d := Setting{IsSwitch: p.Switch()}
		d.key = t.confKey(key)
		d.Name, d.Min, d.Max, d.Whole = key, p.Tuned[0], p.Tuned[1], p.Whole()
		d.ReduceSide = strings.HasPrefix(key, "mapred.") && key != "mapred.compress.map.output"
		switch {
		case d.IsSwitch:
			on, err := j.Conf.Bool(key, p.Default == "true")
			if err != nil {
				return err
			}
			if on {
				d.Start = 1
			}
			d.Tries = []float64{0, 1}
		default:
			def, err := strconv.ParseFloat(p.Default, 64)
			if err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			if d.Start, err = j.Conf.Float(key, def); err != nil {
				return err
			}
			if key == "io.sort.mb" {
				d.Max = math.Min(d.Max, math.Floor(heapForSort*float64(c.MapHeap)/(1<<20)))
				d.Min = math.Min(d.Min, d.Max)
			}
			for _, part := range []float64{0, 0.25, 0.5, 1} {
				d.Tries = append(d.Tries, d.Round(d.Min+float64(part*(d.Max-d.Min))))
			}
		}
		t.settings = append(t.settings, d)
	}
	if j.Reduces.Shares == nil && t.study.Scenario.Tables > 0 { // recorded ones have their own input
		t.addReduces(j.Reduces.Count)
	}
	return nil
}

// confKey is the key of a property: of the [[job]], or laid over those of a recorded job.
func (t *tuner) confKey(property string) string {
	if t.study.Scenario.Tables == 0 {
		return fmt.Sprintf("conf.%q", property)
	}
	return fmt.Sprintf("job.0.conf.%q", property)
}

// addCodec lets the codec of map output change. A codec of the scenario that is
// none of tunedCodecs is one more choice.
func (t *tuner) addCodec(now string) {
	d := Setting{key: t.confKey(codecKey), Choices: slices.Clone(tunedCodecs)}
	if strings.HasPrefix(t.question.Cluster.Hadoop, "0.") {
		d.Choices = d.Choices[:len(d.Choices)-1] // Snappy came with 1.0
	}
	i := slices.Index(d.Choices, now)
	if i < 0 {
		i = len(d.Choices)
		d.Choices = append(d.Choices, now)
	}
	d.Name, d.Start, d.Max, d.Whole = codecKey, float64(i), float64(len(d.Choices)-1), true
	for i := range d.Choices {
		d.Tries = append(d.Tries, float64(i))
	}
	t.settings = append(t.settings, d)
}

// addReduces lets the number of reduces change, up to two waves.
func (t *tuner) addReduces(now int) {
	slots := t.reduceSlots()
	d := Setting{key: "job.0.reduces"}
	d.Name, d.Start, d.Whole, d.ReduceSide = "reduces", float64(now), true, true
	d.Min, d.Max = 1, math.Max(2*slots, float64(now))
	for _, part := range []float64{0.25, 0.5, 0.75, 0.95, 1, 1.75} {
		d.Tries = append(d.Tries, math.Max(1, math.Floor(part*slots)))
	}
	t.settings = append(t.settings, d)
}

func (t *tuner) reduceSlots() float64 {
	return float64(max(1, t.question.Cluster.Slots()[workload.Reduce]))
}

// with returns the question with some values, for the equations.
func (t *tuner) with(at []float64) model.WhatIf {
	q := *t.question
	q.Jobs = slices.Clone(q.Jobs)
	j := &q.Jobs[0]
	var conf workload.Conf
	for i := range t.settings {
		d := &t.settings[i]
		if d.Name == "reduces" {
			j.Reduces.Count = int(d.Round(at[i]))
		} else {
			conf.Set(d.Name, d.Text(d.Round(at[i])))
		}
	}
	j.Conf = j.Conf.Over(conf)
	return q
}

// candidates returns the proposals of rules of thumb and of the equations. The note
// says why the equations make none.
func (t *tuner) candidates(start []float64) (all [][]float64, note string, err error) {
	for _, compress := range []float64{0, 1} {
		all = append(all, t.byRules(start, compress))
	}
	space := make([]analytic.TuneParam, len(t.settings))
	for i := range space {
		space[i] = t.settings[i].TuneParam
	}
	for i := range searches {
		seed := t.study.Options.Draws("tune").For(i)
		at, err := analytic.Tune(space, seed, t.with)
		if err != nil {
			return all, fmt.Sprintf("the equations propose no settings: %v", err), nil
		}
		for i := range at {
			at[i] = t.settings[i].Round(at[i])
		}
		all = append(all, at)
	}
	return all, "", nil
}

// byRules follows Hadoop's rules of thumb: reduces in one wave that leaves 5 % of
// the slots, one spill per map, one merge pass, and a fast codec if the map output
// is compressed.
func (t *tuner) byRules(start []float64, compress float64) []float64 {
	at := slices.Clone(start)
	for i := range t.settings {
		d := &t.settings[i]
		switch d.Name {
		case "reduces":
			at[i] = math.Max(1, math.Floor(0.95*t.reduceSlots()))
		case "io.sort.mb", "io.sort.factor":
			at[i] = d.Max
		case "io.sort.record.percent":
			at[i] = d.Round(math.Min(d.Max, math.Max(d.Min, t.recordPart())))
		case "mapred.compress.map.output":
			at[i] = compress
		case codecKey:
			if compress != 0 {
				at[i] = 1
			}
		}
	}
	return at
}

// recordPart is the part of the sort buffer with which its two areas fill at the
// same time: 16 bytes are kept for each record.
func (t *tuner) recordPart() float64 {
	p := t.question.Program(&t.question.Jobs[0])
	if p == nil {
		return 0.05
	}
	d := &p.Data
	if d.MapRecsSel == 0 {
		return 0.05
	}
	return keptBytes / (keptBytes + d.InputPairWidth*d.MapSizeSel/d.MapRecsSel)
}

// changes returns the values that differ from the scenario's, as --set takes them.
func (t *tuner) changes(at []float64) []string {
	var list []string
	for i := range at {
		if d := &t.settings[i]; at[i] != d.Start {
			list = append(list, d.assignment(at[i]))
		}
	}
	return list
}

// A draw is what chance decides in a run: the seed, and which of the machines that explain
// a record has its turn.
type draw struct {
	seed uint64
	turn int
}

// simulate returns the seconds that the job takes with some values in a draw, +Inf if it
// does not succeed.
func (t *tuner) simulate(at []float64, d draw) (float64, error) {
	changes := t.changes(at)
	key := fmt.Sprint(d, changes)
	t.mutex.Lock()
	known, ok := t.times[key]
	t.mutex.Unlock()
	if ok {
		return known, nil
	}
	q, err := t.asked(changes, d)
	if err != nil {
		return 0, err
	}
	seconds, err := search.TimeTaken(q)
	if err != nil {
		return 0, err
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if _, ok := t.times[key]; !ok {
		t.times[key] = seconds
		t.simulations++
		t.step.Ended, t.step.Done = t.simulations, t.simulations
		if t.progress != nil {
			t.progress(t.step)
		}
	}
	return seconds, nil
}

// asked returns the question with some changes in a draw.
func (t *tuner) asked(changes []string, d draw) (*model.WhatIf, error) {
	f, err := t.study.Turn(d.turn).With(changes...)
	if err != nil {
		return nil, err
	}
	s, err := f.Scenario(d.seed)
	if err != nil {
		return nil, err
	}
	return &s.Runs[0].Question, nil
}

// spillNote says how the spills of a map and the merge passes of the job change. It is
// empty if the spills do not.
func (t *tuner) spillNote(points [2][]float64) (string, error) {
	var spills [2]float64
	var passes [2]int64
	for i, at := range points {
		q, err := t.asked(t.changes(at), t.pairDraws()[0])
		if err != nil {
			return "", err
		}
		p, _, err := study.Simulate(q)
		if err != nil {
			return "", err
		}
		j := &p.Jobs[0]
		spills[i], passes[i] = float64(j.Spills)/float64(max(1, j.Maps)), j.MergePasses
	}
	if spills[0] == spills[1] {
		return "", nil
	}
	note := fmt.Sprintf("spills of a map: %.1f in place of %.1f; merge passes of the job: %d in place of %d", spills[1], spills[0], passes[1], passes[0])
	if spills[1] > spills[0] {
		note += "; all spills but the last are sorted and written while the map function runs, so that less is left at its end"
	}
	return note, nil
}

// simulateAll returns the times of points by draws, several runs at a time.
func (t *tuner) simulateAll(points [][]float64, draws []draw) ([][]float64, error) {
	all := make([][]float64, len(points))
	var group errgroup.Group
	group.SetLimit(t.study.Options.NumWorkers())
	for i := range points {
		all[i] = make([]float64, len(draws))
		for k, d := range draws {
			group.Go(func() (err error) {
				all[i][k], err = t.simulate(points[i], d)
				return err
			})
		}
	}
	return all, group.Wait()
}

// draw returns a random value of a setting.
func (d *Setting) draw(r *rand.Rand) float64 {
	if d.Whole {
		return d.Min + float64(r.IntN(int(d.Max-d.Min)+1))
	}
	return d.Round(d.Min + float64(r.Float64()*(d.Max-d.Min)))
}

// explore returns the fastest of random points.
func (t *tuner) explore() ([][]float64, error) {
	stream := t.study.Options.Draws("exploration").Stream(0, 0).Generator()
	r := rand.New(&stream)
	points := make([][]float64, explored)
	for i := range points {
		for k := range t.settings {
			points[i] = append(points[i], t.settings[k].draw(r))
		}
	}
	times, err := t.simulateAll(points, t.screeningDraws()[:1])
	if err != nil {
		return nil, err
	}
	return fastest(points, times)[:promising], nil
}

// fastest sorts points by the time of their first run.
func fastest(points [][]float64, times [][]float64) [][]float64 {
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(times[a][0], times[b][0]) })
	sorted := make([][]float64, len(points))
	for i, k := range order {
		sorted[i] = points[k]
	}
	return sorted
}

// changeSeveral draws new values for several settings at a time. Where a change of
// one setting gains less than a heartbeat takes, only several together show a gain.
func (t *tuner) changeSeveral(best []float64) ([]float64, error) {
	stream := t.study.Options.Draws("neighbours").Stream(0, 0).Generator()
	r := rand.New(&stream)
	for range batches {
		points := make([][]float64, batch)
		for i := range points {
			points[i] = slices.Clone(best)
			for range 2 + r.IntN(mostAtOnce-1) {
				k := r.IntN(len(t.settings))
				points[i][k] = t.settings[k].draw(r)
			}
		}
		times, err := t.simulateAll(points, t.screeningDraws()[:1])
		if err != nil {
			return nil, err
		}
		if best, err = t.better(best, fastest(points, times)[:promising], 0); err != nil {
			return nil, err
		}
	}
	return best, nil
}

func (t *tuner) screeningDraws() []draw {
	draws := make([]draw, screening)
	for i := range draws {
		draws[i] = draw{uint64(t.study.Options.Draws("screening").For(i)), i}
	}
	return draws
}

// screen returns the mean times of points in the runs of the search. Their seeds
// are not those of the pairs, so that the choice does not flatter the gain.
func (t *tuner) screen(points [][]float64) ([]float64, error) {
	times, err := t.simulateAll(points, t.screeningDraws())
	means := make([]float64, len(points))
	for i := range times {
		for _, seconds := range times[i] {
			means[i] += seconds / screening
		}
	}
	return means, err
}

// refine changes one setting after another where that is worth it, and the settings
// of the sort buffer together.
func (t *tuner) refine(best []float64) ([]float64, error) {
	for range rounds {
		before := best
		for i := range t.settings {
			var points [][]float64
			for _, v := range append(t.settings[i].Tries, t.settings[i].Start) {
				if v != best[i] {
					at := slices.Clone(best)
					at[i] = v
					points = append(points, at)
				}
			}
			var err error
			if best, err = t.better(best, points, worthIt); err != nil {
				return nil, err
			}
		}
		var err error
		if best, err = t.better(best, t.bySpills(best), worthIt); err != nil {
			return nil, err
		}
		if slices.Equal(before, best) {
			break
		}
	}
	return best, nil
}

// better returns the fastest of some points in the runs of the search, if it gains
// more than a part of the time.
func (t *tuner) better(best []float64, points [][]float64, gain float64) ([]float64, error) {
	means, err := t.screen(append([][]float64{best}, points...))
	if err != nil {
		return nil, err
	}
	least := floats.MinIdx(means)
	if means[least] < (1-gain)*means[0] {
		best = points[least-1]
	}
	return best, nil
}

// bySpills returns points with two or more spills of equal size for each map. All but
// the last are sorted and written while the map function runs.
func (t *tuner) bySpills(best []float64) (points [][]float64) {
	const filled = 0.5
	j, kept := &t.question.Jobs[0], t.recordPart()
	p := t.question.Program(j)
	if p == nil || j.Maps.Count == 0 {
		return nil
	}
	data := &p.Data
	input := float64(j.Maps.InputBytes) / float64(j.Maps.Count)
	output, records := input*data.MapSizeSel/(1<<20), input/data.InputPairWidth*data.MapRecsSel
	for _, spills := range []float64{2, 3, 4, 6, 8} {
		at, size := slices.Clone(best), 0.0
		for i := range t.settings { // io.sort.mb comes first
			d := &t.settings[i]
			within := func(v float64) float64 { return math.Min(d.Max, math.Max(d.Min, v)) }
			switch d.Name {
			case "io.sort.mb":
				size = within(math.Ceil(output / (spills * filled * (1 - kept))))
				at[i] = size
			case "io.sort.record.percent":
				// If the least buffer is too large, the records fill it.
				part := keptBytes * records / (spills * filled * size * (1 << 20))
				at[i] = within(math.Ceil(100*math.Min(kept, part)) / 100)
			case "io.sort.spill.percent":
				at[i] = filled
			}
		}
		points = append(points, at)
	}
	return points
}

// pairDraws are those of the replications.
func (t *tuner) pairDraws() []draw {
	draws := make([]draw, t.study.Options.NumReplications())
	for i := range draws {
		draws[i] = draw{t.study.Options.SeedOf(i), i}
	}
	return draws
}

// measure states the gain of the best values, and the gain of each changed one.
func (t *tuner) measure(start, best []float64) (*Tuned, error) {
	each, err := t.oneByOne(best)
	if err != nil {
		return nil, err
	}
	fewer, err := t.putBack(best, each)
	if err != nil {
		return nil, err
	}
	again, err := t.oneByOne(fewer)
	if err != nil {
		return nil, err
	}
	times, err := t.simulateAll([][]float64{start, fewer}, t.pairDraws())
	if err != nil {
		return nil, err
	}
	for _, list := range times {
		if slices.ContainsFunc(list, func(s float64) bool { return math.IsInf(s, 1) }) {
			return nil, fmt.Errorf("%s: the job does not succeed in every run: want a scenario in which it does", t.study.Scenario.Name)
		}
	}
	tuned := &Tuned{
		Scenario: t.study.Scenario.Name, Fidelity: t.question.Fidelity.String(), Job: t.question.Jobs[0].ID,
		Before: times[0], After: times[1], Gain: search.NewGain(times[0], times[1]), Set: t.changes(fewer), Simulations: t.simulations,
	}
	note, err := t.spillNote([2][]float64{start, fewer})
	if err != nil {
		return nil, err
	}
	if note != "" {
		tuned.Notes = append(tuned.Notes, note)
	}
	for i := range t.settings {
		d := &t.settings[i]
		row := TunedSetting{Setting: d.Name, From: d.Text(d.Start), To: d.Text(fewer[i]), Kept: fewer[i] != d.Start, Gain: again[i]}
		if fewer[i] != best[i] {
			row.Gain = each[i]
		}
		tuned.Settings = append(tuned.Settings, row)
		if d.Choices != nil && strings.HasPrefix(row.To, "com.hadoop.") && row.To != row.From {
			tuned.Notes = append(tuned.Notes, "LzoCodec is not part of Hadoop: it must be installed on every node")
		}
	}
	return tuned, nil
}

// putBack returns the values with those put back that make no difference, as long
// as all that are put back together lose no time either.
func (t *tuner) putBack(best []float64, each []*search.Gain) ([]float64, error) {
	draws := t.pairDraws()
	fewer := best
	for i, g := range each {
		if g == nil || g.Effect() == search.Faster {
			continue
		}
		at := slices.Clone(fewer)
		at[i] = t.settings[i].Start
		times, err := t.simulateAll([][]float64{at, best}, draws)
		if err != nil {
			return nil, err
		}
		if loss := search.NewGain(times[0], times[1]); loss.Effect() != search.Faster && loss.Mean < worthIt {
			fewer = at
		}
	}
	return fewer, nil
}

// oneByOne returns the gain of each changed setting over the same values without
// it, nil for those that are not changed.
func (t *tuner) oneByOne(best []float64) ([]*search.Gain, error) {
	points := [][]float64{best}
	var changed []int
	for i := range best {
		if best[i] != t.settings[i].Start {
			at := slices.Clone(best)
			at[i] = t.settings[i].Start
			points, changed = append(points, at), append(changed, i)
		}
	}
	gains := make([]*search.Gain, len(best))
	times, err := t.simulateAll(points, t.pairDraws())
	if err != nil {
		return nil, err
	}
	for k, i := range changed {
		g := search.NewGain(times[k+1], times[0])
		gains[i] = &g
	}
	return gains, nil
}
