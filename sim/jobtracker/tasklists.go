package jobtracker

import "slices"

// taskLists are lists of tasks by key (a node or a rack). Each holds the
// unlaunched maps of one job that lie there, in the order of the tasks. A list
// is pruned only when it is searched: a task that is taken from one list stays in
// the others until a search reaches it (JobInProgress.nonRunningMapCache).
type taskLists struct {
	keys   []int32 // sorted; nil: every key 0..len(lists)-1 has a list
	lists  []taskList
	tasks  []int32 // nil: position i holds task i
	fronts map[int32][]int32
	open   []uint64 // with keys: bits of those whose lists may hold tasks
	from   int32    // lists of lower keys are empty
	listed int32    // tasks from here on have not been listed
	more   func()   // lists more of them; nil: none are left
}

// taskList is the part of a list that no search has reached: positions in
// taskLists.tasks.
type taskList struct{ next, end int32 }

// entry places a task at a key.
type entry struct{ key, task int32 }

// sort makes lists for keys below n of entries. Those of one key are given in the
// order of the tasks.
func (l *taskLists) sort(n int, entries []entry) {
	l.tasks = make([]int32, len(entries))
	if few(n, len(entries)) {
		var space [sortedInPlace]uint64
		order := space[:0]
		for _, e := range entries {
			order = append(order, uint64(e.key)<<32|uint64(e.task))
		}
		l.sortFew(n, order)
		return
	}
	l.keys, l.lists = nil, make([]taskList, n)
	for _, e := range entries {
		l.lists[e.key].end++
	}
	l.begin()
	for _, e := range entries {
		list := &l.lists[e.key]
		l.tasks[list.end] = e.task
		list.end++
	}
}

// sortAll does the same for all tasks from 0 on, each of which has so many keys. A
// negative one stands for none.
func (l *taskLists) sortAll(n int, keys []int32, each int) {
	l.tasks = make([]int32, len(keys))
	if few(n, len(keys)) {
		var space [sortedInPlace]uint64
		order := space[:0]
		for i, key := range keys {
			if key >= 0 {
				order = append(order, uint64(key)<<32|uint64(i/each))
			}
		}
		l.sortFew(n, order)
		return
	}
	lists, tasks := make([]taskList, n), l.tasks
	l.keys, l.lists = nil, lists
	for _, key := range keys {
		if key >= 0 {
			lists[key].end++
		}
	}
	l.begin()
	task, left := int32(0), each
	for _, key := range keys {
		if key >= 0 {
			end := &lists[key].end
			tasks[*end] = task
			*end++
		}
		if left--; left == 0 {
			task, left = task+1, each
		}
	}
}

// few reports whether so few entries have keys below n that only the keys with
// entries get a list. A key of its own costs as much memory as a list.
func few(n, entries int) bool { return entries*4 < n }

// sortedInPlace is the number of entries that are sorted without memory of their own.
const sortedInPlace = 128

// begin places the lists, whose lengths are known, one after the other, all empty.
func (l *taskLists) begin() {
	sum := int32(0)
	for i := range l.lists {
		list := &l.lists[i]
		n := list.end
		*list = taskList{sum, sum}
		sum += n
	}
}

// sortFew makes lists only for the keys that have entries. Their tasks follow each
// other under each key, so key and task are sorted as one number.
func (l *taskLists) sortFew(n int, order []uint64) {
	slices.Sort(order)
	l.keys, l.lists = make([]int32, 0, len(order)), make([]taskList, 0, len(order))
	l.open = make([]uint64, (n+63)/64)
	for i, x := range order {
		key := int32(x >> 32)
		if len(l.keys) == 0 || l.keys[len(l.keys)-1] != key {
			l.keys = append(l.keys, key)
			l.open[key/64] |= 1 << (key % 64)
			l.lists = append(l.lists, taskList{next: int32(i)})
		}
		l.tasks[i] = int32(x)
		l.lists[len(l.lists)-1].end = int32(i + 1)
	}
}

// rest lists the entries that no search has reached.
func (l *taskLists) rest(yield func(entry) bool) {
	for i, list := range l.lists {
		key := int32(i)
		if l.keys != nil {
			key = l.keys[i]
		}
		for at := list.next; at < list.end; at++ {
			if !yield(entry{key, l.tasks[at]}) {
				return
			}
		}
	}
}

// oneList returns the lists for a single key that has every task.
func oneList(tasks int) taskLists {
	return taskLists{lists: []taskList{{0, int32(tasks)}}}
}

func (l *taskLists) find(key int32) (int, bool) {
	if l.keys == nil {
		return int(key), int(key) < len(l.lists)
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
	l.from = min(l.from, max(key, 0))
}

// searchOthers searches the lists of all keys below n except one, in order.
func (l *taskLists) searchOthers(n, but int32, by *search) (int32, bool) {
	if l.keys != nil && l.more == nil && len(l.fronts) == 0 {
		return l.searchOtherLists(but, by)
	}
	for key := l.from; key < n; key++ {
		if key != but {
			if task, ok := l.search(key, by); ok {
				return task, true
			}
		}
		if key == l.from && l.more == nil && l.size(key) == 0 {
			l.from++
		}
	}
	return 0, false
}

// searchOtherLists searches the lists of all keys that have one, except one key.
func (l *taskLists) searchOtherLists(but int32, by *search) (int32, bool) {
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
				l.open[key/64] &^= 1 << (key % 64)
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
		return l.open[key/64]>>(key%64)&1 == 0
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
func (l *taskList) nextUnlaunched(tasks []int32, launched []uint64, failing bool) (int32, bool) {
	if failing {
		l.next = l.end
	}
	for i, task := range tasks[l.next:l.end] {
		if launched[task/64]>>(uint32(task)%64)&1 == 0 {
			l.next += int32(i + 1)
			return task, true
		}
	}
	l.next = l.end
	return 0, false
}

func (l *taskLists) searchFront(key int32, by *search) (int32, bool) {
	front := l.fronts[key]
	rest, found := searchSlice(front, by)
	if len(rest) == 0 {
		delete(l.fronts, key)
	} else if len(rest) != len(front) {
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
