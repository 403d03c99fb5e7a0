package analytic

import (
	"errors"
	"math"
	"slices"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
)

// ihpJob is one job for the improved HP model (Khan et al., TPDS 2015): average
// and maximum durations in seconds. w1 is the first wave, w2 the later waves. The
// first-wave shuffle lasts until the last map output is shuffled and so covers the
// later map waves. Counts by wave that are nil follow from the slots.
type ihpJob struct {
	Maps        int `json:"N_m"`
	MapSlots    int `json:"S_m"`
	Reduces     int `json:"N_r"`
	ReduceSlots int `json:"S_r"`

	MapAvg       float64 `json:"T_m_avg" unit:"s"`
	MapMax       float64 `json:"T_m_max" unit:"s"`
	Shuffle1Avg  float64 `json:"T_sh_w1_avg,omitzero" unit:"s"`
	Shuffle1Max  float64 `json:"T_sh_w1_max,omitzero" unit:"s"`
	Shuffle2Avg  float64 `json:"T_sh_w2_avg,omitzero" unit:"s"`
	Shuffle2Max  float64 `json:"T_sh_w2_max,omitzero" unit:"s"`
	ReduceAvg    float64 `json:"T_r_avg,omitzero" unit:"s"`
	ReduceMax    float64 `json:"T_r_max,omitzero" unit:"s"`
	MapsWave1    *int    `json:"N_m_w1"`
	MapsWave2    *int    `json:"N_m_w2"` // in no equation
	ShuffleWave1 *int    `json:"N_sh_w1"`
	ShuffleWave2 *int    `json:"N_sh_w2"`
}

// later returns the durations after the maps, as AriaProfile.later.
func (j *ihpJob) later() [6]*float64 {
	return [...]*float64{&j.Shuffle1Avg, &j.Shuffle1Max, &j.Shuffle2Avg, &j.Shuffle2Max, &j.ReduceAvg, &j.ReduceMax}
}

func (j *ihpJob) check(c *input.Check) {
	c.Count("N_m", j.Maps, 1)
	c.Count("S_m", j.MapSlots, 1)
	c.Count("N_r", j.Reduces, 0)
	checkPair(c, "T_m", j.MapAvg, j.MapMax)
	if j.Reduces > 0 {
		c.Count("S_r", j.ReduceSlots, 1)
		checkPair(c, "T_sh_w1", j.Shuffle1Avg, j.Shuffle1Max)
		checkPair(c, "T_r", j.ReduceAvg, j.ReduceMax)
		if j.counts().Shuffle2 > 0 {
			checkPair(c, "T_sh_w2", j.Shuffle2Avg, j.Shuffle2Max)
		}
	}
	for _, n := range []struct {
		name  string
		value *int
	}{{"N_m_w1", j.MapsWave1}, {"N_m_w2", j.MapsWave2}, {"N_sh_w1", j.ShuffleWave1}, {"N_sh_w2", j.ShuffleWave2}} {
		if n.value != nil {
			c.Count(n.name, *n.value, 0)
		}
	}
	if n := j.counts(); n.Shuffle1+n.Shuffle2 != j.Reduces || n.Shuffle2 < 0 {
		c.Fail("N_sh_w1", "%d, with %d in other waves: want N_r = %d together", n.Shuffle1, n.Shuffle2, j.Reduces)
	}
}

// ihpCounts are the tasks of each wave that the bounds use.
type ihpCounts struct{ Maps1, Shuffle1, Shuffle2 int }

// counts returns the given counts, or those that follow from the slots.
func (j *ihpJob) counts() ihpCounts {
	n := waveCounts(j.Maps, j.MapSlots, j.Reduces, j.ReduceSlots)
	if j.MapsWave1 != nil {
		n.Maps1 = *j.MapsWave1
	}
	if j.ShuffleWave1 != nil {
		n.Shuffle1 = *j.ShuffleWave1
		n.Shuffle2 = j.Reduces - n.Shuffle1
	}
	if j.ShuffleWave2 != nil {
		n.Shuffle2 = *j.ShuffleWave2
	}
	return n
}

func waveCounts(maps, mapSlots, reduces, reduceSlots int) ihpCounts {
	first := min(reduces, reduceSlots)
	return ihpCounts{min(maps, mapSlots), first, reduces - first}
}

// ihpBounds are lower and upper bounds of the stages and of the job, seconds.
type ihpBounds struct {
	MapLow      float64 `json:"T_m_w1_low"`
	Shuffle1Low float64 `json:"T_sh_w1_low"`
	Shuffle2Low float64 `json:"T_sh_w2_low"`
	ReduceLow   float64 `json:"T_r_low"`
	Low         float64 `json:"T_job_low"`
	MapUp       float64 `json:"T_m_w1_up"`
	Shuffle1Up  float64 `json:"T_sh_w1_up"`
	Shuffle2Up  float64 `json:"T_sh_w2_up"`
	ReduceUp    float64 `json:"T_r_up"`
	Up          float64 `json:"T_job_up"`
	Avg         float64 `json:"T_job_avg"`
}

