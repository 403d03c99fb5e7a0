package spool

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// A table that mostly lies in a file holds what a map holds after the same calls, and
// leaves no file.
func TestAgainstMap(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	const rows, columns, width = 300, 3, 200 // blocks of 4.8 KB: the last third is in the file
	type cell struct{ row, column int }
	f, want := New(rows, columns, width), map[cell][]float64{}
	random := rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		at := cell{random.IntN(rows), random.IntN(4 * columns)}
		var vector []float64
		if random.IntN(5) > 0 {
			vector = make([]float64, width)
			for i := range vector {
				vector[i] = random.NormFloat64()
			}
		}
		want[at] = vector
		if err := f.Put(at.row, at.column, vector); err != nil {
			t.Fatal(err)
		}
	}
	if f.file == nil || len(f.memory) == 0 || f.blocks == rows {
		t.Fatal("want vectors in memory, in the file and in further blocks")
	}
	for row := range rows {
		got, err := f.Row(row)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(got); n > 0 && got[n-1] == nil {
			t.Fatalf("row %d ends with an absent vector", row)
		}
		for column := range 4 * columns {
			var vector []float64
			if column < len(got) {
				vector = got[column]
			}
			if !slices.Equal(vector, want[cell{row, column}]) {
				t.Fatalf("row %d, column %d: got another vector", row, column)
			}
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v, %v: want no file left", left, err)
	}
}

// Few small vectors need no file.
func TestSmall(t *testing.T) {
	t.Setenv("TMPDIR", "/nowhere")
	f := New(10, 2, 3)
	if err := f.Put(9, 1, []float64{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Row(9); err != nil || len(got) != 2 || got[0] != nil || !slices.Equal(got[1], []float64{1, 2, 3}) {
		t.Errorf("got %v, %v: want the second of two vectors", got, err)
	}
	if err := New(10, 1, inMemory).Put(0, 0, make([]float64, inMemory)); err == nil {
		t.Error("want an error without a folder for the file")
	}
}
