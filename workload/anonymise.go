package workload

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Names gives users, jobs and machines new names. The same name gets the same
// new name for one seed; those of machines and racks depend on all of a history, because
// they keep their order, which decides on the nodes of a replay. The zero Names is ready
// to use.
type Names struct {
	Seed    Seed
	taken   map[string]string    // new name -> old
	ordered map[[2]string]string // new names by kind and old name
	jobs    int
}

// of returns the new name of something; the empty name stays empty.
func (n *Names) of(kind, old string) string {
	if old == "" {
		return ""
	}
	if name, ok := n.ordered[[2]string{kind, old}]; ok {
		return name
	}
	if n.taken == nil {
		n.taken = make(map[string]string)
	}
	for try := 0; ; try++ {
		name := kind + "-" + strconv.FormatUint(uint64(n.Seed.Named(kind).For(try).Named(old))>>24, 36)
		if was, ok := n.taken[name]; !ok || was == old {
			n.taken[name] = old
			return name
		}
	}
}

// inOrder gives names of a kind new ones in the same order.
func (n *Names) inOrder(kind string, old []string) {
	slices.Sort(old)
	of := Names{Seed: n.Seed.Named(strings.Join(old, "/"))}
	var fresh []string
	for _, name := range old {
		fresh = append(fresh, of.of(kind, name))
	}
	slices.Sort(fresh)
	for i, name := range old {
		n.ordered[[2]string{kind, name}] = fresh[i]
	}
}

// Anonymise replaces the names of users, jobs, queues, pools, paths and machines of a
// history and its topology, numbers the jobs anew, and removes the date of the record.
// Of each configuration it keeps only values that cannot identify anyone: numbers,
// sizes, truth values, Hadoop's own classes and heap sizes.
func (h *History) Anonymise(names *Names) *History {
	out := &History{Epoch: h.Epoch, Site: harmless(h.Site), Release: h.Release, Dropped: len(h.Problems) + h.Dropped}
	var racks, hosts []string
	for _, r := range h.Topology.Racks {
		racks, hosts = append(racks, r.Name), append(hosts, r.Hosts...)
	}
	names.ordered = map[[2]string]string{}
	names.inOrder("rack", racks)
	names.inOrder("host", hosts)
	for i := range h.Jobs {
		out.Jobs = append(out.Jobs, names.Job(&h.Jobs[i]))
	}
	for _, j := range h.Swim {
		j.ID, j.InputPath = names.id(), names.of("path", j.InputPath)
		out.Swim = append(out.Swim, j)
	}
	out.Topology.Listed = map[string]bool{}
	if out.Epoch != Unknown {
		out.Epoch = defaultEpoch
	}
	for _, r := range h.Topology.Racks {
		rack := Rack{Name: names.of("rack", r.Name)}
		for _, host := range r.Hosts {
			name := names.of("host", host)
			rack.Hosts = append(rack.Hosts, name)
			if h.Topology.Listed[host] {
				out.Topology.Listed[name] = true
			}
		}
		out.Topology.Racks = append(out.Topology.Racks, rack)
	}
	return out
}

// id numbers jobs in order.
func (n *Names) id() string {
	n.jobs++
	return fmt.Sprintf("job_201001010000_%04d", n.jobs)
}

// Job returns the job with new names.
func (n *Names) Job(j *HistoryJob) HistoryJob {
	m := j.renamed(n.id())
	m.Name, m.User, m.Pool, m.Queue = n.of("name", j.Name), n.of("user", j.User), n.of("pool", j.Pool), n.of("queue", j.Queue)
	m.Conf, m.Error = harmless(j.Conf), ""
	if !slices.Contains([]string{"JAVA", "PIG", "STREAMING", "PIPES", "OVERALL"}, j.Type) {
		m.Type = ""
	}
	for i := range m.Tasks {
		t := &m.Tasks[i]
		t.Split.Hosts = slices.Clone(t.Split.Hosts)
		for k, host := range t.Split.Hosts {
			t.Split.Hosts[k] = n.of("host", host)
		}
		for k := range t.Attempts {
			a := &t.Attempts[k]
			a.Node, a.Rack, a.Pool = n.of("host", a.Node), n.of("rack", a.Rack), m.Pool
			a.Tracker, a.Error = "", ""
		}
	}
	return m
}

// hadoopKey knows the names of properties that a user or a site did not choose, in
// which a queue or a company may stand.
func hadoopKey(key string) bool {
	p, known := FindProperty(key)
	return known && !strings.HasSuffix(p.Key, "*") ||
		slices.Contains([]string{"mapred.map.tasks", "mapred.reduce.tasks", "mapred.job.reuse.jvm.num.tasks", "hadoop.common.configuration.version"}, key)
}

// releaseNumber is the version of a configuration.
var releaseNumber = regexp.MustCompile(`^[0-9]{1,2}\.[0-9]{1,3}(\.[0-9]{1,3})?$`)

// hadoopClass knows the classes that the table of properties names.
var hadoopClass = regexp.MustCompile(`^org\.apache\.hadoop\.(io\.compress|mapred)\.[A-Z][A-Za-z0-9]{0,40}(Codec|Scheduler|Booster)$`)

// harmless keeps the properties whose values cannot identify anyone.
func harmless(c Conf) Conf {
	var kept Conf
	for _, key := range slices.Sorted(maps.Keys(c.values)) {
		value := strings.TrimSpace(c.values[key])
		switch _, err := ParseBytes(value); {
		case key == OriginalID || !hadoopKey(key):
			continue
		case err == nil, value == "true", value == "false", hadoopClass.MatchString(value), releaseNumber.MatchString(value):
		default:
			if _, err := strconv.ParseFloat(value, 64); err == nil {
				break
			}
			mb := HeapMB(value)
			if mb == Unknown {
				continue
			}
			value = fmt.Sprintf("-Xmx%dm", mb)
		}
		kept.Set(key, value)
	}
	return kept
}
