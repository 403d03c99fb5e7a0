package diagnose

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// sampleColumns are the columns of a file of sampling records. Target is
// TASK#THREAD of a task sample, else the device or file. Value is STATE|THREAD
// NAME|FRAME;FRAME;... with the top frame first, else a number. Commas, bars,
// semicolons, %, quotes and line ends in names are written %XX.
var sampleColumns = []string{"time_ns", "node", "type", "target", "value"}

// sampleTypes are the types of records that a reconstruction uses; others, such
// as log, are counted.
const (
	taskSample = "task"
	logSample  = "log"
)

// seriesKey names the readings of one counter of a node.
type seriesKey struct{ node, kind, target string }

// IsSamples reports from the beginning of a file whether Read can read it.
func IsSamples(start []byte) bool {
	own, instruments := kindOfSamples(start)
	return own || instruments
}

// kindOfSamples distinguishes slotwave's own format, the tables of HiTune, and
// other files.
func kindOfSamples(start []byte) (own, instruments bool) {
	header, _, _ := bytes.Cut(start, []byte("\n"))
	names := strings.Split(strings.TrimRight(string(header), "\r"), ",")
	return slices.Equal(names, sampleColumns), slices.Contains(names, "phase_name") && slices.Contains(names, "breakdown_count")
}

