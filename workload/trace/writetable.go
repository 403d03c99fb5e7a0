package trace

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go"

	"github.com/slotwave/slotwave/workload"
)

// attemptColumns are the columns of a table of attempts, in order, with the
// value of each. They are the same as in the table of a simulated run. A cell is
// empty if the value is unknown.
var attemptColumns = func() []attemptColumn {
	text := func(name string, f func(a *workload.Attempt) string) attemptColumn {
		return attemptColumn{name: name, text: f}
	}
	span := func(name string, f func(a *workload.Attempt) time.Duration) attemptColumn {
		return attemptColumn{name: name, number: func(a *workload.Attempt) (int64, bool) { d := f(a); return int64(d), workload.Known(d) }}
	}
	count := func(name string, f func(a *workload.Attempt) int64) attemptColumn {
		return attemptColumn{name: name, number: func(a *workload.Attempt) (int64, bool) { v := f(a); return v, v != workload.Unknown }}
	}
	list := []attemptColumn{
		text("job", func(a *workload.Attempt) string { return a.Job }),
		count("task", func(a *workload.Attempt) int64 { return int64(a.Task) }),
		text("kind", func(a *workload.Attempt) string { return a.Kind.String() }),
		count("attempt", func(a *workload.Attempt) int64 { return int64(a.Number) }),
		text("state", func(a *workload.Attempt) string { return a.State.String() }),
		text("node", func(a *workload.Attempt) string { return a.Node }),
		text("rack", func(a *workload.Attempt) string { return a.Rack }),
		count("slot", func(a *workload.Attempt) int64 { return int64(a.Slot) }),
		text("pool", func(a *workload.Attempt) string { return a.Pool }),
		text("locality", func(a *workload.Attempt) string { return a.Locality.String() }),
		span("runnable_ns", func(a *workload.Attempt) time.Duration { return a.Runnable }),
		span("start_ns", func(a *workload.Attempt) time.Duration { return a.Start }),
		span("finish_ns", func(a *workload.Attempt) time.Duration { return a.Finish }),
	}
	for p := range workload.NumPhases {
		list = append(list, span("p_"+p.String()+"_ns", func(a *workload.Attempt) time.Duration { return a.Phases[p] }))
	}
	return append(list,
		count("in_records", func(a *workload.Attempt) int64 { return a.InRecords }),
		count("in_bytes", func(a *workload.Attempt) int64 { return a.InBytes }),
		count("out_records", func(a *workload.Attempt) int64 { return a.OutRecords }),
		count("out_bytes", func(a *workload.Attempt) int64 { return a.OutBytes }),
		count("spills", func(a *workload.Attempt) int64 { return a.Spills }),
		count("merge_passes", func(a *workload.Attempt) int64 { return a.MergePasses }),
		count("spilled_records", func(a *workload.Attempt) int64 { return a.SpilledRecords }),
		count("shuffle_bytes", func(a *workload.Attempt) int64 { return a.ShuffleBytes }),
		count("hdfs_read_bytes", func(a *workload.Attempt) int64 { return a.HDFSReadBytes }),
		count("hdfs_write_bytes", func(a *workload.Attempt) int64 { return a.HDFSWriteBytes }),
		count("local_read_bytes", func(a *workload.Attempt) int64 { return a.LocalReadBytes }),
		count("local_write_bytes", func(a *workload.Attempt) int64 { return a.LocalWriteBytes }),
		span("wait_fetch_ns", func(a *workload.Attempt) time.Duration { return a.WaitFetch }),
		span("wait_memory_ns", func(a *workload.Attempt) time.Duration { return a.WaitMemory }),
		count("combine_input_records", func(a *workload.Attempt) int64 { return a.CombineInRecords }),
		count("combine_output_records", func(a *workload.Attempt) int64 { return a.CombineOutRecords }),
		count("map_output_materialized_bytes", func(a *workload.Attempt) int64 { return a.MaterializedBytes }),
		count("cpu_milliseconds", func(a *workload.Attempt) int64 { return a.CPUMillis }),
	)
}()

