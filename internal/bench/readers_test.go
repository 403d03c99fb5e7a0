package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// readers read the history of a simulated run in the formats of Hadoop,
// compressed by gzip. Sizes are of the content.
func readers() (list []benchmark) {
	tasks := 20_000
	if !testing.Short() {
		tasks = 200_000
	}
	for _, format := range []string{"rumen", "history", "jhist"} {
		list = append(list, benchmark{group: "reader", name: fmt.Sprintf("%s, gzip, %d tasks", format, tasks), unit: "byte", prepare: func(t testing.TB) (func() (int64, error), error) {
			return reading(format, tasks, t.TempDir())
		}})
	}
	return list
}

// attempts keeps every attempt of a run.
type attempts []workload.Attempt

// Attempt implements model.Recorder.
func (a *attempts) Attempt(x *workload.Attempt) { *a = append(*a, *x) }

func reading(format string, tasks int, dir string) (func() (int64, error), error) {
	q, err := waves(tasks)
	if err != nil {
		return nil, err
	}
	var all attempts
	if _, err := (sim.Simulator{Recorder: &all}).Predict(q); err != nil {
		return nil, err
	}
	formats := trace.Formats()
	out, err := formats[slices.IndexFunc(formats, func(f trace.Format) bool { return f.Name == format })].Write(trace.NewHistory(q.Jobs, all))
	if err != nil {
		return nil, err
	}
	size := int64(0)
	for _, f := range out.Files {
		if format == "rumen" {
			f = asHadoop(f)
		}
		if err := write(filepath.Join(dir, filepath.Base(f.Name)), f.Write, &size); err != nil {
			return nil, err
		}
	}
	return func() (int64, error) {
		_, err := trace.ReadOptions{}.Each([]string{dir}, func(*workload.HistoryJob) error { return nil })
		return size, err
	}, nil
}

// asHadoop returns a JSON file with every member on a line of its own.
func asHadoop(f trace.File) trace.File {
	return trace.File{Name: f.Name, Write: func(w io.Writer) error {
		var text bytes.Buffer
		if err := f.Write(&text); err != nil {
			return err
		}
		for in, out := json.NewDecoder(&text), json.NewEncoder(w); ; {
			out.SetIndent("", "  ")
			var object json.RawMessage
			if err := in.Decode(&object); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if err := out.Encode(object); err != nil {
				return err
			}
		}
	}}
}

// write writes a file, compressed, and adds the size of its content.
func write(name string, content func(io.Writer) error, size *int64) error {
	to, err := os.Create(name)
	if err != nil {
		return err
	}
	err = trace.Gzip(to, func(w io.Writer) error {
		n := &counter{Writer: w}
		err := content(n)
		*size += n.bytes
		return err
	})
	return errors.Join(err, to.Close())
}

// counter counts the bytes written.
type counter struct {
	io.Writer
	bytes int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.bytes += int64(n)
	return n, err
}
