package diagnose

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// Unknown is a value that the input does not give, with the number of rows that
// lack it and the consequence.
type Unknown struct {
	What   string `json:"what"`
	Count  int    `json:"count"`
	Of     int    `json:"of"`
	Effect string `json:"effect"`
}

// unknowns collects the unknown values in order of discovery.
type unknowns struct {
	index map[string]int
	list  []Unknown
}

func (u *unknowns) add(what string, count, of int, effect string) {
	if count == 0 {
		return
	}
	if u.index == nil {
		u.index = map[string]int{}
	}
	i, ok := u.index[what]
	if !ok {
		i = len(u.list)
		u.index[what] = i
		u.list = append(u.list, Unknown{What: what, Effect: effect})
	}
	u.list[i].Count += count
	u.list[i].Of += of
}

// attempt is a row of the table of attempts, with numbers for names.
type attempt struct {
	job, node  int32
	task, slot int32
	number     int16
	kind       workload.Kind
	state      workload.State
	locality   workload.Locality

	runnable, start, finish time.Duration
	localised               time.Duration // recorded, before the start
	phases                  [workload.NumPhases]time.Duration
	counters
	waitFetch, waitMemory time.Duration
}

// counters are those that the diagnosis uses, of workload.Counters.
type counters struct {
	InRecords, InBytes, OutRecords, OutBytes    int64
	ShuffleBytes, HDFSReadBytes, HDFSWriteBytes int64
	LocalReadBytes                              int64
	Spills                                      int64
}

func countersOf(c *workload.Counters) counters {
	return counters{c.InRecords, c.InBytes, c.OutRecords, c.OutBytes, c.ShuffleBytes, c.HDFSReadBytes, c.HDFSWriteBytes, c.LocalReadBytes, c.Spills}
}

// timed reports whether start and end of the attempt are known.
func (a *attempt) timed() bool {
	return workload.Known(a.start) && workload.Known(a.finish) && a.finish >= a.start
}

// assigned returns when the attempt got its slot, if a record has that, else its start.
func (a *attempt) assigned() time.Duration { return a.start - a.localised }

// job is the record of one job.
type job struct {
	index          int32
	id, name       string
	submit, finish time.Duration
	launch         time.Duration // when it was initialised; unknown: before its submission
	conf           workload.Conf
	unsuccessful   bool // it failed or was killed
	maps, reduces  int  // as announced, or as found
	attempts       []int32
	won            [2][]int32     // attempts whose work was used, maps and reduces, by task
	extra          [2]int64       // stored over raw map output bytes, from maps that know both
	lost           map[string]int // values that it and its attempts lack
}

func (j *job) time() time.Duration { return j.finish - j.submit }

// lastMap returns the end of the job's last map, or its submission.
func (b *books) lastMap(j *job) time.Duration {
	last := j.submit
	for _, i := range j.won[workload.Map] {
		last = max(last, b.at(i).finish)
	}
	return last
}

// setupBefore returns the set-up of a job that had succeeded by a time, or nil.
func (b *books) setupBefore(j *job, at time.Duration) (setup *attempt) {
	for _, row := range j.attempts {
		if a := b.at(row); a.kind == workload.Setup && a.timed() && a.finish <= at && a.state == workload.Succeeded {
			setup = a
		}
	}
	return setup
}

// previous returns the attempt of the same task on which a followed: one that still
// ran when a began, or else the one that began last; nil if there is none.
func (b *books) previous(a *attempt) *attempt {
	if a.number == 0 {
		return nil
	}
	var last *attempt
	for _, row := range b.jobs[a.job].attempts {
		of := b.at(row)
		if of.kind != a.kind || of.task != a.task || !of.timed() || of.start >= a.start {
			continue
		}
		if of.finish > a.start {
			return of
		}
		if last == nil || of.start > last.start {
			last = of
		}
	}
	return last
}

const chunkRows = 1 << 14

// books holds all attempts of a run and its jobs.
type books struct {
	chunks [][]attempt
	rows   int
	jobs   []*job
	jobAt  map[string]*job
	nodes  interner
	begin  time.Duration
	end    time.Duration
	unknowns
}

func (b *books) at(i int32) *attempt { return &b.chunks[i/chunkRows][i%chunkRows] }

func (b *books) node(a *attempt) string { return b.nodes.list[a.node] }

func (b *books) name(a *attempt) string {
	return fmt.Sprintf("%s/%s/%d", b.jobs[a.job].id, kindLetter(a.kind), a.task)
}

func kindLetter(k workload.Kind) string {
	switch k {
	case workload.Map:
		return "m"
	case workload.Reduce:
		return "r"
	}
	return k.String()
}

