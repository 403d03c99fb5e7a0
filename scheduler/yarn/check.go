package yarn

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// Check returns why the ResourceManager would not start with the settings of a question,
// or would not take one of its jobs, and the properties of capacity-scheduler.xml and,
// where it is on, of the CapacityScheduler's preemption that nothing has read, beside all
// that were looked for, sorted.
func Check(q *model.WhatIf) (unread, sought []string, err error) {
	release, err := model.FindRelease(q.Cluster.Hadoop)
	if err != nil {
		return nil, nil, err
	}
	r := &reader{p: q.YARN.Properties, release: release.YARN, read: make(map[string]bool)}
	s, err := newPolicy(q.YARN, r, nobody{})
	if err != nil {
		return r.unread(false), sortedKeys(r.read), err
	}
	for i := range q.Cluster.Nodes {
		s.NodeAdded(&Node{Index: int32(i), Name: q.Cluster.Nodes[i].Name, Total: q.Cluster.Nodes[i].Resource})
	}
	var largest Resource
	for i := range q.Cluster.Nodes {
		largest = largest.Max(q.Cluster.Nodes[i].Resource)
	}
	paths := make(map[[2]string]string) // of queues, by name and user
	for i := range q.Jobs {
		j := &q.Jobs[i]
		size, err := model.AMSize(j.Conf)
		if err != nil {
			return nil, nil, fmt.Errorf("job %s: %w", j.ID, err)
		}
		key := [2]string{j.Queue, j.User}
		if paths[key] == "" {
			a := &App{ID: int32(i), Attempt: 1, Name: j.ID, User: j.User, Queue: cmp.Or(j.Queue, "default"), Size: size}
			var rejected *Rejection
			switch err := s.AppAdded(a); {
			case errors.As(err, &rejected) && rejected != errFull:
				continue // the run goes on without it
			case err != nil:
				return nil, nil, &RefusedJob{Job: j.ID, Key: "queue", What: err.Error()}
			}
			paths[key] = a.Path
			s.AttemptRemoved(a)
			s.AppRemoved(a)
		}
		if err := fits(s, release.YARN, j, paths[key], size, largest); err != nil {
			return nil, nil, err
		}
	}
	if q.YARN.Policy == "capacity" {
		unread = r.unread(r.flag(monitorEnabled, false))
	}
	return unread, sortedKeys(r.read), nil
}

// unread lists the settings of queues, and of preemption, that nothing has asked for.
func (r *reader) unread(preempts bool) (keys []string) {
	for _, key := range sortedKeys(r.p) {
		if !r.read[key] && (strings.HasPrefix(key, capacityPrefix) || preempts && strings.HasPrefix(key, preemptionPrefix)) {
			keys = append(keys, key)
		}
	}
	return keys
}

// RefusedJob is the error of a job that the ResourceManager would not run.
type RefusedJob struct {
	Job   string // its ID
	Key   string // of the job: queue or a property of Hadoop
	Limit string // key that the value is beyond; empty: none
	What  string
}

func (e *RefusedJob) Error() string { return "job " + e.Job + ": " + e.Key + ": " + e.What }

// maximumKey is the setting of the largest container in a queue: that of the cluster, or of
// the queue itself or one above it.
func maximumKey(s Scheduler, path, part string, of func(Resource) int64) string {
	switch s := s.(type) {
	case *capacity:
		for q := s.paths[path]; q != nil && of(q.largest) < of(s.most); q = q.parent {
			if q.parent == nil || of(q.parent.largest) != of(q.largest) {
				return capacityPrefix + q.path + ".maximum-allocation-" + part
			}
		}
	case *fair:
		for q := s.queues[path]; q != nil; q = q.parent {
			if q.largest == nil {
				continue
			}
			if of(*q.largest) < of(s.most) {
				return "queue " + q.path + ": maxContainerAllocation"
			}
			break
		}
	}
	return "yarn.scheduler.maximum-allocation-" + part
}

