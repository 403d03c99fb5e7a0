package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// Change is one change of a question. Edit returns a changed copy of the question.
// It fails if there is nothing to change.
type Change struct {
	Text string
	Key  string // of the schema, or "node NAME"
	Edit func(model.WhatIf) (model.WhatIf, error)

	weight float64 // of the gain in the ranking; 0: that of the rule which proposes it
}

// ofCluster reports whether the change is the same whichever job proposes it.
func (c *Change) ofCluster() bool {
	return slices.ContainsFunc([]string{"node ", "cluster.", "scheduler.", "network."}, func(p string) bool { return strings.HasPrefix(c.Key, p) })
}

// weighs is the weight of a change that a rule proposes for a question.
func (c *Change) weighs(q *model.WhatIf) float64 {
	if c == nil {
		return weightSet
	}
	return cmp.Or(c.weight, weightOf(q, c.Key))
}

// of sets the key of a change.
func (c *Change) of(key string) *Change {
	c.Key = key
	return c
}

// asItIs is the error of a change that the question already has.
type asItIs string

func (a asItIs) Error() string { return string(a) }

func inQuestion(format string, args ...any) error {
	return asItIs(fmt.Sprintf(format+" in the scenario", args...))
}

// editJob changes a job of the question, or all of them where none has its id.
func (s *scene) editJob(text string, edit func(*workload.Job) error) *Change {
	id := s.job.id
	return &Change{Text: text, Edit: func(q model.WhatIf) (model.WhatIf, error) {
		q.Jobs = slices.Clone(q.Jobs)
		found := false
		for i := range q.Jobs {
			if q.Jobs[i].ID == id || len(q.Jobs) == 1 {
				found = true
				if err := edit(&q.Jobs[i]); err != nil {
					return q, err
				}
			}
		}
		if !found {
			return q, fmt.Errorf("job %s is not in the scenario", id)
		}
		return q, nil
	}}
}

// setOthers sets a Hadoop property of other jobs.
func setOthers(ids []string, key, value string) *Change {
	var top workload.Conf
	top.Set(key, value)
	return &Change{Text: fmt.Sprintf("%s = %s for %s", key, value, strings.Join(ids, ", ")), Key: key, Edit: func(q model.WhatIf) (model.WhatIf, error) {
		q.Jobs = slices.Clone(q.Jobs)
		for i := range q.Jobs {
			if slices.Contains(ids, q.Jobs[i].ID) {
				q.Jobs[i].Conf = q.Jobs[i].Conf.Over(top)
			}
		}
		return q, nil
	}}
}

// setConf sets Hadoop properties of the job: key, value, key, value.
func (s *scene) setConf(pairs ...string) *Change {
	var text []string
	var top workload.Conf
	for i := 0; i < len(pairs); i += 2 {
		text = append(text, pairs[i]+" = "+pairs[i+1])
		top.Set(pairs[i], pairs[i+1])
	}
	return s.editJob(strings.Join(text, ", "), func(j *workload.Job) error {
		j.Conf = j.Conf.Over(top)
		return nil
	}).of(pairs[0])
}

// editCluster changes the cluster; nodes, machines and loads are copies.
func editCluster(key, text string, edit func(*model.Cluster) error) *Change {
	return edited(key, text, func(q *model.WhatIf) error { return edit(&q.Cluster) })
}

