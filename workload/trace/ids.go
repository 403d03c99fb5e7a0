package trace

import (
	"fmt"
	"math"
	"strings"

	"github.com/slotwave/slotwave/workload"
)

// trackerHost returns the host in a TaskTracker's name,
// tracker_host:localhost/127.0.0.1:58165.
func trackerHost(tracker string) string {
	host, ok := strings.CutPrefix(tracker, "tracker_")
	if !ok {
		return ""
	}
	if i := strings.IndexByte(host, ':'); i >= 0 {
		host = host[:i]
	}
	return host
}

// unescape removes the escapes of the job history, which old traces kept: a
// backslash before a dot, an equals sign, a quote or a backslash.
func unescape(s string) string {
	i := strings.IndexByte(s, '\\')
	if i < 0 || i+1 == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for ; i >= 0 && i+1 < len(s); i = strings.IndexByte(s, '\\') {
		b.WriteString(s[:i])
		if !strings.ContainsRune(`."=\`, rune(s[i+1])) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i+1])
		s = s[i+2:]
	}
	b.WriteString(s)
	return b.String()
}

// jobNumber splits job_TRACKER_0012, where TRACKER is when the JobTracker started. Other
// ids, which a user chose, have number 0.
func jobNumber(id string) (tracker string, number int) {
	rest, ok := strings.CutPrefix(id, "job_")
	if !ok {
		return "", 0
	}
	tracker, last, _ := strings.Cut(rest, "_")
	if number, ok = ordinal(last); !ok {
		return "", 0
	}
	return tracker, number
}

// taskID splits task_JOB_m_000012 into its parts; job is returned without its
// prefix.
func taskID[T string | []byte](id T) (job T, reduceSlot bool, number int, ok bool) {
	const prefix = "task_"
	if len(id) < len(prefix) || string(id[:len(prefix)]) != prefix {
		return job, false, 0, false
	}
	return splitID(id[len(prefix):])
}

// attemptID splits attempt_JOB_m_000012_0 into its parts.
func attemptID[T string | []byte](id T) (job T, reduceSlot bool, task, number int, ok bool) {
	const prefix = "attempt_"
	if len(id) < len(prefix) || string(id[:len(prefix)]) != prefix {
		return job, false, 0, 0, false
	}
	rest := id[len(prefix):]
	i := lastUnderscore(rest)
	if i < 0 {
		return job, false, 0, 0, false
	}
	number, ok = ordinal(rest[i+1:])
	if !ok {
		return job, false, 0, 0, false
	}
	job, reduceSlot, task, ok = splitID(rest[:i])
	return job, reduceSlot, task, number, ok
}

func splitID[T string | []byte](rest T) (job T, reduceSlot bool, number int, ok bool) {
	i := lastUnderscore(rest)
	if i < 3 || rest[i-2] != '_' || (rest[i-1] != 'm' && rest[i-1] != 'r') {
		return job, false, 0, false
	}
	number, ok = ordinal(rest[i+1:])
	return rest[:i-2], rest[i-1] == 'r', number, ok
}

func lastUnderscore[T string | []byte](s T) int {
	i := len(s) - 1
	for i >= 0 && s[i] != '_' {
		i--
	}
	return i
}

// ordinal reads the number of a task or an attempt.
func ordinal[T string | []byte](s T) (int, bool) {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		if n = n*10 + int(s[i]-'0'); n > math.MaxInt32 {
			return 0, false
		}
	}
	return n, len(s) > 0
}

// bareID returns a job's id without its prefix, as task and attempt ids carry
// it.
func bareID(job string) string { return strings.TrimPrefix(job, "job_") }

func slotLetter(reduceSlot bool) byte {
	if reduceSlot {
		return 'r'
	}
	return 'm'
}

// taskName returns the id of a task.
func taskName(job string, t *workload.HistoryTask) string {
	return fmt.Sprintf("task_%s_%c_%06d", bareID(job), slotLetter(t.ReduceSlot), t.Number)
}

// attemptName returns the id of an attempt. Set-up and clean-up attempts count
// as running in a map slot unless the task says otherwise, because their
// numbers come from there.
func attemptName(a *workload.HistoryAttempt) string {
	return attemptNameIn(a, a.Kind == workload.Reduce)
}

func attemptNameIn(a *workload.HistoryAttempt, reduceSlot bool) string {
	return fmt.Sprintf("attempt_%s_%c_%06d_%d", bareID(a.Job), slotLetter(reduceSlot), a.Task, a.Number)
}

// taskTypes are Hadoop's names of the kinds (TaskType).
var taskTypes = [...]string{"MAP", "REDUCE", "SETUP", "CLEANUP", "TASK_CLEANUP"}

var taskKinds = map[string]workload.Kind{
	"MAP": workload.Map, "REDUCE": workload.Reduce, "SETUP": workload.Setup, "JOB_SETUP": workload.Setup, "CLEANUP": workload.Cleanup, "JOB_CLEANUP": workload.Cleanup, "TASK_CLEANUP": workload.TaskCleanup,
}
