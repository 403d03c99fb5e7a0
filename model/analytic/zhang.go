package analytic

import (
	"fmt"
	"math"

	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/model/platform"
)

// ZhangTask is one task of a finished run.
type ZhangTask struct {
	Kind       string  `json:"kind"` // map or reduce
	InBytes    float64 `json:"in_bytes" unit:"bytes"`
	InRecs     float64 `json:"in_recs"`
	OutBytes   float64 `json:"out_bytes" unit:"bytes"`
	OutRecs    float64 `json:"out_recs"`
	FunctionMS float64 `json:"func_ms" unit:"ms"` // in the user's function
}

// ZhangJob is a job profile for the platform model: the data flow of the job on
// any platform. NaN is an unknown statistic. An unknown record selectivity equals
// the size selectivity.
type ZhangJob struct {
	Maps           int     `json:"N_map"`
	Reduces        int     `json:"N_red"`
	MapSel         float64 `json:"map_sel"`
	MapRecSel      float64 `json:"map_rec_sel,omitzero"`
	MapMSPerRec    float64 `json:"map_ms_per_rec" unit:"ms"`
	BlockMBAvg     float64 `json:"block_mb_avg" unit:"MiB"`
	BlockMBMax     float64 `json:"block_mb_max" unit:"MiB"`
	BlockRecsAvg   float64 `json:"block_recs_avg"`
	BlockRecsMax   float64 `json:"block_recs_max"`
	ReduceSel      float64 `json:"red_sel,omitzero"`
	ReduceRecSel   float64 `json:"red_rec_sel,omitzero"`
	ReduceMSPerRec float64 `json:"red_ms_per_rec,omitzero" unit:"ms"`
	CombineSel     float64 `json:"combine_sel,omitzero"`           // map output after the combiner over before, bytes, 1
	CombineRecSel  float64 `json:"combine_rec_sel,omitzero"`       // the same in records, 1
	Skew           float64 `json:"skew,omitzero"`                  // largest reduce over the average one, 1
	OverheadMS     float64 `json:"overhead_ms,omitzero" unit:"ms"` // set-up and clean-up of each task, 0
	ReduceWaitMS   float64 `json:"red_wait_ms,omitzero" unit:"ms"` // further wait of each reduce: for outputs and permission, 0

	combineMSPerRec float64 // part of MapMSPerRec that the combiner takes
}

// unknownZhangJob returns a profile without statistics, with equal reduces and
// no overhead, as in the paper.
func unknownZhangJob() ZhangJob {
	nan := math.NaN()
	return ZhangJob{MapRecSel: nan, ReduceSel: nan, ReduceRecSel: nan, ReduceMSPerRec: nan, CombineSel: 1, CombineRecSel: 1, Skew: 1}
}

// taskSums are the sums over the tasks of one kind.
type taskSums struct{ n, inBytes, inRecs, outBytes, outRecs, functionMS, maxBytes, maxRecs float64 }

