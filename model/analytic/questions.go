package analytic

import (
	"math"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/model/taskplan"
)

// The questions of the evaluators: one struct each, in the shape of its JSON.

type mergeQuestion struct {
	N int `json:"N"`
	F int `json:"F"`
}

func (q mergeQuestion) answer() (taskplan.MergePlan, error) { return taskplan.Merge(q.N, q.F) }

type phasesQuestion struct {
	Mode         Mode      `json:"mode,omitempty"`
	CombineAgain bool      `json:"combineAgain,omitempty"`
	Set          Herodotou `json:"set,omitempty" input:"partial"`
}

func defaultPhasesQuestion() phasesQuestion { return phasesQuestion{Corrected, true, DefaultPhases()} }

// DefaultPhases is the job that a question to phases changes: stock settings on
// four nodes, and costs near those of a TeraSort profiled by the author.
func DefaultPhases() Herodotou {
	return Herodotou{
		HerodotouConf{
			Nodes: 4, TaskMem: 200 * mib, MapsPerNode: 2, ReducesPerNode: 2,
			Mappers: 40, SortMB: 100, SpillPercent: 0.8, SortRecPercent: 0.05,
			SortFactor: 10, SpillsForCombine: 3, Reducers: 8, InMemMergeThr: 1000,
			ShuffleInBuf: 0.7, ShuffleMerge: 0.66, SplitSize: 64 * mib,
		},
		taskplan.Data{
			InputPairWidth: 100, RecsPerGroup: 1,
			MapSizeSel: 1, MapRecsSel: 1, ReduceSizeSel: 1, ReduceRecsSel: 1,
			CombineSizeSel: 0.5, CombineRecsSel: 0.4,
			InputRatio: 0.3, IntermRatio: 0.3, OutRatio: 0.3,
		},
		taskplan.Cost{
			HDFSRead: 65.4348, HDFSWrite: 35.5255, LocalRead: 47.213, LocalWrite: 37.1911, Network: 143.8299,
			MapCPU: 9639.307, ReduceCPU: 5046.193, CombineCPU: 4902.644, PartitionCPU: 1274.57,
			SerdeCPU: 2113.465, SortCPU: 198.1609, MergeCPU: 735.0955,
			InUncompr: 100, IntermUncompr: 96.7781, IntermCompr: 166.5649, OutCompr: 93.4911,
		},
	}
}

func (q phasesQuestion) answer() (any, error) {
	o := HerodotouOptions{Mode: q.Mode, CombineOnce: !q.CombineAgain}
	if q.Set.Reducers == 0 {
		return q.Set.MapOnly(o)
	}
	return q.Set.Phases(o)
}

type combineQuestion struct {
	Sel   float64 `json:"sel"`
	N0    float64 `json:"n0"`
	N     float64 `json:"n"`
	Least float64 `json:"least,omitempty"`
}

type combineAnswer struct {
	Sel float64 `json:"sel_n"`
}

func (q combineQuestion) answer() (combineAnswer, error) {
	sel, err := CombineScale(q.Sel, q.N0, q.N, q.Least)
	return combineAnswer{sel}, err
}

type makespanQuestion struct {
	Durations []float64 `json:"durations"`
	Slots     int       `json:"slots"`
}

func (q makespanQuestion) answer() (Bounds, error) { return Makespan(q.Durations, q.Slots) }

type boundsQuestion struct {
	Profile     AriaProfile `json:"profile"`
	MapSlots    int         `json:"S_M"`
	ReduceSlots int         `json:"S_R"`
	Guarded     bool        `json:"guarded,omitempty"`
}

func unknownBoundsQuestion() boundsQuestion {
	return boundsQuestion{Profile: unknownAria(), Guarded: true}
}

func (q boundsQuestion) answer() (AriaBounds, error) {
	return q.Profile.Bounds(q.MapSlots, q.ReduceSlots, q.Guarded)
}

type invertQuestion struct {
	Profile  AriaProfile `json:"profile"`
	Deadline float64     `json:"deadline"` // seconds
	Bound    string      `json:"bound"`
}

func unknownInvertQuestion() invertQuestion { return invertQuestion{Profile: unknownAria()} }

func (q invertQuestion) answer() (AriaSlots, error) { return q.Profile.Invert(q.Deadline, q.Bound) }

type curveQuestion struct {
	invertQuestion
	MapSlots    int `json:"S_M"`
	ReduceSlots int `json:"S_R"`
}

type curveAnswer struct {
	Pairs [][2]int `json:"pairs"`
}

func unknownCurveQuestion() curveQuestion {
	return curveQuestion{invertQuestion: unknownInvertQuestion()}
}

func (q curveQuestion) answer() (curveAnswer, error) {
	pairs, err := q.Profile.Curve(q.Deadline, q.Bound, q.MapSlots, q.ReduceSlots)
	return curveAnswer{pairs}, err
}

type hpQuestion struct {
	Data      []float64 `json:"data_gb"`
	Durations []float64 `json:"duration_s"`
	Query     float64   `json:"query_gb"`
}

func (q hpQuestion) answer() (Scaling, error) { return HPScale(q.Data, q.Durations, q.Query) }

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

type provisionQuestion struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
	T float64 `json:"t"`
}

func (q provisionQuestion) answer() (Slots, error) { return ProvisionSlots(q.A, q.B, q.T) }

