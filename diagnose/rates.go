package diagnose

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"
	"time"
)

// useSeries is the use of one device of one node over time.
type useSeries struct {
	node, device string
	rows         []Usage
	work         []float64 // prefix sums of busy seconds
	bytes        []float64 // of bytes
	foreign      []float64 // of foreign busy seconds
}

// length returns the duration of a row. The last one is as long as the one
// before it.
func (s *useSeries) length(i int) float64 {
	switch {
	case i+1 < len(s.rows):
		return (s.rows[i+1].Time - s.rows[i].Time).Seconds()
	case i > 0:
		return (s.rows[i].Time - s.rows[i-1].Time).Seconds()
	}
	return 0
}

// resources holds the devices of all nodes by device name, with nodes in order.
type resources struct {
	series  []*useSeries
	devices map[string][]*useSeries
	names   []string
}

// newResources sorts the rows of resources.csv by node and device.
func newResources(rows []Usage) *resources {
	r := &resources{devices: map[string][]*useSeries{}}
	type key struct{ node, device string }
	at := map[key]*useSeries{}
	for _, u := range rows {
		if u.Node == allNodes {
			continue
		}
		s := at[key{u.Node, u.Device}]
		if s == nil {
			s = &useSeries{node: u.Node, device: u.Device}
			at[key{u.Node, u.Device}] = s
			r.series = append(r.series, s)
		}
		s.rows = append(s.rows, u)
	}
	slices.SortStableFunc(r.series, func(a, b *useSeries) int {
		return cmp.Or(cmp.Compare(a.device, b.device), cmp.Compare(a.node, b.node))
	})
	for _, s := range r.series {
		slices.SortStableFunc(s.rows, func(a, b Usage) int { return cmp.Compare(a.Time, b.Time) })
		var busy, bytes, foreign float64
		for i, u := range s.rows {
			busy += u.Busy * s.length(i)
			bytes += float64(u.Bytes)
			foreign += u.ForeignBusy * s.length(i)
			s.work, s.bytes = append(s.work, busy), append(s.bytes, bytes)
			s.foreign = append(s.foreign, foreign)
		}
		if len(r.devices[s.device]) == 0 {
			r.names = append(r.names, s.device)
		}
		r.devices[s.device] = append(r.devices[s.device], s)
	}
	return r
}

// allNodes stands for the whole cluster in the node column of resources.csv.
const allNodes = "*"

// mean returns the mean of a prefix sum per second between two times, where
// there are rows.
func (s *useSeries) mean(sums []float64, from, until time.Duration) (float64, bool) {
	first := sort.Search(len(s.rows), func(i int) bool { return s.rows[i].Time >= from })
	last := sort.Search(len(s.rows), func(i int) bool { return s.rows[i].Time >= until })
	if first > 0 && first == last {
		first--
	}
	if first >= last {
		return 0, false
	}
	sum, seconds := sums[last-1], 0.0
	if first > 0 {
		sum -= sums[first-1]
	}
	for i := first; i < last; i++ {
		seconds += s.length(i)
	}
	if seconds == 0 {
		return 0, false
	}
	return sum / seconds, true
}

// deviceRate is the speed of a device relative to its peers with as many
// requests: 1 is equal.
type deviceRate struct {
	node, device string
	rate         float64 // bytes per busy second relative to the peers
	z            float64
	counted      bool    // with its requests
	foreign      float64 // foreign busy share of the time
	peerForeign  float64 // median of the peers
}

// slow reports whether a device is slower than its peers. Where requests are not
// counted, sharing alone moves the rate, so it has to be twice as far off.
func (d *deviceRate) slow(t *Thresholds) bool {
	limit := t.SlowDevice
	if !d.counted {
		limit = 2*limit - 1
	}
	return d.rate < limit && d.z < -3
}

// nearest returns the class nearest to c with rates of several devices, or c.
func nearest(classes map[int][]float64, c int) int {
	best := c
	for other, rates := range classes {
		if len(rates) < 2 {
			continue
		}
		near, far := max(other-c, c-other), max(best-c, c-best)
		if best == c || near < far || near == far && other < best {
			best = other
		}
	}
	return best
}

// requestClass puts numbers of requests together that a device serves about as
// fast.
func requestClass(requests float64) int {
	if requests <= 1 {
		return 0
	}
	return int(math.Round(2 * math.Log2(requests)))
}

// isIODevice reports whether bytes per busy second measure the device itself,
// and not the work on it.
func isIODevice(device string) bool {
	return strings.HasPrefix(device, "disk") || isNetwork(device)
}