// attemptColumn is a column of texts or of whole numbers.
type attemptColumn struct {
	name   string
	text   func(*workload.Attempt) string
	number func(*workload.Attempt) (v int64, known bool)
}

func (c *attemptColumn) cell(a *workload.Attempt) string {
	if c.text != nil {
		return c.text(a)
	}
	if v, known := c.number(a); known {
		return strconv.FormatInt(v, 10)
	}
	return ""
}

// writeAttempts writes the attempts of a history as CSV. Times are nanoseconds
// from the earliest submission, sizes bytes.
func writeAttempts(w io.Writer, h *workload.History) error {
	out := csv.NewWriter(w)
	row := make([]string, len(attemptColumns))
	for i := range attemptColumns {
		row[i] = attemptColumns[i].name
	}
	out.Write(row)
	for i := range h.Jobs {
		for k := range h.Jobs[i].Tasks {
			t := &h.Jobs[i].Tasks[k]
			for n := range t.Attempts {
				for c := range attemptColumns {
					row[c] = escapeCell(attemptColumns[c].cell(&t.Attempts[n].Attempt))
				}
				out.Write(row)
			}
		}
	}
	out.Flush()
	return out.Error()
}

var jobColumns = []string{
	"job", "name", "user", "pool", "queue", "priority", "state", "submit_ns", "launch_ns", "finish_ns", "maps", "reduces",
}

// total is a column of a table of jobs for one of their counters.
type total struct {
	name string
	of   func(*workload.JobTotals) int64
}

// totalsOf lists the counters that jobs without tasks state. Nothing else tells
// how long such jobs took and what they moved.
func totalsOf(h *workload.History) (list []total) {
	var all []total
	for _, n := range slices.Concat(fileSystemCounters, taskCounters) {
		all = append(all, total{strings.ToLower(n.name), func(t *workload.JobTotals) int64 { return ofJob(t)(n) }})
	}
	for _, n := range jobCounters {
		all = append(all, total{strings.ToLower(n.name), func(t *workload.JobTotals) int64 { return *n.field(t) }})
	}
	for _, c := range all {
		if slices.ContainsFunc(h.Jobs, func(j workload.HistoryJob) bool { return len(j.Tasks) == 0 && c.of(&j.Totals) != workload.Unknown }) {
			list = append(list, c)
		}
	}
	return list
}

