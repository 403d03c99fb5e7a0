package sweep

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/workload"
)

// journalSchema is that of the files of finished simulations. Version 1 has no
// checksums.
var journalSchema = workload.Schema{Kind: "journal", Oldest: 2, Version: 2}

// castagnoli is the polynomial of the checksum of a line. It finds each damage of up
// to 32 bits in a row.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sealed ends a line, an object of JSON, with the checksum of all before it.
func sealed(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte("}\n"))
	return fmt.Appendf(line, "%s%08x\"}\n", sealKey, crc32.Checksum(line, castagnoli))
}

const sealKey = `,"crc32c":"`

// whole refuses a line that is not as it was written.
func whole(line []byte) error {
	const digits = 8
	at := len(line) - len(sealKey) - digits - len("\"}\n")
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(sealKey)) || !bytes.HasSuffix(line, []byte("\"}\n")) {
		return fmt.Errorf("damaged: want a line that ends with its checksum: %s", remedy)
	}
	if want := sealed(bytes.Clone(line[:at])); !bytes.Equal(line, want) {
		return fmt.Errorf("damaged: crc32c: got %q: want %q, that of the line: %s", line[at+len(sealKey):][:digits], want[at+len(sealKey):][:digits], remedy)
	}
	return nil
}

// remedy says how to go on after a damage.
const remedy = "cut the file before this line, or remove it, and simulate again what it held"

// agrees refuses what was made from other inputs or by another version.
func (h *journalHead) agrees(file string, with journalHead) error {
	switch {
	case h.Inputs != with.Inputs:
		return fmt.Errorf("%s: made from other inputs or flags than those of %s (SHA-256 %.16s, now %.16s): repeat with the same ones, or choose another --out", file, with.Study, h.Inputs, with.Inputs)
	case h.Build != with.Build:
		return fmt.Errorf("%s: made by another version of slotwave (SHA-256 %.16s, this one %.16s): use the same version, or choose another --out", file, h.Build, with.Build)
	}
	return nil
}

// readHead reads the first line of a journal. It looks at the version first: others may
// have other checksums.
func readHead(line []byte, file string, n int) (h journalHead, err error) {
	is := json.Unmarshal(line, &h) == nil
	if is {
		is, err = journalSchema.Reads(h.Schema, "")
	}
	switch {
	case !is:
		return h, fmt.Errorf("%s:%d: not a file of finished simulations: want one that slotwave sweep wrote", file, n)
	case err != nil && h.Schema == "slotwave/journal/1":
		return h, fmt.Errorf("%s:%d: schema: got %q, which has no checksums: want %q: remove the file and run slotwave sweep work again, or the sweep", file, n, h.Schema, journalSchema)
	case err != nil:
		return h, fmt.Errorf("%s:%d: %w", file, n, err)
	}
	if err := whole(line); err != nil {
		return h, fmt.Errorf("%s:%d: %w", file, n, err)
	}
	return h, nil
}

// journalRow is one finished simulation.
type journalRow struct {
	Point       int      `json:"point"`
	Replication int      `json:"replication"`
	Seed        uint64   `json:"seed"`
	Values      []number `json:"values"`
	Goals       []number `json:"goals,omitempty"`
	Slacks      []number `json:"slacks,omitempty"`
	Full        float64  `json:"full,omitempty"`
	Row         int      `json:"row,omitempty"` // counts those since the first line; added when it is written
}

// Journal keeps finished simulations, one line each.
type Journal struct {
	f    *os.File
	to   io.Writer
	rows int // of the file
	last int // number of the last row since the first line of its writer
}

// OpenJournal opens the journal in the folder of a result, and takes over what
// is finished there. The caller closes it.
func (s *Sweep) OpenJournal(folder string, b resultdir.Build) (*Journal, error) {
	return s.openJournal(filepath.Join(folder, resultdir.JournalName), b)
}

