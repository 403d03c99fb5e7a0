package jobtracker

import "slices"

// taskLists are lists of tasks by key (a node or a rack). Each holds the
// unlaunched maps of one job that lie there, in the order of the tasks. A list
// is pruned only when it is searched: a task that is taken from one list stays in
// the others until a search reaches it (JobInProgress.nonRunningMapCache).
type taskLists struct {
	keys   []int32 // sorted; nil: the only key is 0
	lists  []taskList
	tasks  []int32 // nil: position i holds task i
	fronts map[int32][]int32
	open   bitset // with keys: those whose lists may hold tasks
	listed int32  // tasks from here on have not been listed
	more   func() // lists more of them; nil: none are left
}

// taskList is the part of a list that no search has reached: positions in
// taskLists.tasks.
type taskList struct{ next, end int32 }

// entry places a task at a key.
type entry struct{ key, task int32 }

// listMemory is used while lists are made.
type listMemory struct {
	entries []entry
	counts  []int32 // by key; 0 between uses
}

// sort makes lists for keys below n of the entries in the memory. Those of one key are
// given in the order of the tasks. Only keys with entries get a list.
func (l *taskLists) sort(n int, m *listMemory) {
	if len(m.counts) < n {
		m.counts = make([]int32, n)
	}
	distinct := 0
	for _, e := range m.entries {
		if m.counts[e.key]++; m.counts[e.key] == 1 {
			distinct++
		}
	}
	l.keys, l.lists, l.open = make([]int32, 0, distinct), make([]taskList, 0, distinct), newBitset(n)
	sum := int32(0)
	for key, count := range m.counts[:n] {
		if count > 0 {
			m.counts[key] = int32(len(l.keys))
			l.keys, l.lists = append(l.keys, int32(key)), append(l.lists, taskList{sum, sum})
			l.open.set(int32(key))
			sum += count
		}
	}
	l.tasks = make([]int32, len(m.entries))
	for _, e := range m.entries {
		list := &l.lists[m.counts[e.key]]
		l.tasks[list.end] = e.task
		list.end++
	}
	clear(m.counts[:n])
	m.keep()
}

// keep keeps the memory for the next lists, unless it is large.
func (m *listMemory) keep() {
	const most = 1 << 18
	if m.entries = m.entries[:0]; cap(m.entries) > most {
		m.entries = nil
	}
}

// oneList returns the lists for a single key that has every task.
func oneList(tasks int) taskLists {
	return taskLists{lists: []taskList{{0, int32(tasks)}}}
}

func (l *taskLists) find(key int32) (int, bool) {
	switch {
	case l.keys == nil:
		return int(key), int(key) < len(l.lists)
	case !l.open.has(key):
		return 0, false
	}
	return slices.BinarySearch(l.keys, key)
}

func (l *taskLists) at(i int32) int32 {
	if l.tasks == nil {
		return i
	}
	return l.tasks[i]
}

// putFront puts a task back at the head of a list (JobInProgress.failMap, 0.20).
func (l *taskLists) putFront(key, task int32) {
	if l.fronts == nil {
		l.fronts = make(map[int32][]int32)
	}
	l.fronts[key] = slices.Insert(l.fronts[key], 0, task)
}

// rest lists the entries that no search has reached.
func (l *taskLists) rest(yield func(entry) bool) {
	for i, list := range l.lists {
		for at := list.next; at < list.end; at++ {
			if !yield(entry{l.keys[i], l.tasks[at]}) {
				return
			}
		}
	}
}

// searchOthers searches the lists of all keys below n except one, in order.
func (l *taskLists) searchOthers(n, but int32, by *search) (int32, bool) {
	if l.more != nil || len(l.fronts) > 0 {
		for key := range n {
			if key != but {
				if task, ok := l.search(key, by); ok {
					return task, true
				}
			}
		}
		return 0, false
	}
	for i, key := range l.keys {
		if key != but {
			if task, ok := l.searchList(key, i, by); ok {
				return task, true
			}
		}
	}
	return 0, false
}

// size returns the length of a list, including tasks that a search would drop.
func (l *taskLists) size(key int32) int {
	n := 0
	if len(l.fronts) > 0 {
		n = len(l.fronts[key])
	}
	if i, ok := l.find(key); ok {
		n += int(l.lists[i].end - l.lists[i].next)
	}
	return n
}

// A decision says what a search does with a task.
type decision uint8

const (
	take decision = iota // remove it and stop
	drop                 // remove it and go on
	pass                 // leave it and go on
)

// search goes down a list until a task is taken (JobInProgress.findTaskFromList).
func (l *taskLists) search(key int32, by *search) (int32, bool) {
	if len(l.fronts) > 0 {
		if task, ok := l.searchFront(key, by); ok {
			return task, true
		}
	}
	for {
		if i, ok := l.find(key); ok {
			if task, ok := l.searchList(key, i, by); ok {
				return task, true
			}
		}
		if l.more == nil {
			if l.keys != nil {
				l.open.clear(key)
			}
			return 0, false
		}
		l.more()
	}
}

// empty reports whether a search down a list is known to find nothing and to change
// nothing.
func (l *taskLists) empty(key int32) bool {
	switch {
	case l.more != nil || len(l.fronts) > 0:
		return false
	case l.keys != nil:
		return !l.open.has(key)
	}
	return int(key) < len(l.lists) && l.lists[key].next == l.lists[key].end
}

// searchList goes down the i-th list, which is that of a key.
func (l *taskLists) searchList(key int32, i int, by *search) (int32, bool) {
	list := &l.lists[i]
	if launched := by.tasks.launched[by.kind]; launched != nil && l.tasks != nil {
		return list.nextUnlaunched(l.tasks, launched, by.failing)
	}
	for list.next < list.end {
		task := l.at(list.next)
		list.next++
		switch by.decide(task) {
		case take:
			return task, true
		case pass:
			if l.fronts == nil {
				l.fronts = make(map[int32][]int32)
			}
			l.fronts[key] = append(l.fronts[key], task)
		}
	}
	return 0, false
}

// nextUnlaunched goes down a list of tasks that have one attempt. A bit says of each
// whether it has been launched.
func (l *taskList) nextUnlaunched(tasks []int32, launched bitset, failing bool) (int32, bool) {
	if failing {
		l.next = l.end
	}
	for i, task := range tasks[l.next:l.end] {
		if !launched.has(task) {
			l.next += int32(i + 1)
			return task, true
		}
	}
	l.next = l.end
	return 0, false
}

func (l *taskLists) searchFront(key int32, by *search) (int32, bool) {
	rest, found := searchSlice(l.fronts[key], by)
	if len(rest) == 0 {
		delete(l.fronts, key)
	} else {
		l.fronts[key] = rest
	}
	if found < 0 {
		return 0, false
	}
	return found, true
}

// searchSlice searches a plain list and returns the rest of it and the task taken,
// or -1.
func searchSlice(tasks []int32, by *search) (rest []int32, found int32) {
	for i := 0; i < len(tasks); {
		task := tasks[i]
		switch by.decide(task) {
		case pass:
			i++
		case drop:
			tasks = slices.Delete(tasks, i, i+1)
		case take:
			return slices.Delete(tasks, i, i+1), task
		}
	}
	return tasks, -1
}
