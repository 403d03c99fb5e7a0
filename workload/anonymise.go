package workload

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Names gives users, jobs and machines new names. The same name gets the same
// new name for one seed. The zero Names is ready to use.
type Names struct {
	Seed  Seed
	taken map[string]string // new name -> old
	jobs  int
}

// of returns the new name of something; the empty name stays empty.
func (n *Names) of(kind, old string) string {
	if old == "" {
		return ""
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

// Anonymise replaces the names of users, jobs, queues, pools, paths and machines of a
// history and its topology, numbers the jobs anew, and removes the date of the record.
// Of each configuration it keeps only values that cannot identify anyone: numbers,
// sizes, truth values, Hadoop's own classes and heap sizes.
func (h *History) Anonymise(names *Names) *History {
	out := &History{Epoch: h.Epoch, Site: harmless(h.Site), Release: h.Release}
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
		slices.Sort(rack.Hosts)
		out.Topology.Racks = append(out.Topology.Racks, rack)
	}
	slices.SortFunc(out.Topology.Racks, func(a, b Rack) int { return cmp.Compare(a.Name, b.Name) })
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