// Bounds bounds the time of the job, seconds (eq. 8-20). The upper bounds use
// max*n/k, not the makespan theorem. Map slots enter only through the first map
// wave and the first shuffle, so that a first shuffle measured on one number of
// slots does not hold on another.
func (j ihpJob) Bounds() (ihpBounds, error) {
	var c input.Check
	j.check(&c)
	if err := c.Err(); err != nil {
		return ihpBounds{}, err
	}
	n := j.counts()
	maps, reduces := float64(j.MapSlots), float64(j.ReduceSlots)
	var b ihpBounds
	b.MapLow = j.MapAvg * float64(n.Maps1) / maps // (8, 9)
	b.MapUp = j.MapMax * float64(n.Maps1) / maps
	b.Low, b.Up = b.MapLow, b.MapUp
	if j.Reduces > 0 {
		b.Shuffle1Low = j.Shuffle1Avg * float64(n.Shuffle1) / reduces // (10, 11)
		b.Shuffle1Up = j.Shuffle1Max * float64(n.Shuffle1) / reduces
		if n.Shuffle2 > 0 {
			b.Shuffle2Low = j.Shuffle2Avg * float64(n.Shuffle2) / reduces // (12, 13)
			b.Shuffle2Up = j.Shuffle2Max * float64(n.Shuffle2) / reduces
		}
		b.ReduceLow = j.ReduceAvg * float64(j.Reduces) / reduces // (14, 15)
		b.ReduceUp = j.ReduceMax * float64(j.Reduces) / reduces
		b.Low += b.Shuffle1Low + b.Shuffle2Low + b.ReduceLow // (16, 18)
		b.Up += b.Shuffle1Up + b.Shuffle2Up + b.ReduceUp     // (17, 19)
	}
	b.Avg = (b.Low + b.Up) / 2 // (20)
	return b, nil
}

// ihpStageJob is the input of the stage equations: sizes in MB, durations in
// seconds.
type ihpStageJob struct {
	MapIn        float64 `json:"D_m_in_avg" unit:"any one"`
	MapSel       float64 `json:"M_sel"`
	MapAvg       float64 `json:"T_m_avg" unit:"s"`
	Maps         int     `json:"N_m"`
	MapSlots     int     `json:"S_m"`
	Reduces      int     `json:"N_r"`
	ReduceSlots  int     `json:"S_r"`
	ShuffleAvg   float64 `json:"T_sh_avg,omitzero" unit:"s"` // one wave
	Shuffle1Avg  float64 `json:"T_sh_w1_avg,omitzero" unit:"s"`
	ShuffleWave1 int     `json:"N_sh_w1,omitzero"`
	Shuffle2Avg  float64 `json:"T_sh_w2_avg,omitzero" unit:"s"`
	ShuffleWave2 int     `json:"N_sh_w2,omitzero"`
	ReduceIn     float64 `json:"D_r_in_avg,omitzero" unit:"any one"`
	ReduceSel    float64 `json:"R_sel,omitzero"`
	ReduceAvg    float64 `json:"T_r_avg,omitzero" unit:"s"`
}

// ihpStages are the totals of the stages: MB of one task, seconds of all.
type ihpStages struct {
	MapOut       float64 `json:"D_m_out_avg"`
	MapTotal     float64 `json:"T_m_total"`
	Shuffle      float64 `json:"D_sh_avg"`
	ShuffleTotal float64 `json:"T_sh_total"`
	ReduceOut    float64 `json:"D_r_out_avg"`
	ReduceTotal  float64 `json:"T_r_total"`
}

// Stages evaluates eq. 1-7: eq. 4 for one wave of reduces, eq. 5 for more.
func (j ihpStageJob) Stages() (ihpStages, error) {
	oneWave := j.Reduces <= j.ReduceSlots
	var c input.Check
	c.AtLeast("D_m_in_avg", j.MapIn, 0)
	c.AtLeast("M_sel", j.MapSel, 0)
	c.AtLeast("T_m_avg", j.MapAvg, 0)
	c.Count("N_m", j.Maps, 1)
	c.Count("S_m", j.MapSlots, 1)
	c.Count("N_r", j.Reduces, 0)
	if j.Reduces > 0 {
		c.Count("S_r", j.ReduceSlots, 1)
		c.AtLeast("D_r_in_avg", j.ReduceIn, 0)
		c.AtLeast("R_sel", j.ReduceSel, 0)
		c.AtLeast("T_r_avg", j.ReduceAvg, 0)
		if oneWave {
			c.AtLeast("T_sh_avg", j.ShuffleAvg, 0)
		} else {
			c.AtLeast("T_sh_w1_avg", j.Shuffle1Avg, 0)
			c.AtLeast("T_sh_w2_avg", j.Shuffle2Avg, 0)
			c.Count("N_sh_w1", j.ShuffleWave1, 0)
			c.Count("N_sh_w2", j.ShuffleWave2, 0)
			if sum := j.ShuffleWave1 + j.ShuffleWave2; sum != j.Reduces {
				c.Fail("N_sh_w2", "%d and N_sh_w1 make %d: want N_r = %d", j.ShuffleWave2, sum, j.Reduces)
			}
		}
	}
	if err := c.Err(); err != nil {
		return ihpStages{}, err
	}
	maps, reduces := float64(j.Maps), float64(j.Reduces)
	s := ihpStages{MapOut: j.MapIn * j.MapSel}         // (1)
	s.MapTotal = j.MapAvg * maps / float64(j.MapSlots) // (2)
	if j.Reduces == 0 {
		return s, nil
	}
	slots := float64(j.ReduceSlots)
	s.Shuffle = s.MapOut * maps / reduces // (3)
	if oneWave {
		s.ShuffleTotal = j.ShuffleAvg * reduces / slots // (4)
	} else {
		s.ShuffleTotal = (float64(j.Shuffle1Avg*float64(j.ShuffleWave1)) + float64(j.Shuffle2Avg*float64(j.ShuffleWave2))) / slots // (5)
	}
	s.ReduceOut = j.ReduceIn * j.ReduceSel        // (6)
	s.ReduceTotal = j.ReduceAvg * reduces / slots // (7)
	return s, nil
}

