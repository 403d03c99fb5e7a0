package trace

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

var swimFormat = Format{
	Name: "swim", About: "SWIM: arrivals and volumes of jobs, 6 or 9 tab-separated columns",
	Files: "jobs.tsv", // for a trace with volumes
	detect: detection{begins: func(text []byte) bool {
		line := firstLine(text)
		if n := bytes.Count(line, []byte{'\t'}); n != 5 && n != 8 {
			return false
		}
		_, err := swimJob(strings.Split(strings.TrimSuffix(string(line), "\r"), "\t"))
		return err == nil
	}},
	read: (*collector).readSwim,
	write: func(h *workload.History) (Output, error) {
		return Output{Files: []File{{"jobs.tsv", func(w io.Writer) error { return writeSwim(w, h.Swim) }}}}, nil
	},
	needs: func(h *workload.History) error {
		if len(h.Swim) == 0 {
			return errors.New("--to swim: only a SWIM trace states the volumes of its jobs: want another format, such as --to csv")
		}
		return nil
	},
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

func swimJob(rec []string) (workload.SwimJob, error) {
	if len(rec) != 6 && len(rec) != 9 {
		return workload.SwimJob{}, fmt.Errorf("want 6 or 9 columns separated by tabs, found %d", len(rec))
	}
	j := workload.SwimJob{ID: rec[0]}
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
	j.Submit, j.Gap = workload.Seconds(seconds[0]), workload.Seconds(seconds[1])
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

// withoutQuotes prevents a stray quote from joining lines, because SWIM files do
// not quote.
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

// capLines fails when a line exceeds the limit, before a library reads the
// whole record.
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

// writeSwim writes a trace of volumes: six columns, or nine if a job names its
// input.
func writeSwim(w io.Writer, jobs []workload.SwimJob) error {
	out := bufio.NewWriter(w)
	paths := slices.ContainsFunc(jobs, func(j workload.SwimJob) bool { return j.InputPath != "" })
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
