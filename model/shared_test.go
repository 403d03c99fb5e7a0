package model_test

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/shareddata"
)

// shared is the path of a file of the measured data sets.
func shared(t testing.TB, name string) string {
	t.Helper()
	return shareddata.Path(t, "data/"+name)
}

// open opens such a file, and unpacks it where its name says so.
func open(t testing.TB, name string) io.Reader {
	t.Helper()
	f, err := os.Open(shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if !strings.HasSuffix(name, ".gz") {
		return f
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// records reads a table with a header; sep separates its fields.
func records(t testing.TB, name, sep string) []record {
	t.Helper()
	lines := bufio.NewScanner(open(t, name))
	lines.Buffer(nil, 1<<20)
	var header []string
	var rows []record
	for lines.Scan() {
		fields := strings.Split(lines.Text(), sep)
		if header == nil {
			header = fields
			continue
		}
		row := record{}
		for i, name := range header {
			if _, twice := row[name]; !twice && i < len(fields) {
				row[name] = fields[i]
			}
		}
		rows = append(rows, row)
	}
	if lines.Err() != nil || len(rows) == 0 {
		t.Fatalf("%s: %d rows, %v", name, len(rows), lines.Err())
	}
	return rows
}

type record map[string]string

func (r record) number(name string) float64 {
	f, err := strconv.ParseFloat(r[name], 64)
	if err != nil {
		return 0
	}
	return f
}

// planner plans tasks of jobs whose data statistics do not matter.
func planner(t testing.TB, conf taskplan.Conf, reduces int, change func(*taskplan.Planner)) *taskplan.Planner {
	t.Helper()
	h := analytic.DefaultPhases()
	p := taskplan.Planner{Conf: conf, Data: h.Data, Cost: h.Cost, Reduces: reduces, Framing: taskplan.IFile}
	if change != nil {
		change(&p)
	}
	made, err := taskplan.NewPlanner(p)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func mapPlan(t testing.TB, p *taskplan.Planner, f taskplan.MapFlow) taskplan.MapPlan {
	t.Helper()
	m, err := p.Map(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func taskConf(t testing.TB, set map[string]string) taskplan.Conf {
	t.Helper()
	var conf workload.Conf
	for key, value := range set {
		if value != "" {
			conf.Set(key, value)
		}
	}
	c, err := taskplan.ReadConf(conf)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// exact counts how often a figure was the measured one.
type exact struct{ of, equal int }

func (e *exact) check(t testing.TB, what string, got, want float64) {
	t.Helper()
	e.of++
	if got == want {
		e.equal++
	} else {
		t.Errorf("%s: %v, measured %v", what, got, want)
	}
}

// report wants as many figures as there are in the data.
func (e *exact) report(t testing.TB, what string, of int) {
	t.Helper()
	t.Logf("%s: %d of %d", what, e.equal, e.of)
	if e.of != of {
		t.Errorf("%s: %d figures in the data, want %d", what, e.of, of)
	}
}
