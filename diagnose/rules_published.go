package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// stageHits applies the condition of a published rule to both stages of a job.
func (s *scene) stageHits(r *rule, say func(st *stage, f *facts) hit) []hit {
	var hits []hit
	for kind, st := range s.stages {
		if st == nil || !r.fires(&s.facts[kind], s.t) {
			continue
		}
		h := say(st, &s.facts[kind])
		if r.onNode && h.node == "" && st.facts.SameNode {
			h.node = *st.facts.Node
		}
		for _, i := range st.critical() {
			h.tasks = append(h.tasks, s.b.name(s.b.at(st.rows[i])))
		}
		hits = append(hits, h)
	}
	return hits
}

// gains returns the largest delay of a stage through its critical tasks, in
// seconds.
func (st *stage) gains() float64 {
	most := 0.0
	for i, c := range st.out.Critical {
		if c {
			most = max(most, st.out.Gain[i])
		}
	}
	return most
}

var ruleR01 = rule{
	id: "R01", basis: "P", onNode: true, weight: weightRepair, cause: "slow CPU", advice: "check-cpu-config",
	evidence: "critical tasks on one node whose CPU is full and whose disks are not", change: "CPU at the nominal speed",
	fires: func(f *facts, t *Thresholds) bool {
		return f.SameNode && f.CPUNode >= t.CPUStarved && f.IONodeRatio < t.IOLow
	},
	find: func(s *scene, r *rule) []hit {
		return s.stageHits(r, func(st *stage, f *facts) hit {
			return hit{
				device: "cpu", value: f.CPUNode, peers: f.CPUCluster, account: slowDevice, saves: st.gains(), change: repair(*st.facts.Node, "cpu"),
				evidence: fmt.Sprintf("%d outlying %ss on one node: CPU %s, disk rate %.2f times that of the others", f.Critical, f.Kind, percent(f.CPUNode), f.IONodeRatio),
			}
		})
	},
}

var ruleR02 = rule{
	id: "R02", basis: "P", onNode: true, weight: weightRepair, cause: "foreign disk load", advice: "check-external-disk-load",
	evidence: "critical tasks on one node whose disks carry more than the job's bytes", change: "no foreign load",
	fires: func(f *facts, t *Thresholds) bool {
		return f.SameNode && f.DiskNodeRatio > t.DiskHigh && f.DiskJobShare < t.DiskForeign
	},
	find: func(s *scene, r *rule) []hit {
		return s.stageHits(r, func(st *stage, f *facts) hit {
			return hit{
				device: "disk", value: f.DiskNodeRatio, peers: 1, account: foreignLoad, saves: st.gains(), change: unload(*st.facts.Node, "disk", false),
				evidence: fmt.Sprintf("disk rate %.2f times that of the others, %s of it Hadoop's", f.DiskNodeRatio, percent(f.DiskJobShare)),
			}
		})
	},
}

var ruleR03 = rule{
	id: "R03", basis: "P", cause: "small sort buffer", advice: "raise-sort-buffer",
	evidence: "maps spill more than once and spend much time on it", change: "io.sort.mb",
	fires: func(f *facts, t *Thresholds) bool {
		return f.Kind == "map" && f.Spills > 1 && f.ShareSortSpill > t.SortSpill
	},
	find: func(s *scene, r *rule) []hit {
		hits := s.stageHits(r, func(st *stage, f *facts) hit {
			return hit{
				value: f.ShareSortSpill, peers: s.t.SortSpill, account: sortSpill, saves: st.length() * f.ShareSortSpill / 2, change: s.largerBuffer(st),
				evidence: fmt.Sprintf("%d spills, %s of the map time in sort and spill", f.Spills, percent(f.ShareSortSpill)),
			}
		})
		st, f := s.stages[workload.Map], &s.facts[workload.Map]
		if st == nil || s.q == nil || len(hits) > 0 || f.Spills < 2 {
			return hits
		}
		if share := st.share(workload.PhaseSpill, workload.PhaseMerge); share > s.t.MapOutput {
			hits = append(hits, hit{
				value: share, peers: s.t.MapOutput, account: sortSpill, saves: st.length() * share / 2, change: s.largerBuffer(st),
				evidence: fmt.Sprintf("%d spills, %s of the map time in spills and merges", f.Spills, percent(share)),
			})
		}
		return hits
	},
}

