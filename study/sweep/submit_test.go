package sweep

import "testing"

// Paths are one value of an option of sbatch, whatever they hold; plain ones stay as they
// are.
func TestBatchValue(t *testing.T) {
	for path, want := range map[string]string{
		"/home/a/out": "/home/a/out", "/my data/x": `"/my data/x"`, `/a"b`: `"/a\"b"`, `/a\b`: `"/a\\b"`, "/a#b": `"/a#b"`, "/it's": `"/it's"`,
	} {
		if got := batchValue(path); got != want {
			t.Errorf("%s: got %s: want %s", path, got, want)
		}
	}
}