// findNode returns the index of a node of the cluster.
func findNode(c *model.Cluster, name string) (int, error) {
	i := slices.IndexFunc(c.Nodes, func(n model.Node) bool { return n.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("node %s is not in the cluster", name)
	}
	return i, nil
}

// repair sets a device of a node, or without a device the whole node, to the speed
// of its peers.
func repair(node, device string) *Change {
	text := fmt.Sprintf("%s of %s", device, node)
	if device == "" {
		text = node
	}
	return editCluster("node "+node, text+" at the nominal speed", func(c *model.Cluster) error {
		i, err := findNode(c, node)
		if err != nil {
			return err
		}
		changed := c.Nodes[i].Slowness > 1
		c.Nodes[i].Slowness = 1
		if len(c.Machines) == 0 {
			if !changed {
				return inQuestion("%s has the nominal speed", node)
			}
			return nil
		}
		own, peer := c.Machines[c.Nodes[i].Machine], c.Machines[c.UsualMachine()]
		fixed := own
		switch {
		case device == "":
			changed = changed || c.Nodes[i].Machine != c.UsualMachine()
			fixed = peer
		case strings.HasPrefix(device, "disk"):
			fixed.Disks = slices.Clone(own.Disks)
			for k := range fixed.Disks {
				if k < len(peer.Disks) && (device == "disk" || device == "disk"+strconv.Itoa(k)) {
					changed = changed || fixed.Disks[k] != peer.Disks[k]
					fixed.Disks[k] = peer.Disks[k]
				}
			}
		case isNetwork(device):
			changed = changed || own.NIC != peer.NIC
			fixed.NIC = peer.NIC
		default:
			changed = changed || own.Speed != peer.Speed || own.Cores != peer.Cores || !slices.Equal(own.SMT, peer.SMT)
			fixed.Speed, fixed.Cores, fixed.SMT = peer.Speed, peer.Cores, peer.SMT
		}
		if !changed {
			return inQuestion("%s has the nominal speed", text)
		}
		c.Machines = append(c.Machines, fixed)
		c.Nodes[i].Machine = len(c.Machines) - 1
		return nil
	})
}

// unload removes the foreign load from a node's device. If paused is set, it
// removes only loads that leave no capacity to Hadoop.
func unload(node, device string, paused bool) *Change {
	text := fmt.Sprintf("no foreign load on %s of %s", device, node)
	if paused {
		text = fmt.Sprintf("%s does not stand still", node)
	}
	return editCluster("node "+node, text, func(c *model.Cluster) error {
		i, err := findNode(c, node)
		if err != nil {
			return err
		}
		before := len(c.Loads)
		c.Loads = slices.DeleteFunc(c.Loads, func(l model.Load) bool {
			if l.Node != i || paused && l.Share < 0.99 {
				return false
			}
			on := []string{"disk", "cpu", "network"}[l.Device]
			return paused || strings.HasPrefix(device, on) || isNetwork(device) && l.Device == model.LoadNetwork
		})
		if len(c.Loads) == before {
			return inQuestion("there is no such load")
		}
		return nil
	})
}

// setReduces gives the job another number of reduces.
func (s *scene) setReduces(n int) *Change {
	return s.editJob(fmt.Sprintf("mapred.reduce.tasks = %d", n), func(j *workload.Job) error {
		r := &j.Reduces
		if reduceTimesGiven(r) {
			return fmt.Errorf("the scenario gives the times of the reduces of job %s", j.ID)
		}
		if r.Count == n || n < 1 {
			return fmt.Errorf("job %s has %d reduces already", j.ID, r.Count)
		}
		r.Resize(n)
		return nil
	}).of("job.reduces")
}

// reduceTimesGiven reports whether the times of reduces are given. They do not follow from
// the work then, of which another number of reduces would have more or less.
func reduceTimesGiven(r *workload.ReduceTasks) bool {
	return r.Shuffle.Set() || r.Copy.Set() || r.Sort.Set() || r.Time.Set() || r.FirstWave.Set()
}

// evenReduces gives every reduce the same part of the map output.
func (s *scene) evenReduces() *Change {
	return s.editJob("even partitions", func(j *workload.Job) error {
		if j.Reduces.Shares == nil {
			return inQuestion("the partitions of %s are even", j.ID)
		}
		j.Reduces.Shares = nil
		return nil
	})
}

// combineSplits joins every n splits into one.
func (s *scene) combineSplits(factor int) *Change {
	return s.editJob(fmt.Sprintf("%d splits combined into one", factor), func(j *workload.Job) error { return joinSplits(j, factor) }).of("dfs.block.size")
}

// joinSplits joins every n splits of a job into one.
func joinSplits(j *workload.Job, factor int) error {
	m := &j.Maps
	if len(m.Time.Each) > 0 {
		return fmt.Errorf("the scenario lists the time of each map of job %s", j.ID)
	}
	n := (m.Count + factor - 1) / factor
	var splits []workload.Split
	for i := 0; i < len(m.Splits); i += factor {
		joined := workload.Split{Hosts: m.Splits[i].Hosts}
		for _, split := range m.Splits[i:min(i+factor, len(m.Splits))] {
			joined.Bytes += split.Bytes
		}
		splits = append(splits, joined)
	}
	if m.Time.All > 0 {
		m.Time.All = workload.Seconds(m.Time.All.Seconds() * float64(m.Count) / float64(n))
	}
	m.Count, m.Splits, m.Shares, m.Ends = n, splits, nil, nil
	return nil
}

// divideSplits makes n splits of each split of a job.
func divideSplits(j *workload.Job, n int) error {
	m := &j.Maps
	if len(m.Time.Each) > 0 {
		return fmt.Errorf("the scenario lists the time of each map of job %s", j.ID)
	}
	var splits []workload.Split
	for _, split := range m.Splits {
		for i := range int64(n) {
			part := split
			part.Bytes = split.Bytes*(i+1)/int64(n) - split.Bytes*i/int64(n)
			splits = append(splits, part)
		}
	}
	if m.Time.All > 0 {
		m.Time.All = workload.Seconds(m.Time.All.Seconds() / float64(n))
	}
	m.Count, m.Splits, m.Shares, m.Ends = m.Count*n, splits, nil, nil
	return nil
}

// noFailures makes every attempt succeed and keeps every node alive.
func noFailures() *Change {
	return edited("", "no attempt fails", func(q *model.WhatIf) error {
		changed := false
		for i := range q.Jobs {
			changed = changed || len(q.Jobs[i].AttemptEnds()) > 0
			q.Jobs[i].DropAttemptEnds()
		}
		for i := range q.Cluster.Nodes {
			n := &q.Cluster.Nodes[i]
			changed = changed || n.Dies > 0 || n.FailAfter > 0
			n.Dies, n.FailAfter = 0, 0
		}
		if !changed {
			return inQuestion("nothing fails")
		}
		return nil
	})
}

// shareSlots combines the map and reduce slots of each node.
func shareSlots() *Change {
	return editCluster("cluster.shared_slots", "shared slots", func(c *model.Cluster) error {
		if c.SharedSlots {
			return inQuestion("slots are shared")
		}
		c.SharedSlots = true
		return nil
	})
}

// setScheduler replaces the scheduler.
func setScheduler(name string) *Change {
	return edited("scheduler.name", "scheduler "+name, func(q *model.WhatIf) error { q.Scheduler.Name = name; return nil })
}

// setHeartbeat sets the interval of the heartbeats of every tracker; 0: that of the release.
func setHeartbeat(text string, every time.Duration) *Change {
	return edited("cluster.heartbeat", text, func(q *model.WhatIf) error { q.Cluster.Heartbeat, q.Cluster.Phases = every, nil; return nil })
}

// freeCopies removes the processor cost of fetching map outputs, as if network
// interfaces did the work.
func freeCopies() *Change {
	return editCluster("", "fetches cost no processor time", func(c *model.Cluster) error {
		changed := false
		for i := range c.Machines {
			changed = changed || c.Machines[i].CPU.Fetch > 0
			c.Machines[i].CPU.Fetch = 0
		}
		if !changed {
			return inQuestion("fetches cost no processor time")
		}
		return nil
	})
}

// join combines several changes.
func join(changes []*Change) *Change {
	var text []string
	for _, c := range changes {
		text = append(text, c.Text)
	}
	return &Change{Text: strings.Join(text, "; "), Key: changes[0].Key, Edit: func(q model.WhatIf) (model.WhatIf, error) {
		made := false
		var same error
		for _, c := range changes {
			changed, err := c.Edit(q)
			if errors.As(err, new(asItIs)) { // one of the others may have made it
				same = err
				continue
			}
			if err != nil {
				return q, err
			}
			q, made = changed, true
		}
		if !made {
			return q, same
		}
		return q, nil
	}}
}

// sortedKeys lists the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