// largerBuffer returns a sort buffer for the output of the median map. It
// returns nil if its bytes and records are unknown or no heap could hold the
// buffer.
func (s *scene) largerBuffer(st *stage) *Change {
	var bytes, records []float64
	for _, row := range st.rows {
		if a := s.b.at(row); a.OutBytes >= 0 && a.OutRecords >= 0 {
			bytes, records = append(bytes, float64(a.OutBytes)), append(records, float64(a.OutRecords))
		}
	}
	if len(bytes) == 0 {
		return nil
	}
	spill, err := s.conf.Number("io.sort.spill.percent")
	if err != nil || spill <= 0 {
		return nil
	}
	const accounting = 16 // bytes a record in the buffer's index
	out, index := quantile(bytes, 0.95), accounting*quantile(records, 0.95)
	mb := math.Ceil(1.02*(out+index)/spill/(1<<20)) + 1
	if mb > 2047 {
		return nil
	}
	part := math.Max(0.01, math.Ceil(1000*index/(out+index))/1000)
	pairs := []string{"io.sort.mb", strconv.Itoa(int(mb)), "io.sort.record.percent", strconv.FormatFloat(part, 'g', 3, 64)}
	if opts := s.conf.String("mapred.map.child.java.opts", s.conf.Text("mapred.child.java.opts")); s.hasConf && float64(workload.HeapMB(opts)) < mb+100 {
		pairs = append(pairs, "mapred.map.child.java.opts", fmt.Sprintf("-Xmx%dm", int(mb)+100))
	}
	return s.setConf(pairs...)
}

var ruleR04 = rule{
	id: raiseSlowstart, basis: "P", cause: "reduces start too early", advice: "raise-slowstart",
	evidence: "reduces wait for map outputs while maps are pending", change: "slowstart later",
	fires: func(f *facts, t *Thresholds) bool {
		return f.Kind == "reduce" && f.ShareWaitFetch > t.WaitFetch && f.CPUNode < t.CPUFree && f.MapsPending
	},
	find: func(s *scene, r *rule) []hit {
		own := *r
		own.fires = func(f *facts, t *Thresholds) bool {
			return r.fires(f, t) || s.q != nil && f.Kind == "reduce" && f.MapsPending && f.SharedSlots && f.ShareWaitFetch > t.WaitShared
		}
		return append(s.heldByWaiting(), s.stageHits(&own, func(st *stage, f *facts) hit {
			h := hit{
				value: f.ShareWaitFetch, peers: s.t.WaitFetch, account: waitsForFetch, change: s.setConf("mapred.reduce.slowstart.completed.maps", "0.9"),
				evidence: fmt.Sprintf("%s of the shuffle waits for maps, CPU %s", percent(f.ShareWaitFetch), percent(f.CPUNode)),
			}
			if !r.fires(f, s.t) {
				h.peers, h.saves = s.t.WaitShared, 0.2*s.waitedFetch()
				h.evidence += ", in slots that maps could use"
			}
			return h
		})...)
	},
}

// heldByWaiting finds other jobs whose reduces wait for maps in slots that
// reduces of this job could use.
func (s *scene) heldByWaiting() []hit {
	st := s.stages[workload.Reduce]
	if st == nil || s.q == nil || s.slots[workload.Reduce] == 0 {
		return nil
	}
	from, until := st.begin, time.Duration(0)
	for _, row := range st.rows {
		a := s.b.at(row)
		if !workload.Known(a.runnable) {
			return nil
		}
		from, until = min(from, a.runnable), max(until, a.start)
	}
	held, sum := []string{}, time.Duration(0)
	for _, j := range s.b.jobs {
		if j.submit >= until {
			break
		}
		if j.finish <= from {
			continue
		}
		mine := time.Duration(0)
		for _, row := range j.won[workload.Reduce] {
			if a := s.b.at(row); j != s.job && workload.Known(a.waitFetch) {
				mine += min(a.waitFetch, max(0, min(until, a.finish)-max(from, a.start)))
			}
		}
		if mine > 0 {
			held, sum = append(held, j.id), sum+mine
		}
	}
	slots := (until - from).Seconds() * float64(s.slots[workload.Reduce])
	if slots <= 0 || sum.Seconds() < s.t.WaitShared*slots || len(held) > 20 {
		return nil
	}
	share := sum.Seconds() / slots
	return []hit{{
		value: share, peers: s.t.WaitShared, account: slotHeld, saves: share * (until - from).Seconds(), change: setOthers(held, "mapred.reduce.slowstart.completed.maps", "0.9"),
		evidence: fmt.Sprintf("its reduces wait for %.3g s while reduces of %s hold %s of the slots and wait for maps", (until - from).Seconds(), workload.Counted(len(held), "other job", "other jobs"), percent(share)),
	}}
}