// ZhangJobOf returns the job profile of one finished run (section 4).
func ZhangJobOf(tasks []ZhangTask) (ZhangJob, error) {
	var c input.Check
	var maps, reduces taskSums
	for i, t := range tasks {
		name := fmt.Sprintf("tasks[%d].", i)
		c.AtLeast(name+"in_bytes", t.InBytes, 0)
		c.AtLeast(name+"in_recs", t.InRecs, 0)
		c.AtLeast(name+"out_bytes", t.OutBytes, 0)
		c.AtLeast(name+"out_recs", t.OutRecs, 0)
		c.AtLeast(name+"func_ms", t.FunctionMS, 0)
		var s *taskSums
		switch t.Kind {
		case "map":
			s = &maps
		case "reduce":
			s = &reduces
		default:
			c.Fail(name+"kind", "unknown %q; want map or reduce", t.Kind)
			continue
		}
		s.n++
		s.inBytes, s.inRecs = s.inBytes+t.InBytes, s.inRecs+t.InRecs
		s.outBytes, s.outRecs = s.outBytes+t.OutBytes, s.outRecs+t.OutRecs
		s.functionMS += t.FunctionMS
		s.maxBytes, s.maxRecs = math.Max(s.maxBytes, t.InBytes), math.Max(s.maxRecs, t.InRecs)
	}
	if maps.n == 0 {
		c.Fail("tasks", "no map")
	}
	for _, s := range []struct {
		kind string
		*taskSums
	}{{"map", &maps}, {"reduce", &reduces}} {
		if s.n > 0 && (s.inBytes == 0 || s.inRecs == 0) {
			c.Fail("tasks", "the %s tasks read nothing: no selectivity", s.kind)
		}
	}
	if err := c.Err(); err != nil {
		return ZhangJob{}, err
	}
	j := unknownZhangJob()
	j.Maps, j.Reduces = int(maps.n), int(reduces.n)
	j.MapSel, j.MapRecSel, j.MapMSPerRec = maps.outBytes/maps.inBytes, maps.outRecs/maps.inRecs, maps.functionMS/maps.inRecs
	j.BlockMBAvg, j.BlockMBMax = maps.inBytes/maps.n/mib, maps.maxBytes/mib
	j.BlockRecsAvg, j.BlockRecsMax = maps.inRecs/maps.n, maps.maxRecs
	if reduces.n > 0 {
		j.ReduceSel, j.ReduceRecSel = reduces.outBytes/reduces.inBytes, reduces.outRecs/reduces.inRecs
		j.ReduceMSPerRec = reduces.functionMS / reduces.inRecs
	}
	return j, nil
}

func (j *ZhangJob) check(c *input.Check, mapSlots, reduceSlots int) {
	c.Count("N_map", j.Maps, 1)
	c.Count("N_red", j.Reduces, 0)
	c.Count("S_M", mapSlots, 1)
	c.AtLeast("map_sel", j.MapSel, 0)
	c.AtLeast("map_ms_per_rec", j.MapMSPerRec, 0)
	checkPair(c, "block_mb", j.BlockMBAvg, j.BlockMBMax)
	checkPair(c, "block_recs", j.BlockRecsAvg, j.BlockRecsMax)
	c.AtLeast("combine_sel", j.CombineSel, 0)
	c.AtLeast("combine_rec_sel", j.CombineRecSel, 0)
	c.AtLeast("overhead_ms", j.OverheadMS, 0)
	c.AtLeast("red_wait_ms", j.ReduceWaitMS, 0)
	if !math.IsNaN(j.MapRecSel) {
		c.AtLeast("map_rec_sel", j.MapRecSel, 0)
	}
	if j.Reduces > 0 {
		c.Count("S_R", reduceSlots, 1)
		c.AtLeast("red_sel", j.ReduceSel, 0)
		c.AtLeast("red_ms_per_rec", j.ReduceMSPerRec, 0)
		c.AtLeast("skew", j.Skew, 1)
	}
}

// ZhangTimes is a prediction of the platform model: ms and MB.
type ZhangTimes struct {
	MapAvg    float64 `json:"map_ms_avg"`
	MapMax    float64 `json:"map_ms_max"`
	ShuffleMB float64 `json:"data_shuffle_mb"` // of one reduce
	ReduceAvg float64 `json:"red_ms_avg"`
	ReduceMax float64 `json:"red_ms_max"`
	Low       float64 `json:"T_low"`
	Up        float64 `json:"T_up"`
	Avg       float64 `json:"T_avg"`
}

// Times predicts the time of the job on a platform (section 4, eq. 2): task times
// from the phase models, bounds of the job from the makespan theorem. Shuffle and
// maps do not overlap.
func (j ZhangJob) Times(p *platform.Model, mapSlots, reduceSlots int) (ZhangTimes, error) {
	var c input.Check
	j.check(&c, mapSlots, reduceSlots)
	if err := c.Err(); err != nil {
		return ZhangTimes{}, err
	}
	recSel := j.MapRecSel
	if math.IsNaN(recSel) {
		recSel = j.MapSel
	}
	var t ZhangTimes
	t.MapAvg = j.mapTime(p, j.BlockMBAvg, j.BlockRecsAvg)
	t.MapMax = j.mapTime(p, j.BlockMBMax, j.BlockRecsMax)
	if j.Reduces > 0 {
		perReduce := float64(j.Maps) / float64(j.Reduces)
		t.ShuffleMB = j.BlockMBAvg * j.MapSel * j.CombineSel * float64(j.Maps) / float64(j.Reduces) // (2)
		recs := j.BlockRecsAvg * recSel * j.CombineRecSel * perReduce
		t.ReduceAvg = j.reduceTime(p, t.ShuffleMB, recs)
		t.ReduceMax = j.reduceTime(p, t.ShuffleMB*j.Skew, recs*j.Skew)
	}
	j.bound(&t, mapSlots, reduceSlots)
	return t, nil
}

