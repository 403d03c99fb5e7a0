package workload

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// SwimJob is one line of a SWIM trace (SWIMProjectUCB/SWIM, workloadSuite): the
// arrival of a job and the bytes that it moves. Tasks and times are not
// recorded.
type SwimJob struct {
	ID           string
	Submit       time.Duration // from the start of the trace
	Gap          time.Duration // since the previous job
	InputBytes   int64         // read by the maps
	ShuffleBytes int64         // from maps to reduces; 0: map-only
	OutputBytes  int64         // written by the reduces, or by the maps of a map-only job
	InputPath    string        // nine-column files: equal paths mean the same input
}

// SwimRates convert volumes to tasks and times. SWIM traces contain none of
// these values, so the caller shows them as assumptions (Assumed lists them).
type SwimRates struct {
	BlockBytes     int64 // input of one map
	BytesPerReduce int64 // shuffle and output of one reduce
	ReduceCap      int   // largest number of reduces of a job; SWIM uses a fifth of the cluster's nodes. 0: no limit

	MapFixed       time.Duration // of every map
	ReduceFixed    time.Duration // of every reduce
	MapBytesPS     float64       // input bytes a map processes per second
	ShuffleBytesPS float64       // bytes a reduce fetches per second
	SortBytesPS    float64       // bytes a reduce merges per second
	ReduceBytesPS  float64       // bytes a reduce processes per second
	WriteBytesPS   float64       // output bytes a task writes per second
}

// Assumed lists what the rates add to the trace, one line each.
func (r SwimRates) Assumed() []string {
	list := []string{
		fmt.Sprintf("maps = input / %s, rounded up, at least 1", mebibytes(float64(r.BlockBytes))),
		fmt.Sprintf("reduces = (shuffle + output) / %s, rounded, at least 1; none without shuffle", mebibytes(float64(r.BytesPerReduce))),
	}
	if r.ReduceCap > 0 {
		list = append(list, fmt.Sprintf("at most %d reduces a job", r.ReduceCap))
	}
	return append(list,
		"bytes of a job are shared evenly by its tasks",
		fmt.Sprintf("map time = %v + input / (%s/s), and output / (%s/s) in map-only jobs", r.MapFixed, mebibytes(r.MapBytesPS), mebibytes(r.WriteBytesPS)),
		fmt.Sprintf("shuffle = bytes / (%s/s), sort = bytes / (%s/s)", mebibytes(r.ShuffleBytesPS), mebibytes(r.SortBytesPS)),
		fmt.Sprintf("reduce time = %v + shuffle / (%s/s) + output / (%s/s)", r.ReduceFixed, mebibytes(r.ReduceBytesPS), mebibytes(r.WriteBytesPS)),
	)
}

// mebibytes writes a size for people.
func mebibytes(v float64) string { return strconv.FormatFloat(v/(1<<20), 'g', 6, 64) + " MiB" }

func (r SwimRates) check() error {
	for _, x := range []struct {
		name string
		ok   bool
	}{
		{"BlockBytes", r.BlockBytes > 0}, {"BytesPerReduce", r.BytesPerReduce > 0}, {"ReduceCap", r.ReduceCap >= 0},
		{"MapFixed", r.MapFixed >= 0}, {"ReduceFixed", r.ReduceFixed >= 0},
		{"MapBytesPS", r.MapBytesPS > 0}, {"ShuffleBytesPS", r.ShuffleBytesPS > 0}, {"SortBytesPS", r.SortBytesPS > 0},
		{"ReduceBytesPS", r.ReduceBytesPS > 0}, {"WriteBytesPS", r.WriteBytesPS > 0},
	} {
		if !x.ok {
			return fmt.Errorf("rates of a SWIM trace: %s: want a positive value", x.name)
		}
	}
	return nil
}

// maxTasks limits the tasks of one derived job: more mean an error in the
// volume of the trace or in the block size.
const maxTasks = 20_000_000

// SwimJobs derives jobs from volumes: maps = ceil(input / block), at least 1;
// reduces = round((shuffle + output) / bytes per reduce), at least 1 and at
// most the cap (SWIM's GenerateReplayScript); no shuffle, no reduces. Times
// follow from the rates.
func SwimJobs(trace []SwimJob, r SwimRates) ([]Job, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	jobs := make([]Job, len(trace))
	for i, s := range trace {
		maps := max(1, ceilDiv(s.InputBytes, r.BlockBytes))
		reduces := int64(0)
		if s.ShuffleBytes > 0 {
			reduces = max(1, int64(math.Round((float64(s.ShuffleBytes)+float64(s.OutputBytes))/float64(r.BytesPerReduce))))
			if r.ReduceCap > 0 {
				reduces = min(reduces, int64(r.ReduceCap))
			}
		}
		if maps > maxTasks || reduces > maxTasks {
			return nil, fmt.Errorf("SWIM job %s: %d maps and %d reduces: want at most %d of each", s.ID, maps, reduces, maxTasks)
		}
		j := Job{ID: s.ID, Name: s.ID, Submit: s.Submit}
		mapSeconds := r.MapFixed.Seconds() + float64(s.InputBytes)/float64(maps)/r.MapBytesPS
		j.Maps = MapTasks{Count: int(maps), InputBytes: s.InputBytes}
		if reduces == 0 {
			j.Maps.OutputBytes = s.OutputBytes
			mapSeconds += float64(s.OutputBytes) / float64(maps) / r.WriteBytesPS
		} else {
			in, out := float64(s.ShuffleBytes)/float64(reduces), float64(s.OutputBytes)/float64(reduces)
			j.Reduces = ReduceTasks{
				Count:       int(reduces),
				Shuffle:     Durations{All: Seconds(in / r.ShuffleBytesPS)},
				Sort:        Durations{All: Seconds(in / r.SortBytesPS)},
				Time:        Durations{All: Seconds(r.ReduceFixed.Seconds() + in/r.ReduceBytesPS + out/r.WriteBytesPS)},
				ShuffleData: s.ShuffleBytes,
				OutputBytes: s.OutputBytes,
			}
		}
		j.Maps.Time = Durations{All: Seconds(mapSeconds)}
		jobs[i] = j
	}
	return jobs, nil
}

func ceilDiv(a, b int64) int64 {
	n := a / b
	if a%b > 0 {
		n++
	}
	return n
}