// waitedFetch returns the mean time of a reduce that waits for map outputs, in
// seconds.
func (s *scene) waitedFetch() float64 {
	st := s.stages[workload.Reduce]
	sum := 0.0
	for _, row := range st.rows {
		sum += max(0, s.b.at(row).waitFetch).Seconds()
	}
	return sum / float64(len(st.rows))
}

var ruleR05 = rule{
	id: "R05", basis: "P", cause: "map output not compressed", advice: "compress-map-output",
	evidence: "the shuffle takes most of the reduces' time and nothing is compressed", change: "compress the map output",
	fires: func(f *facts, t *Thresholds) bool { return f.ShareShuffle > t.Shuffle && !f.Compressed },
	find: func(s *scene, r *rule) []hit {
		if !s.hasConf {
			s.b.add("configuration of a job", 1, 1, "no rules on settings")
			return nil
		}
		if s.movesNothing() {
			return nil
		}
		compress := s.setConf("mapred.compress.map.output", "true", "mapred.map.output.compression.codec", fastCodec)
		hits := s.stageHits(r, func(st *stage, f *facts) hit {
			return hit{
				value: f.ShareShuffle, peers: s.t.Shuffle, account: networkOwn, saves: 0.3 * st.length() * f.ShareShuffle, change: compress,
				evidence: fmt.Sprintf("shuffle %s of the reduce time, not compressed", percent(f.ShareShuffle)),
			}
		})
		if share := s.movesOutput(); len(hits) == 0 && s.q != nil && share > s.t.MapOutput && !s.facts[workload.Reduce].Compressed {
			hits = append(hits, hit{
				value: share, peers: s.t.MapOutput, account: networkOwn, saves: 0.5 * share * s.job.time().Seconds(), change: compress,
				evidence: fmt.Sprintf("%s of the slot time moves map output, not compressed", percent(share)),
			})
		}
		return hits
	},
}

// movesNothing reports whether all reduces fetched no byte, as where their times are
// given.
func (s *scene) movesNothing() bool {
	st := s.stages[workload.Reduce]
	return st != nil && !slices.ContainsFunc(st.rows, func(row int32) bool { return s.b.at(row).ShuffleBytes != 0 })
}

// movesOutput returns the share of the job's slot time in which map output is
// spilled, merged and shuffled, without waits for maps. It is 0 where the waits
// are unknown, and for jobs without reduces.
func (s *scene) movesOutput() float64 {
	if s.stages[workload.Reduce] == nil {
		return 0
	}
	moving, whole := time.Duration(0), time.Duration(0)
	for _, st := range s.stages {
		if st == nil {
			continue
		}
		for _, row := range st.rows {
			a := s.b.at(row)
			whole += a.finish - a.start
			for _, p := range []workload.Phase{workload.PhaseSpill, workload.PhaseMerge, workload.PhaseShuffle} {
				if p == workload.PhaseShuffle && st.kind == workload.Reduce && !workload.Known(a.waitFetch) {
					return 0
				}
				moving += max(0, a.phases[p])
			}
			if st.kind == workload.Reduce {
				moving -= a.waitFetch
			}
		}
	}
	return moving.Seconds() / max(1e-9, whole.Seconds())
}

const fastCodec = "com.hadoop.compression.lzo.LzoCodec"

var ruleR06 = rule{
	id: "R06", basis: "P", cause: "expensive codec", advice: "cheaper-codec",
	evidence: "the shuffle takes most of the reduces' time, most of it in the codec", change: "a cheaper codec, or none",
	fires: func(f *facts, t *Thresholds) bool {
		return f.ShareShuffle > t.Shuffle && f.Compressed && f.CodecCPUShare > t.Codec
	},
	find: func(s *scene, r *rule) []hit {
		cheaper := s.setConf("mapred.map.output.compression.codec", fastCodec)
		hits := s.stageHits(r, func(st *stage, f *facts) hit {
			return hit{
				value: f.CodecCPUShare, peers: s.t.Codec, account: cpuOwn, saves: 0.3 * st.length() * f.ShareShuffle, change: cheaper,
				evidence: fmt.Sprintf("shuffle %s of the reduce time, codec %s of the CPU", percent(f.ShareShuffle), percent(f.CodecCPUShare)),
			}
		})
		if name, share := s.codecShare(); len(hits) == 0 && share > s.t.CodecTime {
			hits = append(hits, hit{
				value: share, peers: s.t.CodecTime, account: cpuOwn, saves: share * s.job.time().Seconds(), change: cheaper,
				evidence: fmt.Sprintf("%s takes about %s of the slot time for the map output", name, percent(share)),
			})
		}
		if s.q != nil { // the test decides between another codec and none
			for _, h := range hits {
				h.saves /= 2
				h.change = s.setConf("mapred.compress.map.output", "false")
				hits = append(hits, h)
			}
		}
		return hits
	},
}

