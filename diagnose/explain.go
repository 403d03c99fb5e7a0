package diagnose

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// Explained is what Explain explains: a task, such as job/m/12, or what a node got
// at a time.
type Explained struct {
	Task string
	Node string // if there is no task
	At   time.Duration
}

// Explain describes why the attempts of a task started when and where they did and
// what they spent their time on, or what a scheduler gave a node. It uses the
// attempts of the run and its offers, if it was traced. The question gives the
// scheduler and the number of slots. If it is nil, the number is the largest number
// of concurrent attempts.
func Explain(w io.Writer, in Input, what Explained) error {
	b := keep(in.Jobs, in.Rows, in.Localised)
	b.assignSlots()
	o := DefaultOptions()
	x := explainer{&evidence{b: b, q: in.Question, options: &o, r: newResources(nil)}}
	if len(in.Offers) > 0 {
		x.offers = newOfferBook(in.Offers)
	}
	x.countSlots()
	var text strings.Builder
	write := func(paragraphs []string) {
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		for _, p := range paragraphs {
			indent := 0
			if strings.HasPrefix(p, "- ") {
				indent = 2
			}
			line(&text, indent, p)
		}
	}
	if what.Task == "" {
		paragraphs, err := x.atNode(what.At, what.Node)
		if err != nil {
			return err
		}
		write(paragraphs)
	} else {
		rows := x.attemptsOf(what.Task)
		if len(rows) == 0 {
			return fmt.Errorf("--task: got %q: want %s", what.Task, x.tasksLike(what.Task))
		}
		for _, row := range rows {
			write(x.attempt(b.at(row)))
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// tasksLike says which tasks the job of a name has.
func (x *explainer) tasksLike(task string) string {
	b := x.b
	for id := task; id != "."; id = path.Dir(id) { // a job and what may follow its name
		if j := b.jobAt[id]; j != nil {
			list := []string{fmt.Sprintf("a task of the job: %s/m/0 to %d", id, j.maps-1)}
			if j.reduces > 0 {
				list = append(list, fmt.Sprintf("%s/r/0 to %d", id, j.reduces-1))
			}
			return strings.Join(append(list, id+"/setup or "+id+"/cleanup"), ", ")
		}
	}
	if m := taskForm.FindStringSubmatch(task); m != nil {
		ids := make([]string, len(b.jobs))
		for i, j := range b.jobs {
			ids[i] = j.id
		}
		for _, job := range []string{m[1], "job_" + m[1]} { // Hadoop's names: task_N_0001_m_000012
			if i := input.Nearest(job, ids); i >= 0 {
				if meant := ids[i] + "/" + m[2] + "/" + m[3]; len(x.attemptsOf(meant)) > 0 {
					return meant + ", or another task of the run"
				}
				return x.tasksLike(ids[i])
			}
		}
	}
	for i := range int32(b.rows) {
		if a := b.at(i); a.kind <= workload.Reduce {
			return "a task of the run, such as " + b.name(a)
		}
	}
	return "a task of the run"
}

// taskForm is the name of a task in the way of Hadoop or of a user: the job, m or r, a
// number.
var taskForm = regexp.MustCompile(`^(?:task_|attempt_)?(.*?)[/_.-]?([mr])(?:aps?|educes?)?[/_.-]?0*(\d+)(?:_\d+)?$`)

// attemptsOf lists the attempts of a task, in order of their starts. The index of
// a set-up or clean-up may be left out.
func (x *explainer) attemptsOf(task string) []int32 {
	var rows []int32
	for i := range int32(x.b.rows) {
		a := x.b.at(i)
		if !a.timed() {
			continue
		}
		name := x.b.name(a)
		if name == task || a.kind > workload.Reduce && path.Dir(name) == task {
			rows = append(rows, i)
		}
	}
	slices.SortFunc(rows, func(i, j int32) int { return cmp.Compare(x.b.at(i).start, x.b.at(j).start) })
	return rows
}

// explainer describes attempts in sentences.
type explainer struct{ *evidence }

func (x *explainer) attempt(a *attempt) []string {
	b := x.b
	derived := !workload.Known(a.runnable)
	x.derive(a)
	where := ""
	if node := b.node(a); node != "" {
		where = fmt.Sprintf(" on %s, slot %d,", node, a.slot)
	}
	text := []string{fmt.Sprintf("Attempt %d of %s ran%s from %s to %s: %s.", a.number, b.name(a), where, seconds(a.start), seconds(a.finish), strings.ToLower(a.state.String()))}
	text = append(text, x.preempted(a)...)
	switch previous := b.previous(a); {
	case previous != nil && previous.finish > a.start:
		text = append(text, fmt.Sprintf("It was a speculative attempt: attempt %d of the task had run on %s since %s, and its progress was behind that of the other tasks of the job.", previous.number, b.node(previous), seconds(previous.start)))
		text = append(text, x.offered(a, false)...)
	case a.kind == workload.Setup:
		text = append(text, x.setUp(a)...)
	case a.kind <= workload.Reduce:
		if previous != nil {
			text = append(text, x.repeats(a, previous))
		}
		text = append(text, x.enabled(a, derived), x.waited(a))
		if offered := x.offered(a, true); len(offered) > 0 {
			text = append(text, offered...)
		} else {
			text = append(text, x.overtakers(a)...)
		}
	}
	switch a.locality {
	case workload.NodeLocal:
		text = append(text, "Its split was on this node.")
	case workload.RackLocal:
		text = append(text, "Its split was on another node of the rack.")
	case workload.OffRack:
		text = append(text, "Its split was in another rack.")
	}
	return append(text, x.spent(a)...)
}

// setUp says how long a set-up waited.
func (x *explainer) setUp(a *attempt) []string {
	j := x.b.jobs[a.job]
	if !workload.Known(j.launch) {
		return nil
	}
	text := j.submitted() + ". Its set-up takes the first slot that a heartbeat offers; all other tasks come after it."
	wait := (a.start - j.launch).Seconds()
	if wait < 0.05 {
		return []string{text}
	}
	text += fmt.Sprintf(" It waited %.1f s.", wait)
	if before := x.freed(a); before != nil && before.finish > j.launch {
		text += fmt.Sprintf(" Its slot was held by %s until %s.", x.b.name(before), seconds(before.finish))
	}
	return []string{text}
}

// repeats says why a task runs again after its last attempt.
func (x *explainer) repeats(a, last *attempt) string {
	text := fmt.Sprintf("It repeats attempt %d, which %s on %s at %s", last.number, map[workload.State]string{
		workload.Succeeded: "had succeeded, but whose output was lost,", workload.Failed: "failed", workload.Killed: "was killed",
	}[last.state], x.b.node(last), seconds(last.finish))
	const long = time.Second
	if workload.Known(a.runnable) && a.runnable > last.finish+long {
		text += fmt.Sprintf(". The JobTracker knew that at %s: it takes a TaskTracker as lost after a time without heartbeats (mapred.tasktracker.expiry.interval)", seconds(a.runnable))
	}
	return text + "."
}

// preempted says that the scheduler killed an attempt for another pool, and which attempt
// got its slot. An attempt of the task that still ran had won instead.
func (x *explainer) preempted(a *attempt) []string {
	if x.q == nil || x.q.Scheduler.Name != "fair2" || a.state != workload.Killed || a.kind > workload.Reduce {
		return nil
	}
	if preempts, err := x.q.Scheduler.Conf.For("fair2").Truth("mapred.fairscheduler.preemption"); err != nil || !preempts {
		return nil
	}
	var next *attempt
	for i := range int32(x.b.rows) {
		switch b := x.b.at(i); {
		case b == a || !b.timed() || b.kind != a.kind:
		case b.job == a.job && b.task == a.task && b.start < a.finish && b.finish >= a.finish:
			return nil
		case b.node == a.node && b.slot == a.slot && b.start >= a.finish && (next == nil || b.start < next.start):
			next = b
		}
	}
	text := "The scheduler killed it, because another pool had been below its share for as long as a timeout of preemption."
	if next != nil {
		text += fmt.Sprintf(" %s got its slot at %s.", x.b.name(next), seconds(next.start))
	}
	return []string{text}
}

// slowstart is the property that lets reduces start.
const slowstart = "mapred.reduce.slowstart.completed.maps"

// settings of a job: those of the question over those that its history has.
func (x *explainer) settings(j *job) workload.Conf {
	if x.q == nil {
		return j.conf
	}
	conf := j.conf.Over(x.q.Cluster.Conf)
	for i := range x.q.Jobs {
		if q := &x.q.Jobs[i]; q.ID == j.id {
			conf = conf.Over(q.Conf)
		}
	}
	return conf
}

// derive sets when an attempt could have been launched at the latest, where a history
// does not record it: after the initialisation and the set-up of its job, its last attempt,
// and for a reduce, as many maps as the slowstart asks for.
func (x *explainer) derive(a *attempt) {
	if workload.Known(a.runnable) || a.kind > workload.Reduce {
		return
	}
	b := x.b
	j := b.jobs[a.job]
	ready := max(j.submit, j.launch)
	if setup := b.setupBefore(j, a.start); setup != nil {
		ready = max(ready, setup.finish)
	}
	if previous := b.previous(a); previous != nil {
		ready = max(ready, min(previous.finish, a.start))
	}
	if a.kind == workload.Reduce {
		var ends []time.Duration
		for _, row := range j.won[workload.Map] {
			ends = append(ends, b.at(row).finish)
		}
		slices.Sort(ends)
		share, _ := x.settings(j).Number(slowstart)
		if n := min(len(ends), int(math.Ceil(share*float64(j.maps)))); n > 0 {
			ready = max(ready, ends[n-1])
		}
		for _, row := range j.won[workload.Reduce] { // another reduce ran earlier
			ready = min(ready, b.at(row).start)
		}
	}
	if ready <= a.start {
		a.runnable = ready
	}
}

// enabled says when the task could have been launched.
func (x *explainer) enabled(a *attempt, derived bool) string {
	if !workload.Known(a.runnable) {
		return "The run does not record when it could have been launched."
	}
	j := x.b.jobs[a.job]
	text := fmt.Sprintf("It could have been launched from %s on", seconds(a.runnable))
	if derived {
		text += ", as far as the history tells"
	}
	if a.kind == workload.Map {
		text += ". " + j.submitted()
		if setup := x.b.setupBefore(j, a.runnable); setup != nil {
			text += fmt.Sprintf("; its set-up ran from %s to %s, and maps come after it", seconds(setup.start), seconds(setup.finish))
		}
		return text + "."
	}
	done := 0
	for _, row := range j.won[workload.Map] {
		if x.b.at(row).finish <= a.runnable {
			done++
		}
	}
	p, _ := workload.FindProperty(slowstart)
	return text + fmt.Sprintf(", when the JobTracker knew that %d of the %d maps of the job had ended (%s = %s).", done, j.maps, slowstart, x.settings(j).String(slowstart, p.Default))
}

// submitted says when the job was submitted and initialised.
func (j *job) submitted() string {
	text := fmt.Sprintf("The job was submitted at %s", seconds(j.submit))
	if workload.Known(j.launch) && j.launch > j.submit {
		text += fmt.Sprintf(" and initialised until %s", seconds(j.launch))
	}
	return text
}

// silent returns the slot seconds of lost trackers while an attempt waited, and the
// trackers in words: their slots are free, but no heartbeat offers them.
func (x *explainer) silent(a *attempt) (slotSeconds float64, text string) {
	if x.q == nil {
		return 0, ""
	}
	trackers, first := 0, ""
	for i := range x.q.Cluster.Nodes {
		n := &x.q.Cluster.Nodes[i]
		if n.Dies == 0 || n.Dies >= a.start {
			continue
		}
		slots := n.MapSlots
		if a.kind == workload.Reduce {
			slots = n.ReduceSlots
		}
		slotSeconds += float64(slots) * (a.start - max(n.Dies, a.runnable)).Seconds()
		if trackers++; trackers == 1 {
			first = fmt.Sprintf(" The TaskTracker of %s sent no heartbeats from %s on, so its slots took no task.", n.Name, seconds(n.Dies))
		}
	}
	if trackers > 1 {
		return slotSeconds, fmt.Sprintf(" %d TaskTrackers sent no heartbeats any more, so their slots took no task.", trackers)
	}
	return slotSeconds, first
}

// waited says whether slots were free while the task waited, and which attempt
// held the slot before.
func (x *explainer) waited(a *attempt) string {
	switch {
	case !workload.Known(a.runnable):
		return ""
	case a.start <= a.runnable:
		return "It started as soon as it could."
	}
	wait := (a.start - a.runnable).Seconds()
	text := fmt.Sprintf("It waited %.1f s.", wait)
	slots, running := x.slots[a.kind], &x.running[a.kind]
	if slots == 0 || x.q != nil && x.q.Cluster.SharedSlots { // no kind has slots of its own
		return text
	}
	free := (running.freeTime(a.start) - running.freeTime(a.runnable)) / wait * float64(slots)
	lost, silent := x.silent(a)
	free -= lost / wait
	text += silent
	before := x.freed(a)
	switch {
	case free < 0.05:
		text += fmt.Sprintf(" On average all %d %s slots of the cluster were in use in that time.", slots, a.kind)
	default:
		text += fmt.Sprintf(" On average %.1f of the %d %s slots of the cluster were free in that time: a free slot gets a task only when its TaskTracker sends a heartbeat and the scheduler then chooses the task.", free, slots, a.kind)
	}
	switch {
	case before == nil:
		text += " No attempt had used its slot before."
	case before.finish > a.runnable:
		text += fmt.Sprintf(" Its slot was held by %s until %s", x.b.name(before), seconds(before.finish))
		if gap := a.start - before.finish; gap >= 50*time.Millisecond {
			text += fmt.Sprintf("; %.1f s later, with a heartbeat, it went to this task", gap.Seconds())
		}
		text += "."
	default:
		text += fmt.Sprintf(" Its slot had been free since %s ended at %s.", x.b.name(before), seconds(before.finish))
	}
	return text
}

// freed is the attempt that used the slot before. A set-up takes one of either kind.
func (x *explainer) freed(a *attempt) *attempt {
	var last *attempt
	for i := range int32(x.b.rows) {
		b := x.b.at(i)
		if b != a && (slotOf(b.kind) == slotOf(a.kind) || a.kind == workload.Setup) && b.node == a.node && b.slot == a.slot && b.timed() && b.finish <= a.start && (last == nil || b.finish > last.finish) {
			last = b
		}
	}
	return last
}

// slotOf returns the kind of slots that attempts of a kind hold.
func slotOf(k workload.Kind) workload.Kind {
	switch k {
	case workload.TaskCleanup:
		return workload.Map
	case workload.ReduceTaskCleanup:
		return workload.Reduce
	}
	return k
}

// overtakers says what was launched while the task waited.
func (x *explainer) overtakers(a *attempt) []string {
	if !workload.Known(a.runnable) || a.start <= a.runnable {
		return nil
	}
	own, others := 0, map[string]int{}
	total := 0
	for i := range int32(x.b.rows) {
		b := x.b.at(i)
		if b == a || b.kind != a.kind || !b.timed() || b.start < a.runnable || b.start >= a.start {
			continue
		}
		if b.job == a.job {
			own++
			continue
		}
		others[x.b.jobs[b.job].id]++
		total++
	}
	if own+total == 0 {
		return []string{fmt.Sprintf("No other %s was launched in that time.", a.kind)}
	}
	var parts []string
	if own > 0 {
		parts = append(parts, workload.Counted(own, "other "+a.kind.String()+" of its job", "other "+a.kind.String()+"s of its job"))
	}
	if total > 0 {
		ids := sortedKeys(others)
		slices.SortStableFunc(ids, func(p, q string) int { return others[q] - others[p] })
		parts = append(parts, fmt.Sprintf("%s of other jobs (%d of %s)", workload.Counted(total, a.kind.String(), a.kind.String()+"s"), others[ids[0]], ids[0]))
	}
	return []string{"Launched in that time: " + strings.Join(parts, ", ") + "."}
}

// spent divides the time of an attempt over its phases, beside the median of
// its peers.
func (x *explainer) spent(a *attempt) []string {
	took := a.finish - a.start
	var parts []string
	for p, d := range a.phases {
		if workload.Known(d) && d > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", workload.Phase(p), seconds(d)))
		}
	}
	text := fmt.Sprintf("It took %s", seconds(took))
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	text += "."
	if a.kind <= workload.Reduce {
		var all []float64
		for _, row := range x.b.jobs[a.job].won[a.kind] {
			all = append(all, (x.b.at(row).finish - x.b.at(row).start).Seconds())
		}
		if len(all) > 1 {
			text += fmt.Sprintf(" The median %s of the job took %.1f s.", a.kind, median(all))
		}
	}
	list := []string{text}
	if workload.Known(a.waitFetch) && a.waitFetch > 0 {
		last := x.b.lastMap(x.b.jobs[a.job])
		ended := "ended"
		if last <= a.start {
			ended = "had ended before, "
		}
		list = append(list, fmt.Sprintf("In its shuffle it waited %s for map outputs, or until it learned of them; the last map of the job %s at %s.", seconds(a.waitFetch), ended, seconds(last)))
	}
	if workload.Known(a.waitMemory) && a.waitMemory > 0 {
		list = append(list, fmt.Sprintf("In total, its copiers waited %s for room in the shuffle buffer.", time.Duration(a.waitMemory).Round(100*time.Millisecond)))
	}
	return list
}