// bound sets the bounds of the job from the times of its tasks.
func (j *ZhangJob) bound(t *ZhangTimes, mapSlots, reduceSlots int) {
	t.Low, t.Up = stageBounds(float64(j.Maps), float64(min(mapSlots, j.Maps)), t.MapAvg, t.MapMax)
	if j.Reduces > 0 {
		low, up := stageBounds(float64(j.Reduces), float64(min(reduceSlots, j.Reduces)), t.ReduceAvg, t.ReduceMax)
		t.Low, t.Up = t.Low+low, t.Up+up
	}
	t.Avg = (t.Low + t.Up) / 2
}

func (j *ZhangJob) mapTime(p *platform.Model, mb, recs float64) float64 {
	out := mb * j.MapSel
	return p.Read.At(mb) + float64(j.MapMSPerRec*recs) + p.Collect.At(out) + p.Spill.At(out) + p.Merge.At(out*j.CombineSel) + j.OverheadMS
}

func (j *ZhangJob) reduceTime(p *platform.Model, mb, recs float64) float64 {
	return p.Shuffle.At(mb) + float64(j.ReduceMSPerRec*recs) + p.Write.At(mb*j.ReduceSel) + j.OverheadMS + j.ReduceWaitMS
}

type profileQuestion struct {
	Tasks []ZhangTask `json:"tasks"`
}

// profileAnswer is a ZhangJob of a run; a map-only job has no reduce statistics.
type profileAnswer struct {
	Maps         int     `json:"N_map"`
	Reduces      int     `json:"N_red"`
	MapSel       float64 `json:"map_sel"`
	MapRecSel    float64 `json:"map_rec_sel"`
	MapMSPerRec  float64 `json:"map_ms_per_rec"`
	BlockMBAvg   float64 `json:"block_mb_avg"`
	BlockMBMax   float64 `json:"block_mb_max"`
	BlockRecsAvg float64 `json:"block_recs_avg"`
	BlockRecsMax float64 `json:"block_recs_max"`
	*profileReduces
}

type profileReduces struct {
	Sel      float64 `json:"red_sel"`
	RecSel   float64 `json:"red_rec_sel"`
	MSPerRec float64 `json:"red_ms_per_rec"`
}

func (q profileQuestion) answer() (profileAnswer, error) {
	j, err := ZhangJobOf(q.Tasks)
	a := profileAnswer{
		j.Maps, j.Reduces, j.MapSel, j.MapRecSel, j.MapMSPerRec,
		j.BlockMBAvg, j.BlockMBMax, j.BlockRecsAvg, j.BlockRecsMax, nil,
	}
	if j.Reduces > 0 {
		a.profileReduces = &profileReduces{j.ReduceSel, j.ReduceRecSel, j.ReduceMSPerRec}
	}
	return a, err
}

type platformQuestion struct {
	Platform    platform.Lines `json:"platform"`
	Job         ZhangJob       `json:"job"`
	MapSlots    int            `json:"S_M"`
	ReduceSlots int            `json:"S_R"`
}

func unknownPlatformQuestion() platformQuestion { return platformQuestion{Job: unknownZhangJob()} }

func (q platformQuestion) answer() (ZhangTimes, error) {
	var c input.Check
	p := q.Platform.Model(&c)
	if err := c.Err(); err != nil {
		return ZhangTimes{}, err
	}
	return q.Job.Times(&p, q.MapSlots, q.ReduceSlots)
}