// fits refuses a job whose containers no node or no limit of its queue allows: its
// ApplicationMaster, of a size, would end (RMContainerAllocator), or never start.
func fits(s Scheduler, release *model.YARNRelease, j *workload.Job, path string, master, largest Resource) error {
	within := func(key, limit, of string, asked, most, node int64) error {
		switch {
		case asked <= most:
			return nil
		case most < node:
			return &RefusedJob{j.ID, key, limit, fmt.Sprintf("%d: want at most %d, %s", asked, most, limit)}
		}
		return &RefusedJob{j.ID, key, of, fmt.Sprintf("%d: want at most %d, the %s of the largest node", asked, most, of[len("cluster."):])}
	}
	most := s.Largest(path)
	memoryKey := maximumKey(s, path, "mb", func(r Resource) int64 { return r.MemoryMiB })
	vcoresKey := maximumKey(s, path, "vcores", func(r Resource) int64 { return r.VCores })
	check := func(memory, vcores string, size Resource) error {
		if err := within(memory, memoryKey, "cluster.memory", size.MemoryMiB, most.MemoryMiB, largest.MemoryMiB); err != nil || !s.CountsVCores() && !release.QueueAmounts {
			return err // from 3.0 on a request is looked at before what does not count is dropped
		}
		return within(vcores, vcoresKey, "cluster.vcores", size.VCores, most.VCores, largest.VCores)
	}
	err := check("yarn.app.mapreduce.am.resource.mb", "yarn.app.mapreduce.am.resource.cpu-vcores", master)
	for _, g := range j.Containers {
		if err == nil {
			err = check("memory of a container", "vcores of a container", Resource{MemoryMiB: g.MemoryMiB, VCores: g.VCores})
		}
	}
	for kind, tasks := range []int{j.Maps.Count, j.Reduces.Count} {
		if kind := workload.Kind(kind); err == nil && tasks > 0 && j.Containers == nil {
			var size Resource
			if size, err = release.TaskSize(j.Conf, kind); err == nil {
				err = check("mapreduce."+kind.String()+".memory.mb", "mapreduce."+kind.String()+".cpu.vcores", size)
			}
		}
	}
	return err
}

// Bounds are what a leaf is guaranteed and what it may use at most.
type Bounds struct {
	Path        string
	Least, Most Resource
}

// Queues returns the bounds of the leafs of a cluster, by path: of the CapacityScheduler
// their capacities, of the FairScheduler minResources and maxResources. The
// FifoScheduler has none.
func Queues(q *model.WhatIf, release *model.YARNRelease) ([]Bounds, error) {
	s, err := New(q.YARN, release, nobody{})
	if err != nil {
		return nil, err
	}
	for i := range q.Cluster.Nodes {
		s.NodeAdded(&Node{Index: int32(i), Name: q.Cluster.Nodes[i].Name, Total: q.Cluster.Nodes[i].Resource})
	}
	var list []Bounds
	switch s := s.(type) {
	case *capacity:
		for _, l := range s.leafs {
			list = append(list, Bounds{l.q.path, l.q.guaranteed, l.q.maximum})
		}
	case *fair:
		for _, l := range s.leafs {
			list = append(list, Bounds{l.path, l.leastShare, l.most().Min(s.total)})
		}
	}
	slices.SortFunc(list, func(a, b Bounds) int { return cmp.Compare(a.Path, b.Path) })
	return list, nil
}

// nobody hears nothing and never calls back.
type nobody struct{}

func (nobody) Reserved(*Container)             {}
func (nobody) Allocated(*Container)            {}
func (nobody) Acquired(*Container)             {}
func (nobody) Finished(*Container, Exit, bool) {}
func (nobody) Nanos() int64                    { return 0 }
func (nobody) After(int64, func()) func()      { return func() {} }
func (nobody) Post(func())                     {}
func (nobody) Name(Place) string               { return "" }
