package workload

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
)

// SwimJob is one line of a SWIM trace (SWIMProjectUCB/SWIM, workloadSuite):
// when a job arrives and how much it moves. Tasks and times are not recorded.
type SwimJob struct {
	ID           string
	Submit       time.Duration // from the start of the trace
	Gap          time.Duration // since the job before
	InputBytes   int64         // read by the maps
	ShuffleBytes int64         // from maps to reduces; 0: map-only
	OutputBytes  int64         // written by the reduces, or by the maps of a map-only job
	InputPath    string        // nine-column files: the same path is the same input
}

// WriteSwim writes a trace of volumes: six columns, or nine where an input is
// named.
func WriteSwim(w io.Writer, jobs []SwimJob) error {
	out := bufio.NewWriter(w)
	paths := slices.ContainsFunc(jobs, func(j SwimJob) bool { return j.InputPath != "" })
	for i := range jobs {
		j := &jobs[i]
		fmt.Fprintf(out, "%s\t%s\t%s\t%d\t%d\t%d", j.ID, decimal(j.Submit), decimal(j.Gap), j.InputBytes, j.ShuffleBytes, j.OutputBytes)
		if paths {
			fmt.Fprintf(out, "\t%s\t\t", j.InputPath)
		}
		out.WriteByte('\n')
	}
	return out.Flush()
}

func decimal(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// SwimRates turn volumes into tasks and times. Nothing of this is in a SWIM
// trace: a caller shows it as assumed (Assumed lists it).
type SwimRates struct {
	BlockBytes     int64 // input of one map
	BytesPerReduce int64 // shuffle and output of one reduce
	ReduceCap      int   // most reduces of a job; SWIM takes a fifth of the cluster's nodes. 0: none

	MapFixed       time.Duration // of every map
	ReduceFixed    time.Duration // of every reduce
	MapBytesPS     float64       // input bytes a map takes in per second
	ShuffleBytesPS float64       // bytes a reduce fetches per second
	SortBytesPS    float64       // bytes a reduce merges per second
	ReduceBytesPS  float64       // bytes a reduce takes in per second
	WriteBytesPS   float64       // output bytes a task writes per second
}

// Assumed lists what the rates add to the trace, one line each.
func (r SwimRates) Assumed() []string {
	list := []string{
		fmt.Sprintf("maps = input / %d bytes, rounded up, at least 1", r.BlockBytes),
		fmt.Sprintf("reduces = (shuffle + output) / %d bytes, rounded, at least 1; none without shuffle", r.BytesPerReduce),
	}
	if r.ReduceCap > 0 {
		list = append(list, fmt.Sprintf("at most %d reduces a job", r.ReduceCap))
	}
	return append(list,
		"bytes of a job are shared evenly by its tasks",
		fmt.Sprintf("map time = %v + input / (%g bytes/s), and output / (%g bytes/s) in map-only jobs", r.MapFixed, r.MapBytesPS, r.WriteBytesPS),
		fmt.Sprintf("shuffle = bytes / (%g bytes/s), sort = bytes / (%g bytes/s)", r.ShuffleBytesPS, r.SortBytesPS),
		fmt.Sprintf("reduce time = %v + shuffle / (%g bytes/s) + output / (%g bytes/s)", r.ReduceFixed, r.ReduceBytesPS, r.WriteBytesPS),
	)
}

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

// maxTasks bounds the tasks of one derived job: beyond it the volume in the
// trace, or the block size, is taken for an error.
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

// readSwim reads a tab-separated SWIM trace of six or nine columns.
func (c *collector) readSwim(s *source) error {
	tsv := csv.NewReader(withoutQuotes(capLines(s, c.limits.LineBytes)))
	tsv.Comma, tsv.Comment, tsv.FieldsPerRecord = '\t', '#', -1
	ids := make(map[string]bool)
	for {
		rec, err := tsv.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.As(err, new(*csv.ParseError)) {
			return err
		}
		line, _ := tsv.FieldPos(0)
		line += s.skipped
		if err != nil {
			c.problem(line, "line is lost: %v", err)
			continue
		}
		j, err := swimJob(rec)
		switch {
		case err != nil:
			c.problem(line, "line is lost: %v", err)
		case ids[j.ID]:
			c.problem(line, "job %s occurs twice: the second is dropped", j.ID)
		case len(c.h.Swim) >= c.limits.Attempts:
			return errAttempts
		default:
			ids[j.ID] = true
			c.h.Swim = append(c.h.Swim, j)
		}
	}
}

func swimJob(rec []string) (SwimJob, error) {
	if len(rec) != 6 && len(rec) != 9 {
		return SwimJob{}, fmt.Errorf("want 6 or 9 columns separated by tabs, found %d", len(rec))
	}
	j := SwimJob{ID: rec[0]}
	if j.ID == "" {
		return j, fmt.Errorf("column 1 (job id) is empty")
	}
	var seconds [2]float64
	for i := range seconds {
		v, err := strconv.ParseFloat(rec[1+i], 64)
		if err != nil || !(v >= 0 && v < math.MaxInt64/1e9) {
			return j, fmt.Errorf("column %d = %.40q: want seconds", 2+i, rec[1+i])
		}
		seconds[i] = v
	}
	j.Submit, j.Gap = Seconds(seconds[0]), Seconds(seconds[1])
	for i, to := range []*int64{&j.InputBytes, &j.ShuffleBytes, &j.OutputBytes} {
		v, err := strconv.ParseInt(rec[3+i], 10, 64)
		if err != nil || v < 0 {
			return j, fmt.Errorf("column %d = %.40q: want bytes", 4+i, rec[3+i])
		}
		*to = v
	}
	if len(rec) == 9 {
		j.InputPath = rec[6]
	}
	return j, nil
}

// withoutQuotes keeps a stray quote from swallowing the lines after it: SWIM
// files do not quote.
func withoutQuotes(r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		for i, b := range p[:n] {
			if b == '"' {
				p[i] = '\''
			}
		}
		return n, err
	})
}

// capLines fails when a line outgrows the limit, before a library that reads
// whole records does.
func capLines(r io.Reader, max int) io.Reader {
	run := 0
	return readerFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		for _, b := range p[:n] {
			if run++; b == '\n' {
				run = 0
			}
			if run > max {
				return 0, errLineLong
			}
		}
		return n, err
	})
}