type robustQuestion struct {
	X []float64 `json:"x"`
	Y []float64 `json:"y"`

	Weight      string   `json:"weight,omitempty"`
	Tune        *float64 `json:"tune"`
	NonNegative bool     `json:"nonneg,omitempty"`
	Leverage    bool     `json:"leverage,omitempty"`
}

func (q robustQuestion) answer() (fit.RobustLine, error) {
	o := fit.RobustOptions{Weight: q.Weight, NonNegative: q.NonNegative, Leverage: q.Leverage}
	if q.Tune != nil {
		var c input.Check
		c.Above("tune", *q.Tune, 0)
		if err := c.Err(); err != nil {
			return fit.RobustLine{}, err
		}
		o.Tune = *q.Tune
	}
	return fit.Robust(q.X, q.Y, o)
}

type nnlsQuestion struct {
	X [][]float64 `json:"X"`
	Y []float64   `json:"y"`
}

type nnlsAnswer struct {
	Beta []float64 `json:"beta"`
}

func (q nnlsQuestion) answer() (nnlsAnswer, error) {
	beta, err := fit.NonNegative(q.X, q.Y)
	return nnlsAnswer{beta}, err
}

type segmentQuestion struct {
	X          []float64 `json:"x"`
	Y          []float64 `json:"y"`
	MinPoints  int       `json:"min_pts,omitempty"`
	Continuous bool      `json:"continuous,omitempty"`
	Margin     float64   `json:"margin,omitempty"`
}

func defaultSegmentQuestion() segmentQuestion {
	return segmentQuestion{MinPoints: fit.DefaultMinPoints, Margin: fit.DefaultMargin}
}

// segmentAnswer gives the two lines as [A1, B1, A2, B2].
type segmentAnswer struct {
	fit.SegmentFit
	Pieces []float64 `json:"pieces"`
}

func (q segmentQuestion) answer() (segmentAnswer, error) {
	f, err := fit.Segment(q.X, q.Y, fit.SegmentOptions{MinPoints: q.MinPoints, Continuous: q.Continuous, Margin: q.Margin})
	a := segmentAnswer{SegmentFit: f}
	for _, l := range f.Pieces {
		a.Pieces = append(a.Pieces, l.A, l.B)
	}
	return a, err
}

type errorsQuestion struct {
	Measured   []float64 `json:"measured"`
	Predicted  []float64 `json:"predicted"`
	Thresholds []float64 `json:"thresholds,omitempty"`
}

func defaultErrorsQuestion() errorsQuestion { return errorsQuestion{Thresholds: fit.ErrorThresholds} }

func (q errorsQuestion) answer() (fit.ErrorTable, error) {
	return fit.Errors(q.Measured, q.Predicted, q.Thresholds)
}

type profileQuestion struct {
	Tasks []ZhangTask `json:"tasks"`
}

// profileAnswer is a ZhangJob as taken from a run; a map-only job has no
// reduce statistics.
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

func unknownPlatformQuestion() platformQuestion { return platformQuestion{Job: unknownPlatformJob()} }

func (q platformQuestion) answer() (ZhangTimes, error) {
	var c input.Check
	p := q.Platform.Model(&c)
	if err := c.Err(); err != nil {
		return ZhangTimes{}, err
	}
	return q.Job.Times(&p, q.MapSlots, q.ReduceSlots)
}

func unknownWaveJob() WaveJob {
	nan := math.NaN()
	return WaveJob{Shuffle: nan, Sort: nan, Reduce: nan, Slowstart: nan}
}

type crespQuestion struct {
	Beta     []float64 `json:"beta"`
	Maps     int       `json:"M"`
	MapSlots int       `json:"m"`
	Reduces  int       `json:"R"`
}

type crespAnswer struct {
	X    []float64 `json:"x"`
	Time float64   `json:"T"`
}

func (q crespQuestion) answer() (crespAnswer, error) {
	t, err := Cresp{Beta: q.Beta}.Time(q.Maps, q.MapSlots, q.Reduces)
	if err != nil {
		return crespAnswer{}, err
	}
	x, err := CrespTerms(q.Maps, q.MapSlots, q.Reduces)
	return crespAnswer{x[:], t}, err
}

type crespOptimumQuestion struct {
	Beta []float64 `json:"beta"`
	Maps int       `json:"M"`
	CrespLimits
}

func (q crespOptimumQuestion) answer() (CrespChoice, error) {
	return Cresp{Beta: q.Beta}.Optimum(q.Maps, q.CrespLimits)
}

type rrsQuestion struct {
	P float64 `json:"p"`
	R float64 `json:"r"`
	Q float64 `json:"q"`
	V float64 `json:"v"`
}

func (q rrsQuestion) answer() (RRSCounts, error) { return RRSSamples(q.P, q.R, q.Q, q.V) }

type relativeQuestion struct {
	Source []float64 `json:"source"`
	Target []float64 `json:"target"`
	Query  float64   `json:"query"`
	Weight string    `json:"weight,omitempty"`
}

func defaultRelativeQuestion() relativeQuestion { return relativeQuestion{Weight: "ols"} }

func (q relativeQuestion) answer() (RelativeFit, error) {
	return Relative(q.Source, q.Target, q.Query, q.Weight)
}
