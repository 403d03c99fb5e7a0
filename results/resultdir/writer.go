package resultdir

import "io"

// Writer writes files one after another until the first error.
type Writer struct {
	Dir Target
	Err error
}

func (w *Writer) Write(name string, content func(io.Writer) error) {
	if w.Err == nil {
		w.Err = w.Dir.Write(name, content)
	}
}