func (s *Sweep) openJournal(path string, b resultdir.Build) (*Journal, error) {
	f, err := resultdir.OpenJournal(path)
	if err != nil {
		return nil, err
	}
	j := &Journal{f: f, to: f}
	size, last, err := s.readJournal(f, path, b, func(t task, r points.Replication) error {
		j.rows++
		s.record(t, r)
		return nil
	})
	j.last = last
	if err == nil {
		err = f.Truncate(size) // a line that was cut off
	}
	if err == nil && size == 0 {
		err = j.begin(s.identity(b))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return j, nil
}

// readJournal passes on every row, and returns the size of the whole lines and the
// number of the last row. A kill cuts off at most the last line.
func (s *Sweep) readJournal(r io.Reader, path string, b resultdir.Build, row func(task, points.Replication) error) (size int64, last int, err error) {
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if begin := []byte(`{"schema":"slotwave/journal/`); n == 1 && !bytes.HasPrefix(line, begin) && !bytes.HasPrefix(begin, line) {
				_, err := readHead(nil, path, n)
				return size, last, err // the file is something else
			}
			return size, last, nil
		}
		if err != nil {
			return size, last, err
		}
		text := unkeyed(line)
		if n == 1 || bytes.HasPrefix(text, []byte(`{"schema"`)) { // each mapper writes one
			head, err := readHead(text, path, n)
			if err != nil {
				return size, last, err
			}
			if err := head.agrees(path, s.identity(b)); err != nil {
				return size, last, err
			}
			last = 0
		} else {
			last++
			t, one, err := s.readRow(text, last)
			if err == nil {
				err = row(t, one)
			}
			if err != nil {
				return size, last, fmt.Errorf("%s:%d: %w", path, n, err)
			}
		}
		size += int64(len(line))
	}
}

// readRow reads the row with a number, which has to be one of the study.
func (s *Sweep) readRow(line []byte, number int) (task, points.Replication, error) {
	if err := whole(line); err != nil {
		return task{}, points.Replication{}, err
	}
	var row journalRow
	if err := json.Unmarshal(line, &row); err != nil || len(row.Values) != len(s.Metrics.Names()) || len(row.Goals) != len(s.Goals) || len(row.Slacks) != len(s.Goals) {
		return task{}, points.Replication{}, errors.New("not a row of finished simulations: want it as slotwave sweep wrote it")
	}
	if row.Row != number {
		return task{}, points.Replication{}, fmt.Errorf("row: got %d: want %d: rows are missing or repeated: %s", row.Row, number, remedy)
	}
	t := task{row.Point - 1, row.Replication - 1}
	if t.point < 0 || t.point >= s.NumPoints || t.replication < 0 || t.replication >= s.File.MaxReplications {
		return t, points.Replication{}, fmt.Errorf("point %d, replication %d: not one of the study's %d points", row.Point, row.Replication, s.NumPoints)
	}
	if want := s.seed(t); row.Seed != want {
		return t, points.Replication{}, fmt.Errorf("point %d, replication %d: seed: got %d: want %d", row.Point, row.Replication, row.Seed, want)
	}
	return t, points.Replication{Seed: row.Seed, Values: figures[float64](row.Values), Goals: figures[float64](row.Goals), Slacks: figures[float64](row.Slacks), Full: row.Full}, nil
}

// finishedRow makes the row of a finished simulation.
func finishedRow(t task, r points.Replication) journalRow {
	return journalRow{t.point + 1, t.replication + 1, r.Seed, figures[number](r.Values), figures[number](r.Goals), figures[number](r.Slacks), r.Full, 0}
}

// add writes a finished simulation with its number and checksum, in one piece, so that
// a kill leaves at most the last line cut off. A nil journal keeps nothing.
func (j *Journal) add(line []byte) error {
	if j == nil {
		return nil
	}
	j.rows++
	j.last++
	line = fmt.Appendf(bytes.TrimSuffix(line, []byte("}\n")), ",\"row\":%d}\n", j.last)
	_, err := j.to.Write(sealed(line))
	return err
}

// figures converts the figures of a row from or to JSON.
func figures[To, From ~float64](values []From) []To {
	if len(values) == 0 {
		return nil
	}
	list := make([]To, len(values))
	for i, v := range values {
		list[i] = To(v)
	}
	return list
}

// encode makes a line of a journal.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// begin writes the first line.
func (j *Journal) begin(head journalHead) error {
	line, err := encode(head)
	if err == nil {
		_, err = j.to.Write(sealed(line))
	}
	j.last = 0
	return err
}

// Close closes the journal. One without a finished simulation is removed.
func (j *Journal) Close() error {
	if j.rows == 0 {
		os.Remove(j.f.Name())
	}
	return j.f.Close()
}

// unkeyed returns a line without the key and the tab that Stream writes.
func unkeyed(line []byte) []byte {
	if key, rest, found := bytes.Cut(line, []byte("\t")); found && !bytes.HasPrefix(key, []byte("{")) {
		return rest
	}
	return line
}

// number is a figure in JSON; null is NaN.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

func (n *number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = number(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}
