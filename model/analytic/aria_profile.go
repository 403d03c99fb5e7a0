package analytic

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// ExtractAria returns the profile of one job from the succeeded maps and reduces
// of a finished run. A reduce belongs to the first wave if it started before the
// last map ended. The shuffle includes the sort.
func ExtractAria(attempts []workload.Attempt) (AriaProfile, error) {
	p := unknownAria()
	var maps, reduces []*workload.Attempt
	for i := range attempts {
		switch a := &attempts[i]; {
		case a.State != workload.Succeeded:
		case a.Kind == workload.Map:
			maps = append(maps, a)
		case a.Kind == workload.Reduce:
			reduces = append(reduces, a)
		}
	}
	if len(maps) == 0 {
		return p, errors.New("no map succeeded: the job has no profile")
	}
	p.Maps, p.Reduces = len(maps), len(reduces)
	lastMap, inBytes, outBytes := time.Duration(0), int64(0), int64(0)
	p.MapMin = math.Inf(1)
	var mapTimes []float64
	for _, a := range maps {
		lastMap = max(lastMap, a.Finish)
		mapTimes = append(mapTimes, a.Duration().Seconds())
		inBytes, outBytes = inBytes+a.InBytes, outBytes+a.OutBytes
	}
	p.MapAvg, p.MapMax = meanMax(mapTimes)
	p.MapMin = slices.Min(mapTimes)
	p.MapInputBytes = float64(inBytes) / float64(len(maps))
	p.MapSelectivity = float64(outBytes) / float64(inBytes) // NaN where the trace has no bytes
	if len(reduces) == 0 {
		return p, nil
	}

	var first, typical, reduceTimes []float64
	inBytes, outBytes = 0, 0
	for _, a := range reduces {
		shuffled := a.Start + a.Phases[workload.PhaseStartup] + a.Phases[workload.PhaseShuffle] + a.Phases[workload.PhaseMerge]
		if a.Start < lastMap {
			first = append(first, max(0, shuffled-lastMap).Seconds())
		} else {
			typical = append(typical, (shuffled - a.Start).Seconds())
		}
		reduceTimes = append(reduceTimes, (a.Finish - shuffled).Seconds())
		inBytes, outBytes = inBytes+a.InBytes, outBytes+a.OutBytes
	}
	if len(first) == 0 {
		// Every reduce waited for the last map: its whole shuffle comes after it.
		first = typical
	}
	p.ShuffleFromFirst = len(typical) == 0
	if p.ShuffleFromFirst {
		typical = first
	}
	p.FirstShuffleAvg, p.FirstShuffleMax = meanMax(first)
	p.ShuffleAvg, p.ShuffleMax = meanMax(typical)
	p.ReduceAvg, p.ReduceMax = meanMax(reduceTimes)
	p.ReduceSelectivity = float64(outBytes) / float64(inBytes)
	return p, nil
}

func meanMax(v []float64) (mean, longest float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	return mean, slices.Max(v)
}

// ariaProfile returns the profile of a job in a question: from the times of its
// tasks, from the equations for its program, or from a profile of recorded runs.
// The first shuffle is the part after the last map. The second result is the same
// tasks in waves, for the protocol between them.
func (g *capacity) ariaProfile(q *model.WhatIf, j *workload.Job) (AriaProfile, WaveJob, error) {
	if q.Fidelity > model.Profile && j.Program != "" {
		return ariaByEquations(q, j, g)
	}
	p, err := g.recordedProfile(q, j)
	if err != nil {
		return p, WaveJob{}, err
	}
	w := WaveJob{Maps: p.Maps, Reduces: p.Reduces, Map: []float64{p.MapAvg}, Sort: p.ShuffleAvg, Reduce: p.ReduceAvg}
	if p.Reduces <= g.reduces {
		w.Sort = p.FirstShuffleAvg // counts from the end of the last map, as a sort does
	}
	w, err = g.onSlots(j, w)
	return p, w, err
}

// recordedProfile returns the profile of a job from the times of its tasks, or from
// a profile of recorded runs.
func (g *capacity) recordedProfile(q *model.WhatIf, j *workload.Job) (AriaProfile, error) {
	p := unknownAria()
	p.Maps, p.Reduces = j.Maps.Count, j.Reduces.Count
	m, r := &j.Maps, &j.Reduces
	switch {
	case j.Profile != nil && !m.Time.Set():
		return p, p.fromProfile(j)
	case q.Fidelity > model.Profile:
		return p, model.NotApplicable("%s: the times of its tasks are not given", j.ID)
	}
	p = GivenAria(j)
	if r.Copy.Set() && r.Count > 0 {
		// Copying has kept up with the maps except for the last output, or it has
		// not begun.
		sort, _ := r.Sort.Expect(r.Count)
		p.FirstShuffleAvg = (p.FirstShuffleAvg-sort)/math.Max(1, float64(m.Count)) + sort
	}
	return p, nil
}

