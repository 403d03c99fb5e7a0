package taskplan

import (
	"errors"
	"fmt"

	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// Conf is the part of a job's configuration that its tasks read. Each line gives
// the Go field, the Hadoop key, the symbol of Herodotou's report and the unit.
type Conf struct {
	SortMB           int     // io.sort.mb, pSortMB, MiB
	SortRecPercent   float64 // io.sort.record.percent, pSortRecPerc, part
	SpillPercent     float64 // io.sort.spill.percent, pSpillPerc, part
	SortFactor       int     // io.sort.factor, pSortFactor, files
	SpillsForCombine int     // min.num.spills.for.combine, pNumSpillsForComb, spills
	IntermCompressed bool    // mapred.compress.map.output, pIsIntermCompressed
	IntermCodec      string  // mapred.map.output.compression.codec, -, class
	OutCompressed    bool    // mapred.output.compress, pIsOutCompressed
	OutCodec         string  // mapred.output.compression.codec, -, class
	MapHeap          int64   // mapred.map.child.java.opts or mapred.child.java.opts (-Xmx), pTaskMem, bytes
	ReduceHeap       int64   // mapred.reduce.child.java.opts or mapred.child.java.opts (-Xmx), pTaskMem, bytes
	ParallelCopies   int     // mapred.reduce.parallel.copies, -, threads
	ShuffleInBuf     float64 // mapred.job.shuffle.input.buffer.percent, pShuffleInBufPerc, part
	ShuffleMerge     float64 // mapred.job.shuffle.merge.percent, pShuffleMergePerc, part
	InMemMergeThr    int     // mapred.inmem.merge.threshold, pInMemMergeThr, segments; 0 or less: no limit
	ReduceInBuf      float64 // mapred.job.reduce.input.buffer.percent, pReducerInBufPerc, part
	HTTPThreads      int     // tasktracker.http.threads, -, threads of a tracker
	Replication      int     // dfs.replication, -, replicas

	MRv2 bool // tasks of Hadoop 2 and 3, on YARN
}

// ReadConf reads a configuration. The error names every key with a value that
// cannot be read or that Hadoop refuses.
func ReadConf(conf workload.Conf) (Conf, error) {
	var c Conf
	var errs []error
	keep := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	for _, v := range []struct {
		key string
		to  *int
	}{
		{"io.sort.mb", &c.SortMB},
		{"io.sort.factor", &c.SortFactor},
		{"min.num.spills.for.combine", &c.SpillsForCombine},
		{"mapred.reduce.parallel.copies", &c.ParallelCopies},
		{"mapred.inmem.merge.threshold", &c.InMemMergeThr},
		{"tasktracker.http.threads", &c.HTTPThreads},
		{"dfs.replication", &c.Replication},
	} {
		n, err := conf.Whole(v.key)
		*v.to = n
		keep(err)
	}
	for _, v := range []struct {
		key string
		to  *float64
	}{
		{"io.sort.record.percent", &c.SortRecPercent},
		{"io.sort.spill.percent", &c.SpillPercent},
		{"mapred.job.shuffle.input.buffer.percent", &c.ShuffleInBuf},
		{"mapred.job.shuffle.merge.percent", &c.ShuffleMerge},
		{"mapred.job.reduce.input.buffer.percent", &c.ReduceInBuf},
	} {
		f, err := conf.Number(v.key)
		*v.to = f
		keep(err)
	}
	for _, v := range []struct {
		key string
		to  *bool
	}{
		{"mapred.compress.map.output", &c.IntermCompressed},
		{"mapred.output.compress", &c.OutCompressed},
	} {
		b, err := conf.Truth(v.key)
		*v.to = b
		keep(err)
	}
	c.IntermCodec = conf.Text("mapred.map.output.compression.codec")
	c.OutCodec = conf.Text("mapred.output.compression.codec")
	for _, v := range []struct {
		key string
		to  *int64
	}{
		{"mapred.map.child.java.opts", &c.MapHeap},
		{"mapred.reduce.child.java.opts", &c.ReduceHeap},
	} {
		key := v.key
		if _, ok := conf.Lookup(key); !ok {
			key = "mapred.child.java.opts"
		}
		opts := conf.Text(key)
		heap, err := workload.Heap(opts)
		if err != nil {
			err = fmt.Errorf("%s = %q: want a size after -Xmx, such as -Xmx200m", key, opts)
		} else if heap < 0 {
			err = fmt.Errorf("%s = %q: want the size of the heap, such as -Xmx200m", key, opts)
		}
		*v.to = heap
		keep(err)
	}
	if len(errs) > 0 {
		return Conf{}, errors.Join(errs...)
	}
	return c, c.Check()
}

// Check reports every value that Hadoop refuses or with which no task can run
// (MapTask.MapOutputBuffer, ReduceTask.ReduceCopier).
func (c *Conf) Check() error {
	var check input.Check
	check.Count("io.sort.mb", c.SortMB, 1)
	if c.SortMB > 2047 {
		check.Fail("io.sort.mb", "%d: want at most 2047", c.SortMB)
	}
	check.Within("io.sort.record.percent", c.SortRecPercent, 0.01, 1)
	check.Part("io.sort.spill.percent", c.SpillPercent)
	check.Count("io.sort.factor", c.SortFactor, 2)
	check.Count("min.num.spills.for.combine", c.SpillsForCombine, 0)
	check.Count("mapred.reduce.parallel.copies", c.ParallelCopies, 1)
	check.Within("mapred.job.shuffle.input.buffer.percent", c.ShuffleInBuf, 0, 1)
	check.Part("mapred.job.shuffle.merge.percent", c.ShuffleMerge)
	check.Within("mapred.job.reduce.input.buffer.percent", c.ReduceInBuf, 0, 1)
	check.Count("tasktracker.http.threads", c.HTTPThreads, 1)
	check.Count("dfs.replication", c.Replication, 1)
	if c.MapHeap <= int64(c.SortMB)*mib {
		check.Fail("io.sort.mb", "%d: want less than the heap of a map, %.4g MiB", c.SortMB, float64(c.MapHeap)/mib)
	}
	if c.ReduceHeap < 1 {
		check.Fail("mapred.child.java.opts", "a heap of %d bytes: want 1 or more", c.ReduceHeap)
	}
	return check.Err()
}

const mib = 1 << 20