// codecShare estimates the share of the job's slot time that the codec of the
// map output takes beyond a fast codec: each byte is compressed and decompressed
// once. It is 0 for fast codecs, and if the cores are unknown.
func (s *scene) codecShare() (string, float64) {
	st := s.stages[workload.Map]
	if st == nil || !s.facts[workload.Map].Compressed || s.q == nil || len(s.q.Cluster.Machines) == 0 {
		return "", 0
	}
	codec, err1 := model.FindCodec(s.conf.Text("mapred.map.output.compression.codec"))
	fast, err2 := model.FindCodec(fastCodec)
	if err1 != nil || err2 != nil {
		return "", 0
	}
	bytes, whole := 0.0, 0.0
	for _, row := range st.rows {
		a := s.b.at(row)
		bytes += float64(max(0, a.OutBytes))
		whole += (a.finish - a.start).Seconds()
	}
	if r := s.stages[workload.Reduce]; r != nil {
		whole += r.whole
	}
	speed := s.q.Cluster.Machines[s.q.Cluster.UsualMachine()].Speed
	more := codec.Compress + codec.Decompress - fast.Compress - fast.Decompress
	return codec.Name, bytes * more / 1e9 / speed / max(1e-9, whole)
}

var ruleR07 = rule{
	id: "R07", basis: "P", weight: weightBought, cause: "slots of the other kind idle", advice: "share-slots",
	evidence: "CPUs idle, slots of the other kind idle while tasks wait", change: "shared slots",
	fires: func(f *facts, t *Thresholds) bool {
		return !f.SharedSlots && f.CPUCluster < t.ClusterIdle && f.IdleOtherSlots > 0
	},
	find: func(s *scene, r *rule) []hit {
		return s.stageHits(r, func(st *stage, f *facts) hit {
			return hit{
				value: f.CPUCluster, peers: s.t.ClusterIdle, account: slotHeld, saves: 0.1 * st.length(), change: shareSlots(),
				evidence: fmt.Sprintf("CPU %s, %d slots of the other kind idle", percent(f.CPUCluster), f.IdleOtherSlots),
			}
		})
	},
}

var ruleR08 = rule{
	id: "R08", basis: "P", weight: weightUnusual, cause: "uneven input", advice: "rebalance-partitions",
	evidence: "critical tasks on several nodes that read more than the others", change: "even partitions",
	fires: func(f *facts, t *Thresholds) bool {
		return f.Critical > 0 && !f.SameNode && f.InputRatio > t.InputSkew
	},
	find: findUneven,
}

func findUneven(s *scene, r *rule) []hit {
	return s.stageHits(r, func(st *stage, f *facts) hit {
		h := hit{
			value: f.InputRatio, peers: 1, account: networkOwn, saves: st.gains(),
			evidence: fmt.Sprintf("%d outlying %ss with %.2f times the input of the others", f.Critical, f.Kind, f.InputRatio),
		}
		if st.kind == workload.Reduce {
			h.change = s.evenReduces()
		}
		return h
	})
}

var ruleR09 = rule{
	id: "R09", basis: "P", onNode: true, weight: weightUnusual, cause: "node configuration", advice: "check-node-config",
	evidence: "critical tasks on one node without more input, CPU or disk load than the others", change: "the node configured like its peers",
	fires: func(f *facts, t *Thresholds) bool {
		return f.SameNode && f.InputRatio <= t.InputSkew && f.CPUNode < t.CPUStarved && f.DiskNodeRatio <= t.DiskHigh
	},
	find: func(s *scene, r *rule) []hit {
		return s.stageHits(r, func(st *stage, f *facts) hit {
			return hit{
				value: float64(f.Critical), account: slowDevice, saves: st.gains(), change: repair(*st.facts.Node, "cpu"),
				evidence: fmt.Sprintf("%d outlying %ss on one node, CPU %s, disk rate %.2f times that of the others", f.Critical, f.Kind, percent(f.CPUNode), f.DiskNodeRatio),
			}
		})
	},
}

var ruleR10 = rule{
	id: "R10", basis: "P", onNode: true, weight: weightUnusual, cause: "uneven input on one node", advice: "rebalance-partitions-or-slots",
	evidence: "critical tasks on one node that read more than the others", change: "even partitions",
	fires: func(f *facts, t *Thresholds) bool { return f.SameNode && f.InputRatio > t.InputSkew },
	find:  findUneven,
}

