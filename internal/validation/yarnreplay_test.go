package validation

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/sim/engine"
	sim "github.com/slotwave/slotwave/sim/yarn"
)

// recordedMaster is an ApplicationMaster that says what a recorded one said, so that the
// ResourceManager is measured alone.
type recordedMaster struct {
	t       testing.TB
	c       *yarnCase
	m       sim.Master
	attempt int
	asks    map[int64]map[string]string // by time
	rows    map[string]map[string]string
	finish  int64
	given   map[int32]*sim.Container
	differs *string
}

func recordedMs(s string) int64 {
	if s == "" {
		return -1
	}
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// id is the name of a container in the recorded tables.
func (r *recordedMaster) id(number int32) string {
	if r.attempt > 1 {
		return fmt.Sprint(r.attempt, ".", number)
	}
	return strconv.Itoa(int(number))
}

func (r *recordedMaster) Start(m sim.Master) {
	r.m = m
	if own := r.rows[r.id(1)]; own != nil && own["exit"] == "0" {
		r.at(r.finish, func() { m.Unregister(true) })
		r.at(recordedMs(own["end_ms"])-1, func() { m.Unregister(true) })
		r.at(recordedMs(own["end_ms"]), m.Exit)
	}
}

func (r *recordedMaster) at(when int64, do func()) {
	r.m.At(max(engine.Time(when)*ms, r.m.Now()), do)
}

func (r *recordedMaster) Beat() {
	now := int64(r.m.Now() / ms)
	row := r.asks[now]
	var q sim.AllocateRequest
	for _, f := range strings.Fields(row["asks"]) {
		q.Asks = append(q.Asks, r.ask(f))
	}
	for _, id := range strings.Fields(row["releases"]) {
		if n, _ := strconv.Atoi(id); r.given[int32(n)] != nil {
			c := r.given[int32(n)]
			q.Releases = append(q.Releases, c)
		}
	}
	for _, f := range strings.Fields(row["blacklist"]) {
		n, _ := strconv.Atoi(f[2:])
		if f[0] == '+' {
			q.Blacklist = append(q.Blacklist, int32(n))
		} else {
			q.Forgive = append(q.Forgive, int32(n))
		}
	}
	a := r.m.Allocate(q)
	for _, c := range a.Granted {
		r.launch(c)
	}
	if row != nil {
		r.check(now, row, a)
	}
}

// check compares an answer with the recorded one.
func (r *recordedMaster) check(now int64, row map[string]string, a sim.AllocateResponse) {
	var granted, ended []string
	for _, c := range a.Granted {
		granted = append(granted, strconv.Itoa(int(c.Number)))
	}
	for _, e := range a.Ended {
		ended = append(ended, fmt.Sprintf("%d:%d", e.Container.Number, e.Exit))
	}
	got := fmt.Sprintf("%s|%s|%d:%d", strings.Join(granted, " "), strings.Join(ended, " "), a.Headroom.MemoryMiB, a.Headroom.VCores)
	want := row["allocated"] + "|" + row["completed"] + "|" + row["headroom"]
	if got != want && *r.differs == "" {
		*r.differs = fmt.Sprintf("answer to %s at %d: got %s, want %s", row["job"], now, got, want)
	}
}

func (r *recordedMaster) ask(f string) sim.Ask {
	p := strings.Split(f, ":")
	priority, _ := strconv.Atoi(p[0])
	memory, _ := strconv.ParseInt(p[2], 10, 64)
	vcores, _ := strconv.ParseInt(p[3], 10, 64)
	count, _ := strconv.Atoi(p[4])
	return sim.Ask{
		Priority: sim.Priority(priority), Place: r.m.Place(p[1]), Count: int32(count),
		Size: yarnSize{memory, vcores}.resource(), Strict: len(p) > 5,
	}
}

// launch starts and ends a container as recorded.
func (r *recordedMaster) launch(c *sim.Container) {
	id := r.id(c.Number)
	r.given[c.Number] = c
	row := r.rows[id]
	if row == nil || row["start_ms"] == "" {
		return
	}
	c.What = row["what"]
	r.at(recordedMs(row["start_ms"]), func() {
		if !r.m.Launch(c) {
			return
		}
		exit := recordedMs(row["exit"])
		if end := recordedMs(row["end_ms"]); end >= 0 && exit > -200 {
			switch sim.Exit(exit) {
			case sim.Preempted, sim.KilledByRM, sim.Aborted:
				// Whoever kills it first, its ApplicationMaster or its node.
				r.at(end-r.c.Costs["kill_ms"], func() { r.m.Stop(c) })
			default:
				r.at(end, func() { r.m.Ended(c, sim.Exit(exit)) })
			}
		}
	})
}

func (r *recordedMaster) Beating() bool {
	now := int64(r.m.Now() / ms)
	return now < r.finish || r.asks[now] != nil
}

func (r *recordedMaster) Idle() bool            { return false }
func (r *recordedMaster) Killed(*sim.Container) {}
func (r *recordedMaster) Died(*sim.Container)   {}
func (r *recordedMaster) Lost()                 {}

// The ResourceManager alone, fed with the recorded asks of run 1.
func TestYarnReplay(t *testing.T) {
	exact, rows := 0, 0
	for _, folder := range yarnFolders(t) {
		c := openYarnCase(t, folder)
		asks := readTable(t, filepath.Join(folder, "run1", "asks.csv.gz"))
		containers := readTable(t, filepath.Join(folder, "run1", "containers.csv.gz"))
		config := c.config(1)
		differs := ""
		jobs := readTable(t, filepath.Join(folder, "run1", "jobs.csv"))
		for _, j := range slices.Concat(c.Jobs, c.Apps) {
			asked, given := make(map[int64]map[string]string), make(map[string]map[string]string)
			for _, row := range asks {
				if row["job"] == j.Name {
					asked[recordedMs(row["time_ms"])] = row
				}
			}
			for _, row := range containers {
				if row["job"] == j.Name {
					given[row["container"]] = row
				}
			}
			i := slices.IndexFunc(jobs, func(row map[string]string) bool { return row["job"] == j.Name })
			s := c.submission(&j)
			s.New = func(attempt int) sim.Application {
				return &recordedMaster{
					t: t, c: c, attempt: attempt, asks: asked, rows: given, given: make(map[int32]*sim.Container),
					finish: recordedMs(jobs[i]["finish_ms"]), differs: &differs,
				}
			}
			config.Work = append(config.Work, s)
		}
		rm, err := sim.New(config)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if err := rm.Run(engine.Time(c.Limit) * ms); err != nil {
			t.Fatal(err)
		}
		m := c.compareContainers(t, 1, rm.Rows())
		exact += m.exact
		rows += m.rows
		if m.exact < m.rows || m.extra > 0 || differs != "" {
			t.Logf("%s: %d of %d containers, %d not recorded; %s; %s", c.name, m.exact, m.rows, m.extra, m.first, differs)
		}
	}
	// The order in which containers end in one instant is not that of the record.
	const inOtherOrder = 8
	if rows-exact > inOtherOrder {
		t.Errorf("%d of %d containers exact: want all but %d", exact, rows, inOtherOrder)
	}
}