// GivenAria returns the profile of a job with given task times. The first shuffle
// is the part after the last map; a typical one waits for no map.
func GivenAria(j *workload.Job) AriaProfile {
	m, r := &j.Maps, &j.Reduces
	p := unknownAria()
	p.Maps, p.Reduces = m.Count, r.Count
	p.MapAvg, p.MapMax = m.Time.Expect(m.Count)
	p.ReduceAvg, p.ReduceMax = r.Time.Expect(r.Count)
	typical, first := r.Shuffle, r.FirstWave
	if r.Copy.Set() {
		typical = r.Copy
	}
	if !first.Set() {
		first = typical
	}
	sort, longestSort := r.Sort.Expect(r.Count)
	p.ShuffleAvg, p.ShuffleMax = typical.Expect(r.Count)
	p.FirstShuffleAvg, p.FirstShuffleMax = first.Expect(r.Count)
	p.ShuffleAvg, p.ShuffleMax = p.ShuffleAvg+sort, p.ShuffleMax+longestSort
	p.FirstShuffleAvg, p.FirstShuffleMax = p.FirstShuffleAvg+sort, p.FirstShuffleMax+longestSort
	return p
}

// fromProfile takes the statistics of a profile of recorded runs.
func (p *AriaProfile) fromProfile(j *workload.Job) error {
	var missing []string
	take := func(name string, s *workload.Sample, avg, longest *float64) {
		if s.N == 0 {
			missing = append(missing, name)
		}
		*avg, *longest = s.Mean, s.Max
	}
	take("MapTime", &j.Profile.MapTime, &p.MapAvg, &p.MapMax)
	if p.Reduces > 0 {
		take("FirstShuffle", &j.Profile.FirstShuffle, &p.FirstShuffleAvg, &p.FirstShuffleMax)
		take("TypicalShuffle", &j.Profile.TypicalShuffle, &p.ShuffleAvg, &p.ShuffleMax)
		take("ReduceTime", &j.Profile.ReduceTime, &p.ReduceAvg, &p.ReduceMax)
	}
	if len(missing) > 0 {
		return model.NotApplicable("%s: its profile states no %s", j.ID, strings.Join(missing, ", "))
	}
	return nil
}

// scaled returns the profile with all times multiplied by a factor.
func (p AriaProfile) scaled(by float64) AriaProfile {
	later := p.later()
	for _, v := range append(later[:], &p.MapAvg, &p.MapMax) {
		*v *= by
	}
	return p
}

// localityFactors returns the smallest and the largest factor that locality puts
// on the times of a job's maps.
func localityFactors(m *workload.MapTasks) (least, most float64) {
	least, most = 1, 1
	for _, f := range []float64{m.RackFactor, m.OffFactor} {
		if f > 0 {
			least, most = math.Min(least, f), math.Max(most, f)
		}
	}
	return least, most
}

// ariaByEquations returns the profile of a job whose task times follow from its
// program: all tasks are alike. How much of the first shuffle comes after the last
// map follows from the waves.
func ariaByEquations(q *model.WhatIf, j *workload.Job, g *capacity) (AriaProfile, WaveJob, error) {
	p := unknownAria()
	p.Maps, p.Reduces = j.Maps.Count, j.Reduces.Count
	if j.Maps.Count == 0 {
		return p, WaveJob{}, model.NotApplicable("%s: the job has no maps", j.ID)
	}
	job, err := herodotouPredictor{}.job(q, j, g)
	if err != nil {
		return p, WaveJob{}, err
	}
	slowstart, err := j.Conf.Number("mapred.reduce.slowstart.completed.maps")
	if err != nil {
		return p, WaveJob{}, err
	}
	wave, err := job.waves(slowstart, HerodotouOptions{Mode: Corrected})
	if err != nil {
		return p, WaveJob{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	p.MapAvg, p.MapMax = wave.Map[0], wave.Map[0]
	if p.Reduces > 0 {
		t, err := Waves(wave)
		if err != nil {
			return p, WaveJob{}, fmt.Errorf("%s: %w", j.ID, err)
		}
		p.ShuffleAvg, p.ReduceAvg = wave.Shuffle+wave.Sort, wave.Reduce
		p.FirstShuffleAvg = math.Max(0, t.First[1]-t.MapEnd) + wave.Sort
		p.FirstShuffleMax, p.ShuffleMax, p.ReduceMax = p.FirstShuffleAvg, p.ShuffleAvg, p.ReduceAvg
	}
	return p, wave, nil
}

// started returns the profile of tasks that also take the time to start them and to commit
// their output, for which they keep their slots.
func (p AriaProfile) started(c *model.Costs) AriaProfile {
	launch, commit := c.Launch.Seconds(), c.Commit.Seconds()
	maps := launch
	if p.Reduces == 0 {
		maps += commit
	}
	p.MapAvg, p.MapMax = p.MapAvg+maps, p.MapMax+maps
	p.ShuffleAvg, p.ShuffleMax = p.ShuffleAvg+launch, p.ShuffleMax+launch // the first waits for maps meanwhile
	p.ReduceAvg, p.ReduceMax = p.ReduceAvg+commit, p.ReduceMax+commit
	return p
}
