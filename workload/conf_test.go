package workload

import "testing"

// Sizes are powers of 1024, as Hadoop means them.
func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"67108864": 67108864, "64m": 64 << 20, "64 MB": 64 << 20, "64MiB": 64 << 20, " 30 GB ": 30 << 30, "1.5k": 1536,
		"2T": 2 << 40, "1p": 1 << 50, "0": 0, "12b": 12, "1e3": 1000, ".5k": 512, "1 b": 1,
		"": -1, "m": -1, "-1": -1, "64x": -1, "64mbb": -1, "64bb": -1, "1  GB": -1, "8192p": -1, "1e30": -1, "inf": -1, "nan": -1, "1g2": -1, "64 m b": -1, "64ki": -1,
	} {
		got, err := ParseBytes(text)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%q: got %d (%v): want %d", text, got, err, want)
		}
	}
}
