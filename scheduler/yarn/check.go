package yarn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model"
)

// Check returns why the ResourceManager would not start with the settings of a question,
// or would not take one of its jobs, and the properties of capacity-scheduler.xml and,
// where it is on, of the CapacityScheduler's preemption that nothing has read, sorted.
func Check(q *model.WhatIf) (unread []string, err error) {
	release, err := model.FindRelease(q.Cluster.Hadoop)
	if err != nil {
		return nil, err
	}
	r := &reader{p: q.YARN.Properties, release: release.YARN, read: make(map[string]bool)}
	s, err := newPolicy(q.YARN, r, nobody{})
	if err != nil {
		return nil, err
	}
	for i := range q.Cluster.Nodes {
		s.NodeAdded(&Node{Index: int32(i), Name: q.Cluster.Nodes[i].Name, Total: q.Cluster.Nodes[i].Resource})
	}
	seen := make(map[[2]string]bool)
	for i := range q.Jobs {
		j := &q.Jobs[i]
		size, err := model.AMSize(j.Conf)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", j.ID, err)
		}
		if most := s.Largest(); size.MemoryMiB > most.MemoryMiB || s.CountsVCores() && size.VCores > most.VCores {
			return nil, fmt.Errorf("job %s: its ApplicationMaster asks for %d MiB and %d vcores: the largest container has %d MiB and %d vcores (yarn.scheduler.maximum-allocation-mb, -vcores and the largest node)",
				j.ID, size.MemoryMiB, size.VCores, most.MemoryMiB, most.VCores)
		}
		key := [2]string{j.Queue, j.User}
		if seen[key] {
			continue
		}
		seen[key] = true
		a := &App{ID: int32(i), Attempt: 1, Name: j.ID, User: j.User, Queue: cmp.Or(j.Queue, "default"), Size: size}
		if err := s.AppAdded(a); err != nil {
			return nil, fmt.Errorf("job %s: %w", j.ID, err)
		}
		s.AttemptRemoved(a)
		s.AppRemoved(a)
	}
	if q.YARN.Policy == "capacity" {
		preempts := r.flag(monitorEnabled, false)
		for _, key := range sortedKeys(r.p) {
			if !r.read[key] && (strings.HasPrefix(key, capacityPrefix) || preempts && strings.HasPrefix(key, preemptionPrefix)) {
				unread = append(unread, key)
			}
		}
	}
	return slices.Clip(unread), nil
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
