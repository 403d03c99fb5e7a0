package trace

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/slotwave/slotwave/workload"
)

// A table that another program wrote has columns of other types, in another order.
func TestParquetOfOthers(t *testing.T) {
	type row struct {
		Kind   string   `parquet:"kind"`
		Start  float64  `parquet:"start_s"`
		Task   float32  `parquet:"task"`
		Finish *float64 `parquet:"finish_s,optional"`
		Extra  bool     `parquet:"extra"`
		State  *string  `parquet:"state,optional"`
		Bytes  float64  `parquet:"in_bytes"`
	}
	end, state := 12.5, "SUCCEEDED"
	var b bytes.Buffer
	if err := parquet.Write(&b, []row{
		{Kind: "map", Start: 2, Task: 0, Finish: &end, State: &state, Bytes: 3e9},
		{Kind: "map", Start: 3, Task: 1, Bytes: math.NaN()},
	}); err != nil {
		t.Fatal(err)
	}
	h, err := readBytes(b.Bytes(), "")
	if err != nil {
		t.Fatal(err)
	}
	list := h.Attempts()
	if len(list) != 2 || len(h.Problems) > 0 {
		t.Fatalf("got %d attempts, problems %v", len(list), h.Problems)
	}
	if a := list[0]; a.Start != 2*time.Second || a.Finish != 12500*time.Millisecond || a.State != workload.Succeeded || a.InBytes != 3e9 {
		t.Errorf("got %+v", a)
	}
	if a := list[1]; a.Task != 1 || a.Start != 3*time.Second || workload.Known(a.Finish) || a.InBytes != workload.Unknown {
		t.Errorf("got %+v", a)
	}
}

// Files that would need more room than they may, or lie about it, are refused.
func TestParquetLimits(t *testing.T) {
	type row struct {
		Job  string `parquet:"job"`
		Maps int64  `parquet:"maps"`
	}
	written := func(rows any) []byte {
		var b bytes.Buffer
		var err error
		switch rows := rows.(type) {
		case []row:
			err = parquet.Write(&b, rows, parquet.Compression(&parquet.Zstd), parquet.PageBufferSize(128<<20))
		case []struct{ Job []string }:
			err = parquet.Write(&b, rows)
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	blanks := make([]row, 5000)
	for i := range blanks {
		blanks[i].Job = strings.Repeat(" ", 16<<10)
	}
	var lz4 bytes.Buffer
	if err := parquet.Write(&lz4, []row{{"a", 1}}, parquet.Compression(&parquet.Lz4Raw)); err != nil {
		t.Fatal(err)
	}
	short := written([]row{{"a", 1}, {"b", 2}})
	footer := bytes.Clone(short)
	binary.LittleEndian.PutUint32(footer[len(footer)-8:], math.MaxUint32)
	for _, c := range []struct {
		what, want string
		data       []byte
	}{
		{"more rows than attempts are allowed", "more tasks or attempts than the limit", written(make([]row, 5001))},
		{"80 MB of blanks in cells", "implausibly large", written(blanks)},
		{"a list in a cell", "is nested", written([]struct{ Job []string }{{[]string{"a", "b"}}})},
		{"a compression whose decoder trusts the file", "want none, snappy, gzip or zstd", lz4.Bytes()},
		{"its first half", "", short[:len(short)/2]},
		{"a wrong length of its index", "", footer},
		{"no columns of jobs or attempts", "want a table of attempts", func() []byte {
			var b bytes.Buffer
			if err := parquet.Write(&b, []struct{ X int }{{1}}); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}()},
	} {
		if h, err := readBytes(c.data, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %.200v, %v: want an error with %q", c.what, h, err, c.want)
		}
	}
}