// Read adds the records of a file: our own format, or the tables
// instruments_*.csv of HiTune. Records that cannot be read are counted.
func (r *Reconstruction) Read(in io.Reader, file string) error {
	b := bufio.NewReaderSize(in, 1<<18)
	start, err := b.Peek(1 << 12)
	if len(start) == 0 {
		if errors.Is(err, io.EOF) {
			err = errors.New("got an empty file: want sampling records")
		}
		return fmt.Errorf("%s: %w", file, err)
	}
	own, instruments := kindOfSamples(start)
	switch {
	case own:
		err = r.readSamples(b)
	case instruments:
		err = r.readInstruments(b)
	default:
		header, _, _ := bytes.Cut(start, []byte("\n"))
		return fmt.Errorf("%s:1: got columns %.80q: want %s, or HiTune's instruments_*.csv", file, header, strings.Join(sampleColumns, ","))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func (r *Reconstruction) readSamples(b *bufio.Reader) error {
	for first := true; ; first = false {
		line, err := b.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			r.problems.add("records longer than 256 KiB")
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = b.ReadSlice('\n')
			}
			line = nil
		case len(line) > 0 && !first:
			if what := r.record(bytes.TrimRight(line, "\r\n")); what != "" {
				r.problems.add(what)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// record adds one line. It returns the error in the line, if any.
func (r *Reconstruction) record(line []byte) string {
	if len(line) == 0 {
		return ""
	}
	var cells [5][]byte
	for i := range cells[:4] {
		comma := bytes.IndexByte(line, ',')
		if comma < 0 {
			return "records without five columns"
		}
		cells[i], line = line[:comma], line[comma+1:]
	}
	cells[4] = line
	ns, ok := parseInt(cells[0])
	if !ok {
		return "records without a time"
	}
	at := float64(ns) / 1e6
	switch string(cells[2]) {
	case taskSample:
		return r.taskRecord(at, &cells)
	case logSample:
		return ""
	}
	if kind := string(cells[2]); !slices.Contains([]string{"cpu", "memory", "net"}, kind) && !isIODevice(kind) {
		const most = 20 // names
		if len(r.problems.order) > most {
			return "records of further types"
		}
		return fmt.Sprintf("records of type %.40s, which is none of task, log, cpu, disk, network, net and memory", kind)
	}
	value, err := strconv.ParseFloat(string(cells[4]), 64)
	if err != nil {
		return "system records without a number"
	}
	r.systemRecord(&cells, at, value)
	return ""
}

func (r *Reconstruction) taskRecord(at float64, cells *[5][]byte) string {
	hash := bytes.LastIndexByte(cells[3], '#')
	if hash < 0 {
		return "task samples without TASK#THREAD"
	}
	thread, ok := parseInt(cells[3][hash+1:])
	if !ok || thread < 0 || thread > 1<<31-1 {
		return "task samples without TASK#THREAD"
	}
	s, ok := r.stacks[string(cells[4])]
	if !ok {
		parts := strings.SplitN(string(cells[4]), "|", 3)
		if len(parts) != 3 {
			return "task samples without STATE|NAME|FRAMES"
		}
		var frames []string
		if parts[2] != "" {
			for f := range strings.SplitSeq(parts[2], ";") {
				frames = append(frames, unescapeSample(f))
			}
		}
		s = r.newStack(threadClass(unescapeSample(parts[1])), parts[0], frames)
		if len(r.stacks) < mostStacks {
			r.stacks[string(cells[4])] = s
		}
	}
	r.sample(r.thread(cells[1], cells[3][:hash], int(thread)), at, s)
	return ""
}

func (r *Reconstruction) systemRecord(cells *[5][]byte, at, value float64) {
	k := &r.systemKey
	if k.node != string(cells[1]) || k.kind != string(cells[2]) || k.target != string(cells[3]) {
		*k = seriesKey{string(cells[1]), string(cells[2]), string(cells[3])}
	}
	s := r.system[*k]
	if s == nil {
		s = new(Series)
		r.system[*k] = s
	}
	*s = append(*s, [2]float64{at, value})
}

func parseInt(text []byte) (int64, bool) {
	if len(text) == 0 || len(text) > 18 {
		return 0, false
	}
	negative := text[0] == '-'
	if negative {
		text = text[1:]
	}
	n := int64(0)
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, len(text) > 0
}

// unescapeSample undoes %XX.
func unescapeSample(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// instrumentVertices maps the phases of HiTune's tables to vertices. The main
// thread of a reduce has a phase while the copiers work.
var instrumentVertices = map[string]string{
	"Mapphase": "map", "SpillThread": "spill", "Shuffle": "shuffle", "Copier": "copier",
	"MemMerge": "merge", "FSMerge": "merge", "Sort": "sort", "Reduce": "reduce",
}

// readInstruments reads a table of samples already counted by HiTune: by thread
// and phase, the samples in each state and with each method.
func (r *Reconstruction) readInstruments(in io.Reader) error {
	rows := csv.NewReader(in)
	rows.LazyQuotes, rows.ReuseRecord = true, true
	header, err := rows.Read()
	if err != nil {
		return err
	}
	column := map[string]int{}
	for i, name := range header {
		column[strings.Clone(name)] = i
	}
	for _, name := range []string{"phase_name", "phase_start", "phase_end", "phase_count", "breakdown_type", "breakdown_name", "breakdown_count", "host", "attempt_id", "thread_name", "thread_id"} {
		if _, ok := column[name]; !ok {
			return fmt.Errorf("got no column %s", name)
		}
	}
	instances := map[instrumentKey]*Instance{}
	var order []*Instance
	seen := map[instrumentCell]bool{} // the tables repeat rows
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.problems.add("rows of instruments that are not CSV")
			continue
		}
		cell := func(name string) string { return row[column[name]] }
		numbers, ok := parseCells(cell("phase_start"), cell("phase_end"), cell("phase_count"), cell("breakdown_count"), cell("thread_id"))
		if !ok || numbers[1] < numbers[0] {
			r.problems.add("rows of instruments without their numbers")
			continue
		}
		phase := strings.Clone(cell("phase_name"))
		k := instrumentKey{r.names.id(cell("attempt_id")), r.names.id(phase), int(numbers[4])}
		i := instances[k]
		if i == nil {
			vertex, known := instrumentVertices[phase]
			if !known {
				vertex = strings.ToLower(phase)
			}
			i = &Instance{
				Vertex: vertex, Node: r.names.list[r.names.id(cell("host"))], Task: r.names.list[k.attempt], Thread: k.thread,
				Start: float64(numbers[0]), End: float64(numbers[1]), Samples: int(numbers[2]),
			}
			instances[k], order = i, append(order, i)
			see(r.spans, i.Task, i.Node, i.Start, i.End)
		}
		at := instrumentCell{k, r.names.id(cell("breakdown_type")), r.names.id(cell("breakdown_name"))}
		if seen[at] {
			continue
		}
		seen[at] = true
		key := countKey{r.names.id(i.Vertex), r.names.id(threadClass(cell("thread_name"))), -1, -1}
		if cell("breakdown_type") == "state" {
			key.state = at.name
			if isIdle(cell("breakdown_name")) {
				i.Idle += int(numbers[3])
			}
		} else {
			key.frame = r.names.id(strings.ReplaceAll(cell("breakdown_name"), `\`, ""))
		}
		r.counts[key] += int(numbers[3])
	}
	for _, i := range order {
		r.instances = append(r.instances, *i)
	}
	return nil
}

type instrumentKey struct {
	attempt, phase int32
	thread         int
}

type instrumentCell struct {
	instrumentKey
	kind, name int32
}

func parseCells(cells ...string) ([]int64, bool) {
	numbers := make([]int64, len(cells))
	for i, c := range cells {
		n, ok := parseInt([]byte(c))
		if !ok {
			return nil, false
		}
		numbers[i] = n
	}
	return numbers, true
}