// keep reads the jobs into the books, and the rows of attempts that the jobs do
// not list. localised may be nil.
func keep(jobs iter.Seq[*workload.HistoryJob], rows iter.Seq[*workload.Attempt], localised func(*workload.HistoryTask) time.Duration) *books {
	b := &books{jobAt: map[string]*job{}}
	if rows == nil {
		for h := range jobs {
			j := newJob(h)
			b.keepTasks(j, h, localised)
			b.settle(j, h)
		}
	} else {
		b.keepRows(jobs, rows)
	}
	slices.SortStableFunc(b.jobs, func(a, b *job) int { return cmp.Compare(a.submit, b.submit) })
	for i, j := range b.jobs {
		j.index = int32(i)
		for _, row := range j.attempts {
			b.at(row).job = int32(i)
		}
	}
	return b
}

func newJob(h *workload.HistoryJob) *job {
	return &job{id: h.ID, name: h.Name, submit: h.Submit, launch: h.Launch, finish: h.Finish, conf: h.Conf, unsuccessful: h.Outcome == workload.Failed || h.Outcome == workload.Killed, lost: map[string]int{}}
}

func (b *books) keepTasks(j *job, h *workload.HistoryJob, localised func(*workload.HistoryTask) time.Duration) {
	for t := range h.Tasks {
		task := &h.Tasks[t]
		winner := task.Winner()
		for n := range task.Attempts {
			row := b.keepAttempt(j, &task.Attempts[n].Attempt)
			if n == 0 && localised != nil && b.at(row).timed() {
				b.at(row).localised = localised(task)
			}
			if &task.Attempts[n] == winner && task.Kind <= workload.Reduce && b.at(row).timed() {
				j.won[task.Kind] = append(j.won[task.Kind], row)
			}
		}
	}
}

// keepRows reads attempts in the order in which they ended. The last one of a task
// that succeeded has won.
func (b *books) keepRows(jobs iter.Seq[*workload.HistoryJob], rows iter.Seq[*workload.Attempt]) {
	var known []*job
	var heads []workload.HistoryJob
	at := map[string]*job{}
	for h := range jobs {
		j := newJob(h)
		known, heads, at[j.id] = append(known, j), append(heads, *h), j
	}
	var j *job // of the row before, mostly that of the next
	for a := range rows {
		if j == nil || j.id != a.Job {
			j = at[a.Job]
		}
		if j == nil {
			h := workload.NewHistoryJob(a.Job)
			j = newJob(&h)
			known, heads, at[j.id] = append(known, j), append(heads, h), j
		}
		row := b.keepAttempt(j, a)
		if a.Kind <= workload.Reduce && a.State == workload.Succeeded && b.at(row).timed() {
			j.won[a.Kind] = append(j.won[a.Kind], row)
		}
	}
	for i, j := range known {
		for kind := range j.won {
			won := j.won[kind]
			b.sortRows(won, func(a *attempt) int64 { return int64(a.task) })
			last := won[:0]
			for k, row := range won {
				if k+1 == len(won) || b.at(won[k+1]).task != b.at(row).task {
					last = append(last, row)
				}
			}
			j.won[kind] = last
		}
		b.settle(j, &heads[i])
	}
}

// sortRows sorts rows by a key, and those with the same key by row. It reads each
// attempt once, because a comparison of two that are not in the cache costs more
// than the rest of the sort.
func (b *books) sortRows(rows []int32, key func(*attempt) int64) {
	type keyed struct {
		key int64
		row int32
	}
	list := make([]keyed, len(rows))
	for i, row := range rows {
		list[i] = keyed{key(b.at(row)), row}
	}
	slices.SortFunc(list, func(x, y keyed) int { return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.row, y.row)) })
	for i := range list {
		rows[i] = list[i].row
	}
}

// settle completes a job whose attempts are kept.
func (b *books) settle(j *job, h *workload.HistoryJob) {
	first, last := workload.UnknownTime, workload.UnknownTime
	for _, i := range j.attempts {
		if a := b.at(i); a.timed() {
			if !workload.Known(first) || a.start < first {
				first = a.start
			}
			last = max(last, a.finish)
		}
	}
	if !workload.Known(j.submit) {
		j.lost[submission]++
		j.submit = max(first, 0)
	}
	if !workload.Known(j.finish) || j.finish < j.submit {
		j.lost[end]++
		j.finish = max(last, j.submit)
	}
	j.maps, j.reduces = max(h.Maps, len(j.won[workload.Map])), max(h.Reduces, len(j.won[workload.Reduce]))
	if len(b.jobs) == 0 || j.submit < b.begin {
		b.begin = j.submit
	}
	b.end = max(b.end, j.finish, last)
	b.jobs = append(b.jobs, j)
	b.jobAt[j.id] = j
}