// ihpRegression predicts one duration from runs.
type ihpRegression struct {
	x         [][]float64
	y         []float64
	grid      []float64 // bandwidths, the best first
	options   fit.LocalOptions
	Bandwidth fit.BandwidthFit
}

// fitIHP chooses the bandwidth that predicts the runs best from one another. x has the
// intermediate data (D_m_in_avg*N_m*M_sel, any one unit) and the number of reduces of
// each run, y one of its durations.
func fitIHP(x [][]float64, y []float64, o fit.LocalOptions) (ihpRegression, error) {
	r := ihpRegression{x: x, y: y, options: o}
	grid := fit.BandwidthGrid()
	var err error
	if r.Bandwidth, err = fit.Bandwidth(r.x, r.y, grid, o); err != nil {
		return ihpRegression{}, err
	}
	r.grid = grid[slices.Index(grid, r.Bandwidth.H):]
	return r, nil
}

// At predicts the duration for other data and another number of reduces by locally
// weighted regression (eq. 21-23), and returns the bandwidth used. If the best
// bandwidth leaves too few runs near the query, the next larger one of the grid is
// used. Outside the range of the runs the largest one is used, because a fit to
// the few runs at the edge is unreliable. A negative prediction becomes 0.
func (r ihpRegression) At(data, reduces float64) (duration, bandwidth float64, err error) {
	query := []float64{data, reduces}
	grid := r.grid
	if !r.covers(query) {
		grid = grid[len(grid)-1:]
	}
	for _, h := range grid {
		var f fit.LocalFit
		if f, err = fit.Local(r.x, r.y, query, h, r.options); err == nil {
			return math.Max(0, f.Prediction), h, nil
		}
		if !errors.Is(err, fit.ErrSingular) {
			break
		}
	}
	return 0, 0, err
}

// covers reports whether each coordinate of a query lies within the range of the
// runs.
func (r ihpRegression) covers(query []float64) bool {
	return r.between(query, func(a, b float64) bool { return a <= b })
}

// surrounds reports whether each coordinate of a query lies strictly within the
// range of the runs. Coordinates that do not differ among the runs do not count.
func (r ihpRegression) surrounds(query []float64) bool {
	return r.between(query, func(a, b float64) bool { return a < b })
}

func (r ihpRegression) between(query []float64, before func(a, b float64) bool) bool {
	for k, q := range query {
		low, high := r.x[0][k], r.x[0][k]
		for _, x := range r.x {
			low, high = math.Min(low, x[k]), math.Max(high, x[k])
		}
		if low < high && !(before(low, q) && before(q, high)) {
			return false
		}
	}
	return true
}

type localQuestion struct {
	X         [][]float64 `json:"X"`
	Y         []float64   `json:"y"`
	Query     []float64   `json:"query"`
	H         float64     `json:"h"`
	Intercept bool        `json:"intercept,omitempty"`
	Scale     string      `json:"scale,omitempty"`
}

func defaultLocalQuestion() localQuestion { return localQuestion{Intercept: true, Scale: "zscore"} }

func (q localQuestion) answer() (fit.LocalFit, error) {
	return fit.Local(q.X, q.Y, q.Query, q.H, fit.LocalOptions{Intercept: q.Intercept, Scale: q.Scale})
}

type bandwidthQuestion struct {
	X         [][]float64 `json:"X"`
	Y         []float64   `json:"y"`
	Grid      []float64   `json:"grid,omitempty"`
	Intercept bool        `json:"intercept,omitempty"`
	Scale     string      `json:"scale,omitempty"`
}

func defaultBandwidthQuestion() bandwidthQuestion {
	return bandwidthQuestion{Grid: fit.BandwidthGrid(), Intercept: true, Scale: "zscore"}
}

func (q bandwidthQuestion) answer() (fit.BandwidthFit, error) {
	return fit.Bandwidth(q.X, q.Y, q.Grid, fit.LocalOptions{Intercept: q.Intercept, Scale: q.Scale})
}