// isNetwork reports whether a device is a network interface or a link of a rack.
func isNetwork(device string) bool {
	return strings.HasPrefix(device, "network") || strings.HasPrefix(device, "nic") || strings.HasPrefix(device, "rack") || strings.HasPrefix(device, "uplink")
}

// devicesOf names devices of a node together: all disks, or both directions of a
// network interface.
func devicesOf(device string) string {
	if isNetwork(device) {
		return "network"
	}
	return deviceKind(device)
}

// deviceKind returns the device name without its number: disk0 and disk3 are
// peers.
func deviceKind(device string) string { return strings.TrimRight(device, "0123456789") }

// rates compares the devices of a kind with each other. If the own seconds of
// the work are recorded, the rate is own seconds per busy second, else bytes
// per busy second. Both are compared within classes of requests.
func (r *resources) rates() []deviceRate {
	kinds := map[string][]*useSeries{}
	var names []string
	for _, s := range r.series {
		k := deviceKind(s.device)
		if kinds[k] == nil {
			names = append(names, k)
		}
		kinds[k] = append(kinds[k], s)
	}
	slices.Sort(names)
	var list []deviceRate
	for _, k := range names {
		list = append(list, compareRates(kinds[k])...)
	}
	return list
}

// leastAlone is the number of busy seconds with one request at a time from which
// the rate of a device is taken from these seconds alone.
const leastAlone = 10

func compareRates(peers []*useSeries) []deviceRate {
	type sums struct{ served, busy float64 }
	classes := map[int][]float64{} // rates of all peers by class of requests
	own := make([]map[int]sums, len(peers))
	counted := make([]bool, len(peers))
	for i, s := range peers {
		own[i] = map[int]sums{}
		for k := range s.rows {
			u := &s.rows[k]
			busy := u.Busy * s.length(k)
			if u.ForeignBusy > 0.05 || u.Busy == 0 {
				continue // not caused by the device
			}
			counted[i] = counted[i] || u.InService > 0
			served := u.Rate * busy
			if served == 0 {
				if !isIODevice(s.device) || u.Busy < 0.05 {
					continue // too little to measure
				}
				served = float64(u.Bytes)
			}
			c := requestClass(u.InService)
			switch {
			case isNetwork(s.device):
				c = 0 // a link loses nothing to further streams
			case isIODevice(s.device):
				c = requestClass(u.InService / u.Busy)
			}
			o := own[i][c]
			own[i][c] = sums{o.served + served, o.busy + busy}
		}
		for c, o := range own[i] {
			if o.busy > 0 {
				classes[c] = append(classes[c], o.served/o.busy)
			}
		}
	}
	list := make([]deviceRate, len(peers))
	var rates, foreign []float64
	for i, s := range peers {
		d := &list[i]
		d.node, d.device, d.counted, d.rate = s.node, s.device, counted[i], notNumber()
		weighted, weight, alone := 0.0, 0.0, 0.0
		order := make([]int, 0, len(own[i]))
		for c := range own[i] {
			order = append(order, c)
		}
		slices.Sort(order)
		if s := own[i][0].busy; s >= leastAlone { // with one request at a time, sharing loses nothing
			order = []int{0}
		}
		for _, c := range order {
			o := own[i][c]
			peer := c
			if len(classes[c]) < 2 { // no peer had as many requests: it is compared with those that come next
				peer = nearest(classes, c)
				alone += o.busy
			}
			if usual := median(classes[peer]); o.busy > 0 && usual > 0 && len(classes[peer]) > 1 {
				weighted += o.busy * math.Log(max(1e-9, o.served/o.busy/usual))
				weight += o.busy
			}
		}
		if weight > 0 {
			d.rate = math.Exp(weighted / weight)
			d.counted = d.counted && alone < weight/2
			rates = append(rates, d.rate)
		}
		seconds := 0.0
		for k := range s.rows {
			seconds += s.length(k)
		}
		if n := len(s.rows); n > 0 && seconds > 0 {
			d.foreign = s.foreign[n-1] / seconds
		}
		foreign = append(foreign, d.foreign)
	}
	if len(rates) > 0 {
		usual := median(rates)
		spread := max(normalMAD*deviation(rates, usual), 0.01)
		for i := range list {
			list[i].z = (list[i].rate - usual) / spread
		}
	}
	for i := range list {
		list[i].peerForeign = median(foreign)
	}
	return list
}