// writeJobs writes the jobs of a history as CSV, next to its attempts.
func writeJobs(w io.Writer, h *workload.History) error {
	out := csv.NewWriter(w)
	totals, header := totalsOf(h), slices.Clone(jobColumns)
	for _, c := range totals {
		header = append(header, c.name)
	}
	out.Write(header)
	for i := range h.Jobs {
		j := &h.Jobs[i]
		instant := func(d time.Duration) string {
			if !workload.Known(d) {
				return ""
			}
			return strconv.FormatInt(int64(d), 10)
		}
		count := func(n int) string {
			if n == workload.Unknown {
				return ""
			}
			return strconv.Itoa(n)
		}
		row := []string{
			escapeCell(j.ID), escapeCell(j.Name), escapeCell(j.User), escapeCell(j.Pool), escapeCell(j.Queue), j.Priority.String(), j.Outcome.String(),
			instant(j.Submit), instant(j.Launch), instant(j.Finish), count(j.Maps), count(j.Reduces),
		}
		for _, c := range totals {
			cell := ""
			if v := c.of(&j.Totals); v != workload.Unknown && len(j.Tasks) == 0 {
				cell = strconv.FormatInt(v, 10)
			}
			row = append(row, cell)
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// attemptRow is a row of the Parquet table of attempts: the columns of the CSV,
// null if unknown.
type attemptRow struct {
	Job            string `parquet:"job,dict"`
	Task           int32  `parquet:"task"`
	Kind           string `parquet:"kind,dict"`
	Attempt        int32  `parquet:"attempt"`
	State          string `parquet:"state,dict"`
	Node           string `parquet:"node,dict"`
	Rack           string `parquet:"rack,dict"`
	Slot           *int32 `parquet:"slot,optional"`
	Pool           string `parquet:"pool,dict"`
	Locality       string `parquet:"locality,dict"`
	Runnable       *int64 `parquet:"runnable_ns,optional"`
	Start          *int64 `parquet:"start_ns,optional"`
	Finish         *int64 `parquet:"finish_ns,optional"`
	Startup        *int64 `parquet:"p_startup_ns,optional"`
	Read           *int64 `parquet:"p_read_ns,optional"`
	Map            *int64 `parquet:"p_map_ns,optional"`
	Collect        *int64 `parquet:"p_collect_ns,optional"`
	Spill          *int64 `parquet:"p_spill_ns,optional"`
	Shuffle        *int64 `parquet:"p_shuffle_ns,optional"`
	Merge          *int64 `parquet:"p_merge_ns,optional"`
	Reduce         *int64 `parquet:"p_reduce_ns,optional"`
	Write          *int64 `parquet:"p_write_ns,optional"`
	Commit         *int64 `parquet:"p_commit_ns,optional"`
	InRecords      *int64 `parquet:"in_records,optional"`
	InBytes        *int64 `parquet:"in_bytes,optional"`
	OutRecords     *int64 `parquet:"out_records,optional"`
	OutBytes       *int64 `parquet:"out_bytes,optional"`
	Spills         *int64 `parquet:"spills,optional"`
	MergePasses    *int64 `parquet:"merge_passes,optional"`
	SpilledRecords *int64 `parquet:"spilled_records,optional"`
	ShuffleBytes   *int64 `parquet:"shuffle_bytes,optional"`
	HDFSRead       *int64 `parquet:"hdfs_read_bytes,optional"`
	HDFSWrite      *int64 `parquet:"hdfs_write_bytes,optional"`
	LocalRead      *int64 `parquet:"local_read_bytes,optional"`
	LocalWrite     *int64 `parquet:"local_write_bytes,optional"`
	WaitFetch      *int64 `parquet:"wait_fetch_ns,optional"`
	WaitMemory     *int64 `parquet:"wait_memory_ns,optional"`
	CombineIn      *int64 `parquet:"combine_input_records,optional"`
	CombineOut     *int64 `parquet:"combine_output_records,optional"`
	Materialized   *int64 `parquet:"map_output_materialized_bytes,optional"`
	CPUMillis      *int64 `parquet:"cpu_milliseconds,optional"`
}

type jobRow struct {
	Job      string `parquet:"job"`
	Name     string `parquet:"name"`
	User     string `parquet:"user,dict"`
	Pool     string `parquet:"pool,dict"`
	Queue    string `parquet:"queue,dict"`
	Priority string `parquet:"priority,dict"`
	State    string `parquet:"state,dict"`
	Submit   *int64 `parquet:"submit_ns,optional"`
	Launch   *int64 `parquet:"launch_ns,optional"`
	Finish   *int64 `parquet:"finish_ns,optional"`
	Maps     *int64 `parquet:"maps,optional"`
	Reduces  *int64 `parquet:"reduces,optional"`
}

func orNull(v int64) *int64 {
	if v == workload.Unknown {
		return nil
	}
	return &v
}

func timeOrNull(d time.Duration) *int64 {
	if !workload.Known(d) {
		return nil
	}
	ns := int64(d)
	return &ns
}

var parquetFormat = Format{
	Name: "parquet", About: "tables of attempts and jobs as Parquet",
	Files: attemptsParquet + ", jobs.parquet",
	read:  readParquet,
	write: func(h *workload.History) (Output, error) {
		return Output{Files: []File{
			{attemptsParquet, func(w io.Writer) error { return writeAttemptsParquet(w, h) }},
			{"jobs.parquet", func(w io.Writer) error { return writeJobsParquet(w, h) }},
		}}, nil
	},
}

// parquetOptions leave out values that would differ from run to run.
func parquetOptions() []parquet.WriterOption {
	return []parquet.WriterOption{parquet.Compression(&parquet.Zstd), parquet.CreatedBy("slotwave", "", "")}
}

// AttemptsParquet writes attempts as Parquet, compressed with zstd: one row for each,
// in the order in which they come. It is a model.Recorder, and must be closed. Another
// goroutine encodes the rows, because this takes as long as to simulate them.
type AttemptsParquet struct {
	rows   []workload.Attempt
	counts bool
	full   chan []workload.Attempt // to the encoding goroutine
	free   chan []workload.Attempt // back from it
	end    chan error
}

// NewAttemptsParquet starts a table. Without counters, what tasks compute and combine is
// null.
func NewAttemptsParquet(w io.Writer, counters bool) *AttemptsParquet {
	const together, buffers = 1 << 7, 8 // the rows of a buffer fit into the cache of a core
	p := &AttemptsParquet{
		counts: counters, full: make(chan []workload.Attempt, buffers), free: make(chan []workload.Attempt, buffers), end: make(chan error),
	}
	for range buffers {
		p.free <- make([]workload.Attempt, 0, together)
	}
	p.rows = <-p.free
	go p.drain(newParquetEncoder(w))
	return p
}

// Attempt adds a row. An error of the writer is kept for Close.
func (p *AttemptsParquet) Attempt(a *workload.Attempt) {
	n := len(p.rows)
	p.rows = append(p.rows, *a)
	if !p.counts {
		p.rows[n].SetUncounted()
	}
	if len(p.rows) == cap(p.rows) {
		p.full <- p.rows
		p.rows = <-p.free
	}
}

// drain encodes full buffers until the channel is closed. After an error it only
// returns them.
func (p *AttemptsParquet) drain(e *parquetEncoder) {
	var err error
	for rows := range p.full {
		if err == nil {
			err = e.write(rows)
		}
		p.free <- rows[:0]
	}
	p.end <- errors.Join(err, e.out.Close())
}

// Close writes what is left, without closing the underlying writer.
func (p *AttemptsParquet) Close() error {
	p.full <- p.rows
	close(p.full)
	return <-p.end
}

// parquetEncoder writes rows column by column.
type parquetEncoder struct {
	out     *parquet.GenericWriter[attemptRow]
	columns []parquetColumn // as attemptColumns
	group   int             // rows in the group that is written
}

// parquetColumn is how a column is stored, and the values of the last rows. Most columns
// of a simulated run hold few different values, so they are kept for the next rows.
type parquetColumn struct {
	to      *parquet.ColumnWriter
	defined int  // level of a value that is not null; 0: none is
	small   bool // 32 bits
	texts   map[string]parquet.Value
	last    []parquetCell
	values  []parquet.Value
}

// parquetCell is what a value was made of.
type parquetCell struct {
	number int64
	text   string
	known  bool
}

// newParquetEncoder starts a table. The least and largest values of pages are in the
// index of the file, so the pages do not repeat them.
func newParquetEncoder(w io.Writer) *parquetEncoder {
	e := &parquetEncoder{out: parquet.NewGenericWriter[attemptRow](w, append(parquetOptions(), parquet.DataPageStatistics(false))...)}
	for i, path := range e.out.Schema().Columns() {
		leaf, _ := e.out.Schema().Lookup(path...)
		e.columns = append(e.columns, parquetColumn{
			to: e.out.ColumnWriters()[i], defined: leaf.MaxDefinitionLevel, small: leaf.Node.Type().Kind() == parquet.Int32, texts: map[string]parquet.Value{},
		})
	}
	return e
}

// write writes some rows, and ends their group if it is full.
func (e *parquetEncoder) write(rows []workload.Attempt) error {
	const inGroup = 1 << 17
	for i := range e.columns {
		c := &e.columns[i]
		if attemptColumns[i].text != nil {
			c.setTexts(rows, i)
		} else {
			c.setNumbers(rows, i)
		}
		if _, err := c.to.WriteRowValues(c.values[:len(rows)]); err != nil {
			return err
		}
	}
	if e.group += len(rows); e.group < inGroup {
		return nil
	}
	e.group = 0
	return e.out.Flush()
}

// room makes room for the values of rows.
func (c *parquetColumn) room(rows int) {
	if more := rows - len(c.values); more > 0 {
		c.values = append(c.values, make([]parquet.Value, more)...)
		c.last = append(c.last, make([]parquetCell, more)...)
	}
}

func (c *parquetColumn) setTexts(rows []workload.Attempt, i int) {
	c.room(len(rows))
	text := attemptColumns[i].text
	for r := range rows {
		if s := text(&rows[r]); !c.last[r].known || c.last[r].text != s {
			c.last[r] = parquetCell{text: s, known: true}
			c.values[r] = c.value(s).Level(0, c.defined, i)
		}
	}
}

func (c *parquetColumn) setNumbers(rows []workload.Attempt, i int) {
	first := len(c.values)
	c.room(len(rows))
	number := attemptColumns[i].number
	for r := range rows {
		v, known := number(&rows[r])
		known = known || c.defined == 0
		if is := &c.last[r]; r < first && is.number == v && is.known == known {
			continue
		}
		c.last[r] = parquetCell{number: v, known: known}
		switch {
		case !known:
			c.values[r] = parquet.NullValue().Level(0, 0, i)
		case c.small:
			c.values[r] = parquet.Int32Value(int32(v)).Level(0, c.defined, i)
		default:
			c.values[r] = parquet.Int64Value(v).Level(0, c.defined, i)
		}
	}
}

// value returns a text, of which there are few different ones beside the jobs' ids.
func (c *parquetColumn) value(s string) parquet.Value {
	v, ok := c.texts[s]
	if !ok {
		const most = 1 << 16
		if len(c.texts) == most {
			clear(c.texts)
		}
		v = parquet.ByteArrayValue([]byte(s))
		c.texts[s] = v
	}
	return v
}

// writeAttemptsParquet writes the attempts of a history.
func writeAttemptsParquet(w io.Writer, h *workload.History) error {
	p := NewAttemptsParquet(w, true)
	for i := range h.Jobs {
		for k := range h.Jobs[i].Tasks {
			t := &h.Jobs[i].Tasks[k]
			for n := range t.Attempts {
				p.Attempt(&t.Attempts[n].Attempt)
			}
		}
	}
	return p.Close()
}

// writeJobsParquet writes the jobs of a history as Parquet.
func writeJobsParquet(w io.Writer, h *workload.History) error {
	out := parquet.NewGenericWriter[jobRow](w, parquetOptions()...)
	rows := make([]jobRow, len(h.Jobs))
	for i := range h.Jobs {
		j := &h.Jobs[i]
		rows[i] = jobRow{
			j.ID, j.Name, j.User, j.Pool, j.Queue, j.Priority.String(), j.Outcome.String(),
			timeOrNull(j.Submit), timeOrNull(j.Launch), timeOrNull(j.Finish), orNull(int64(j.Maps)), orNull(int64(j.Reduces)),
		}
	}
	if _, err := out.Write(rows); err != nil {
		return err
	}
	return out.Close()
}

// Gzip compresses what write writes.
func Gzip(w io.Writer, write func(io.Writer) error) error {
	z := gzip.NewWriter(w)
	if err := write(z); err != nil {
		return err
	}
	return z.Close()
}