var ruleR11 = rule{
	id: lowerSlowstart, basis: "P", cause: "long tail of maps", advice: "lower-slowstart-or-add-reduces",
	evidence: "the CPU falls during critical maps", change: "slowstart earlier",
	fires: func(f *facts, t *Thresholds) bool { return f.Kind == "map" && f.Critical > 0 && f.CPUDrop > t.CPUDrop },
	find: func(s *scene, r *rule) []hit {
		earlier := s.setConf("mapred.reduce.slowstart.completed.maps", "0.05")
		if after, late := s.lateShuffle(); late && s.q != nil && after > s.t.LateShuffle*s.job.time().Seconds() {
			return []hit{{
				value: after / s.job.time().Seconds(), peers: s.t.LateShuffle, account: slowstartLimit, saves: after / 2, change: earlier,
				evidence: fmt.Sprintf("reduces start when nearly all maps have ended, and shuffle for %.3g s after the last one", after),
			}}
		}
		return s.stageHits(r, func(st *stage, f *facts) hit {
			return hit{
				value: f.CPUDrop, peers: s.t.CPUDrop, account: slowstartLimit, saves: st.gains() / 2, change: earlier,
				evidence: fmt.Sprintf("CPU falls by %s during the last outlying map", percent(f.CPUDrop)),
			}
		})
	},
}

// lateShuffle returns for how many seconds at most a reduce shuffles after the last
// map, and whether nine tenths of the maps had ended before any reduce began.
func (s *scene) lateShuffle() (after float64, late bool) {
	maps, reduces := s.stages[workload.Map], s.stages[workload.Reduce]
	if maps == nil || reduces == nil {
		return 0, false
	}
	ended := 0
	for _, row := range maps.rows {
		if s.b.at(row).finish <= reduces.begin {
			ended++
		}
	}
	last := s.b.lastMap(s.job)
	for _, row := range reduces.rows {
		if from, to, known := s.b.at(row).shuffle(); known {
			after = max(after, (to - max(last, from)).Seconds())
		}
	}
	return after, 10*ended >= 9*len(maps.rows)
}

var ruleR12 = rule{
	id: "R12", basis: "P", cause: "CPU busy copying", advice: "offload-network-copies",
	evidence: "CPU full and network busy", change: "copies without the CPU",
	fires: func(f *facts, t *Thresholds) bool { return f.CPUNode > t.CPUNetwork && f.NetNodeShare > t.NetworkHigh },
	find: func(s *scene, r *rule) []hit {
		return s.stageHits(r, func(st *stage, f *facts) hit {
			return hit{
				value: f.NetNodeShare, peers: s.t.NetworkHigh, account: cpuOwn, saves: 0.1 * st.length(), change: freeCopies(),
				evidence: fmt.Sprintf("CPU %s, network %s", percent(f.CPUNode), percent(f.NetNodeShare)),
			}
		})
	},
}

var ruleR13 = rule{
	id: "R13", basis: "P", weight: weightRepair, cause: "slow network adapter", advice: "check-network-adapter",
	evidence: "no critical task, a node with a slow network", change: "network at the nominal speed",
	fires: func(f *facts, _ *Thresholds) bool { return f.Critical == 0 && f.NetSlowNodes > 0 },
	find: func(s *scene, r *rule) []hit {
		return s.stageHits(r, func(st *stage, f *facts) hit {
			h := hit{
				value: float64(f.NetSlowNodes), account: slowDevice, saves: 0.01 * st.length(),
				evidence: fmt.Sprintf("%d devices of the network slower than their peers", f.NetSlowNodes),
			}
			for _, d := range s.rates {
				if isNetwork(d.device) && d.rate < s.t.SlowDevice && d.z < -3 {
					h.node, h.device, h.change = d.node, d.device, repair(d.node, d.device)
					break
				}
			}
			return h
		})
	},
}

var ruleR14 = rule{
	id: "R14", basis: "P", cause: "long reduces", advice: "split-reduce-work",
	evidence: "critical reduces that spend most of their time in reduce", change: "twice as many reduces",
	fires: func(f *facts, t *Thresholds) bool {
		return f.Kind == "reduce" && f.Critical > 0 && f.ShareReduce > t.ReduceHeavy
	},
	find: func(s *scene, r *rule) []hit {
		return s.stageHits(r, func(st *stage, f *facts) hit {
			return hit{
				value: f.ShareReduce, peers: s.t.ReduceHeavy, account: cpuOwn, saves: st.gains(), change: s.setReduces(2 * s.job.reduces),
				evidence: fmt.Sprintf("reduce phase %s of the reduce time", percent(f.ShareReduce)),
			}
		})
	},
}