const submission, end = "submission of a job", "end of a job"

// lacks lists what a job may lack, in the order in which it is reported.
var lacks = []struct{ what, effect string }{
	{"start or finish of an attempt", "the attempt is left out"},
	{"node of an attempt", "no findings on nodes"},
	{"slot of an attempt", "assigned by node and time"},
	{"phases of an attempt", "no phase outliers"},
	{"bytes of an attempt", "no times expected from bytes"},
	{"records of an attempt", "no times expected from records"},
	{"when a task became runnable", "no waiting for slots"},
	{"waits of a reduce", "no shuffle outliers, R04 and R19"},
	{submission, "it counts from its first attempt"},
	{end, "it counts to its last attempt"},
}

// missing counts what a job lacks.
func (b *books) missing(j *job) {
	for _, l := range lacks {
		total := len(j.attempts)
		if l.what == submission || l.what == end {
			total = 1
		}
		b.add(l.what, j.lost[l.what], total, l.effect)
	}
}

// keepAttempt copies an attempt into a row and counts its missing values.
func (b *books) keepAttempt(j *job, h *workload.Attempt) int32 {
	if b.rows%chunkRows == 0 {
		b.chunks = append(b.chunks, make([]attempt, 0, min(chunkRows, b.rows))) // the first one grows
	}
	row := int32(b.rows)
	a := attempt{
		node: b.nodes.id(h.Node), task: int32(h.Task), slot: int32(h.Slot), number: int16(h.Number),
		kind: h.Kind, state: h.State, locality: h.Locality,
		runnable: h.Runnable, start: h.Start, finish: h.Finish, phases: h.Phases, counters: countersOf(&h.Counters),
		waitFetch: h.WaitFetch, waitMemory: h.WaitMemory,
	}
	lack := func(what string, missing bool) {
		if missing {
			j.lost[what]++
		}
	}
	lack("start or finish of an attempt", !a.timed())
	lack("node of an attempt", h.Node == "")
	lack("slot of an attempt", h.Slot < 0)
	lack("when a task became runnable", !workload.Known(a.runnable))
	if a.kind <= workload.Reduce && a.state == workload.Succeeded {
		known := 0
		for _, d := range a.phases {
			if workload.Known(d) && d > 0 {
				known++
			}
		}
		lack("phases of an attempt", known == 0)
		lack("bytes of an attempt", a.InBytes < 0 && a.HDFSReadBytes < 0 && a.ShuffleBytes < 0)
		lack("records of an attempt", a.InRecords < 0)
		lack("waits of a reduce", a.kind == workload.Reduce && !workload.Known(a.waitFetch))
		if m := h.MaterializedBytes; a.kind == workload.Map && m >= 0 && a.OutBytes > 0 {
			j.extra[0], j.extra[1] = j.extra[0]+m, j.extra[1]+a.OutBytes
		}
	}
	last := len(b.chunks) - 1
	b.chunks[last] = append(b.chunks[last], a)
	b.rows++
	j.attempts = append(j.attempts, row)
	return row
}

// assignSlots assigns attempts without a recorded slot to slots of their node. Each
// takes the lowest slot that is free at its start.
func (b *books) assignSlots() {
	type pool struct {
		node int32
		kind workload.Kind
	}
	byPool := map[pool][]int32{}
	for i := range int32(b.rows) {
		if a := b.at(i); a.slot < 0 && a.timed() {
			kind := a.kind
			if kind > workload.Reduce {
				kind = workload.Map
			}
			byPool[pool{a.node, kind}] = append(byPool[pool{a.node, kind}], i)
		}
	}
	for _, rows := range byPool {
		b.sortRows(rows, func(a *attempt) int64 { return int64(a.start) })
		var free []time.Duration
		for _, i := range rows {
			a := b.at(i)
			slot := slices.IndexFunc(free, func(t time.Duration) bool { return t <= a.start })
			if slot < 0 {
				slot = len(free)
				free = append(free, 0)
			}
			free[slot], a.slot = a.finish, int32(slot)
		}
	}
}

// slotsUsed returns the largest number of concurrent attempts of a kind on all
// nodes together, and on one node.
func (b *books) slotsUsed(kind workload.Kind) (all, node int) {
	most := map[int32]int32{}
	for i := range int32(b.rows) {
		if a := b.at(i); a.kind == kind && a.timed() {
			most[a.node] = max(most[a.node], a.slot+1)
		}
	}
	for _, n := range most {
		all += int(n)
		node = max(node, int(n))
	}
	return all, node
}
