package text

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

// UseColour reports whether text may have colours: only on a terminal, and not
// if NO_COLOR is set (no-color.org).
func UseColour(terminal bool) bool { return terminal && os.Getenv("NO_COLOR") == "" }

// Writer aligns tables and keeps the first error.
type Writer struct {
	*tabwriter.Writer
	out    *bufio.Writer
	colour bool
}

func NewWriter(w io.Writer, colour bool) *Writer {
	out := bufio.NewWriter(w)
	return &Writer{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0), out, colour}
}

// paint writes a whole line in a terminal colour. In a table, the colour codes
// would count as width.
func (t *Writer) paint(code, line string) {
	t.Flush()
	if t.colour {
		line = "\x1b[" + code + "m" + line + "\x1b[0m"
	}
	fmt.Fprintln(t.out, line)
}

func (t *Writer) Heading(line string) { t.paint("1", line) }

func (t *Writer) Section(line string) {
	fmt.Fprintln(t)
	t.Heading(line)
}

func (t *Writer) List(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	t.Section(title)
	for _, line := range lines {
		if title == "Warnings" {
			t.paint("33", "- "+line)
		} else {
			fmt.Fprintln(t, "- "+line)
		}
	}
}

func (t *Writer) Done() error {
	t.Flush()
	return t.out.Flush()
}
