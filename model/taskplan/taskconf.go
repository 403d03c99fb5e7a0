package taskplan

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// Conf is the part of a job's configuration that its tasks read. Each line gives
// the Go field, the Hadoop key, the symbol of Herodotou's report and the unit. The
// table of properties has their defaults and ranges.
type Conf struct {
	SortMB           int     `conf:"io.sort.mb"`                          // pSortMB, MiB
	SortRecPercent   float64 `conf:"io.sort.record.percent"`              // pSortRecPerc, part
	SpillPercent     float64 `conf:"io.sort.spill.percent"`               // pSpillPerc, part
	SortFactor       int     `conf:"io.sort.factor"`                      // pSortFactor, files
	SpillsForCombine int     `conf:"min.num.spills.for.combine"`          // pNumSpillsForComb, spills
	IntermCompressed bool    `conf:"mapred.compress.map.output"`          // pIsIntermCompressed
	IntermCodec      string  `conf:"mapred.map.output.compression.codec"` // -, class
	OutCompressed    bool    `conf:"mapred.output.compress"`              // pIsOutCompressed
	OutCodec         string  `conf:"mapred.output.compression.codec"`     // -, class
	MapHeap          int64   // mapred.map.child.java.opts or mapred.child.java.opts (-Xmx), pTaskMem, bytes
	ReduceHeap       int64   // mapred.reduce.child.java.opts or mapred.child.java.opts (-Xmx), pTaskMem, bytes
	ParallelCopies   int     `conf:"mapred.reduce.parallel.copies"`           // -, threads
	ShuffleInBuf     float64 `conf:"mapred.job.shuffle.input.buffer.percent"` // pShuffleInBufPerc, part
	ShuffleMerge     float64 `conf:"mapred.job.shuffle.merge.percent"`        // pShuffleMergePerc, part
	InMemMergeThr    int     `conf:"mapred.inmem.merge.threshold"`            // pInMemMergeThr, segments; 0 or less: no limit
	ReduceInBuf      float64 `conf:"mapred.job.reduce.input.buffer.percent"`  // pReducerInBufPerc, part
	HTTPThreads      int     `conf:"tasktracker.http.threads"`                // -, threads of a tracker
	Replication      int     `conf:"dfs.replication"`                         // -, replicas

	MRv2 bool // tasks of Hadoop 2 and 3, on YARN
}

// ReadConf reads a configuration. The error names every key with a value that
// cannot be read or that Hadoop refuses.
func ReadConf(conf workload.Conf) (Conf, error) {
	var c Conf
	var errs []error
	c.each(func(key string, to any) {
		var err error
		switch to := to.(type) {
		case *int:
			*to, err = conf.Whole(key)
		case *float64:
			*to, err = conf.Number(key)
		case *bool:
			*to, err = conf.Truth(key)
		case *string:
			*to = conf.Text(key)
		}
		errs = append(errs, err)
	})
	var err0, err1 error
	c.MapHeap, err0 = readHeap(conf, "mapred.map.child.java.opts")
	c.ReduceHeap, err1 = readHeap(conf, "mapred.reduce.child.java.opts")
	if err := errors.Join(append(errs, err0, err1)...); err != nil {
		return Conf{}, err
	}
	return c, c.Check()
}

// each calls f with the key of each property that has a field, and the field.
func (c *Conf) each(f func(key string, to any)) {
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		if key := v.Type().Field(i).Tag.Get("conf"); key != "" {
			f(key, v.Field(i).Addr().Interface())
		}
	}
}

// readHeap reads the heap of a task, bytes: of its kind, or of all tasks.
func readHeap(conf workload.Conf, key string) (int64, error) {
	if _, ok := conf.Lookup(key); !ok {
		key = "mapred.child.java.opts"
	}
	opts := conf.Text(key)
	heap := workload.Heap(opts)
	if heap < 0 {
		return 0, fmt.Errorf("%s = %q: want the size of the heap, such as -Xmx200m", key, opts)
	}
	return heap, nil
}

// Check reports every value that Hadoop refuses or with which no task can run
// (MapTask.MapOutputBuffer, ReduceTask.ReduceCopier).
func (c *Conf) Check() error {
	var check input.Check
	check.Part("io.sort.spill.percent", c.SpillPercent)
	check.Part("mapred.job.shuffle.merge.percent", c.ShuffleMerge)
	if c.MapHeap <= int64(c.SortMB)*mib {
		check.Fail("io.sort.mb", "%d: want less than the heap of a map, %.4g MiB", c.SortMB, float64(c.MapHeap)/mib)
	}
	if c.ReduceHeap < 1 {
		check.Fail("mapred.child.java.opts", "a heap of %d bytes: want 1 or more", c.ReduceHeap)
	}
	return errors.Join(c.CheckRanges(), check.Err())
}

// CheckRanges compares numbers with the ranges of their properties: of all, or of
// those named.
func (c *Conf) CheckRanges(keys ...string) error {
	var errs []error
	c.each(func(key string, of any) {
		if len(keys) > 0 && !slices.Contains(keys, key) {
			return
		}
		p, _ := workload.FindProperty(key)
		switch of := of.(type) {
		case *int:
			errs = append(errs, p.Check(strconv.Itoa(*of)))
		case *float64:
			errs = append(errs, p.Check(strconv.FormatFloat(*of, 'g', -1, 64)))
		}
	})
	return errors.Join(errs...)
}

const mib = 1 << 20
