package workload

import (
	"io"
	"sync/atomic"
)

// BytesRead counts what readers have read of histories and tables in this process, for
// a line that says how far they are.
var BytesRead atomic.Int64

// CountedReader is a reader whose bytes are counted.
type CountedReader struct{ io.Reader }

// Read implements io.Reader.
func (c CountedReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	BytesRead.Add(int64(n))
	return n, err
}
