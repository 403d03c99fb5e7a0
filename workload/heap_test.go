package workload

import "testing"

// Hadoop's pattern of the heap of a task: (?:^|\s)-Xmx(\d+)([gGmMkK]?)(?:$|\s), the last
// match. Its size without a unit is bytes.
func TestHeap(t *testing.T) {
	for _, c := range []struct {
		opts string
		want int64
	}{
		{"-Xmx200m", 200 << 20},
		{"-server -Xmx2G -verbose:gc", 2 << 30},
		{"-Xmx512k", 512 << 10},
		{"-Xmx1048576", 1 << 20},
		{"-Xmx1g -Xmx2g", 2 << 30},
		{"\"-Xmx1g\"", 1 << 30},
		{"'-server -Xmx1g'", 1 << 30},
		{"-Xmx2.5g", Unknown},
		{"-Xmx4096MB", Unknown},
		{"-Xmx2t", Unknown},
		{"-Xmxlots", Unknown},
		{"-Dx=-Xmx1g", Unknown},
		{"-Xmx99999999999g", Unknown},
		{"", Unknown},
		{"-Xmx1g -Xmx2.5g", 1 << 30},
		{"-Xmx1g -Xmxlots", 1 << 30},
	} {
		if got := Heap(c.opts); got != c.want {
			t.Errorf("%q: got %d: want %d", c.opts, got, c.want)
		}
	}
}

// A number may have the suffix of a literal of Java, as Float.parseFloat reads it.
func TestNumbersOfJava(t *testing.T) {
	const key = "mapred.job.shuffle.input.buffer.percent"
	for text, want := range map[string]float64{"0.80f": 0.8, "0.5D": 0.5, "1.F": 1, ".5d": 0.5} {
		var c Conf
		c.Set(key, text)
		if got, err := c.Number(key); err != nil || got != want {
			t.Errorf("%s: got %v, %v: want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"f", "0.8ff", "0.8e", "NaNf"} {
		var c Conf
		c.Set(key, text)
		if got, err := c.Number(key); err == nil {
			t.Errorf("%s: got %v: want an error", text, got)
		}
	}
}
