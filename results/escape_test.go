package results

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// unescape undoes Escape.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if workload.LooksEscaped(s[i:]) {
			b.WriteByte(hexValue(s[i+2])<<4 | hexValue(s[i+3]))
			i += 3
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c - 'a' + 10
}

// nastyNames are names a trace could hold.
var nastyNames = []string{
	"", " ", " lead", "trail ", `a,b`, `say "hi"`, `"`, `""`, `\.`, `DOMAIN\user`, `back\x41slash`, `\x4`,
	"line\nbreak", "cr\rlf\r\n", "tab\there", "\x1b[31mred\x1b[0m", "nul\x00", "\x7f", "\xff\xfe", "half \xc3",
	"<script>alert(1)</script>", "a&b", "../../etc/passwd", "..", ".", "con", "CON.txt", "/abs", `C:\x`, "~",
	"naïve", "日本語", "😀", "a\u202eb", "zero\u200bwidth", "\ufeffbom", "line\u2028sep", "=1+1", "-1", "@x", "#c",
	strings.Repeat("long", 100),
}

func TestEscape(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"job_1", "job_1"},
		{"naïve 日本語", "naïve 日本語"},
		{`DOMAIN\user`, `DOMAIN\user`},   // not read as an escape, so left alone
		{`back\x41`, `back\x5cx41`},      // would read as one
		{"a\nb\x1b[1m", `a\x0ab\x1b[1m`}, // control characters
		{"\xff", `\xff`},                 // invalid UTF-8
		{"=1+2", `\x3d1+2`},              // a formula of a spreadsheet
		{"@home", `\x40home`},
		{"-", "-"},
		{"a\u202eb", `a\xe2\x80\xaeb`}, // turns the text round
	} {
		if got := text.Escape(c.in); got != c.want {
			t.Errorf("Escape(%q) = %q: want %q", c.in, got, c.want)
		}
	}
	for _, name := range nastyNames {
		checkEscape(t, name)
	}
}

func checkEscape(t *testing.T, name string) {
	t.Helper()
	got := text.Escape(name)
	if unescape(got) != name {
		t.Errorf("Escape(%q) = %q, which stands for %q", name, got, unescape(got))
	}
	if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
		t.Errorf("Escape(%q) = %q: want printable text", name, got)
	}
	field := string(text.AppendField(nil, name))
	rows, err := csv.NewReader(strings.NewReader("x," + field + ",y\n")).ReadAll()
	if err != nil || len(rows) != 1 || len(rows[0]) != 3 || rows[0][1] != got {
		t.Errorf("the field of %q is %s, which reads as %q, %v", name, field, rows, err)
	}
}

func FuzzEscape(f *testing.F) {
	for _, name := range nastyNames {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) { checkEscape(t, name) })
}

func TestSlug(t *testing.T) {
	for _, name := range []string{"two-jobs", "fb2009", "a.b_c-d", "_con"} {
		if got := text.Slug(name); got != name {
			t.Errorf("Slug(%q) = %q: want it unchanged", name, got)
		}
	}
	if got := text.Slug("Two Jobs!"); !strings.HasPrefix(got, "two-jobs-") {
		t.Errorf("Slug of Two Jobs! = %q: want two-jobs- and a hash", got)
	}
	seen := map[string]string{}
	for _, name := range append(nastyNames, "Two Jobs", "two jobs", "two-jobs") {
		checkSlug(t, name)
		if other, ok := seen[text.Slug(name)]; ok {
			t.Errorf("%q and %q have the same slug %q", name, other, text.Slug(name))
		}
		seen[text.Slug(name)] = name
	}
}

func checkSlug(t *testing.T, name string) {
	t.Helper()
	s := text.Slug(name)
	if !text.IsSlug(s) || text.Slug(s) != s {
		t.Errorf("Slug(%q) = %q, which is none itself", name, s)
	}
}

func FuzzSlug(f *testing.F) {
	for _, name := range nastyNames {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) { checkSlug(t, name) })
}

// TestAttemptsRoundTrip reads the table back with a CSV reader, nasty names
// and extreme numbers included.
func TestAttemptsRoundTrip(t *testing.T) {
	var out bytes.Buffer
	table := NewAttemptTable(&out, true)
	var want []workload.Attempt
	for i, name := range nastyNames {
		a := workload.Attempt{
			Job: name, Node: nastyNames[(i+1)%len(nastyNames)], Rack: nastyNames[(i+2)%len(nastyNames)],
			Pool: nastyNames[(i+3)%len(nastyNames)], Task: i, Number: i % 3, Slot: i % 5,
			Kind: workload.Kind(i % numKinds), State: workload.State(i % numStates), Locality: workload.Locality(i % numLocalities),
			Runnable: 1, Start: 2, Finish: 1<<63 - 1, WaitFetch: 7, WaitMemory: 8,
		}
		for p := range a.Phases {
			a.Phases[p] = 1 << (6 * p)
		}
		a.Counters = workload.Counters{
			InRecords: 11, InBytes: 12, OutRecords: 13, OutBytes: 14, Spills: 15, MergePasses: 16, SpilledRecords: 17,
			ShuffleBytes: 18, HDFSReadBytes: 19, HDFSWriteBytes: 20, LocalReadBytes: 21, LocalWriteBytes: -22,
			CombineInRecords: 23, CombineOutRecords: 24, MaterializedBytes: 25, CPUMillis: 26,
		}
		table.Attempt(&a)
		want = append(want, a)
	}
	table.Close()
	if err := table.Close(); err != nil || table.Rows() != int64(len(want)) {
		t.Fatalf("%d rows, %v", table.Rows(), err)
	}
	if lines := bytes.Count(out.Bytes(), []byte("\n")); lines != len(want)+1 {
		t.Errorf("%d lines for %d rows: want one each", lines, len(want))
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range want {
		cells := []string{
			a.Job, whole(a.Task), a.Kind.String(), whole(a.Number), a.State.String(), a.Node, a.Rack, whole(a.Slot), a.Pool,
			a.Locality.String(), ns(a.Runnable), ns(a.Start), ns(a.Finish),
		}
		for _, d := range a.Phases {
			cells = append(cells, ns(d))
		}
		cells = append(cells, "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "-22", "7", "8", "23", "24", "25", "26")
		if columns := attemptColumns(true); !slices.Equal(rows[0], columns) || len(cells) != len(columns) {
			t.Fatalf("the columns are %v", rows[0])
		}
		for c, cell := range cells {
			if got := unescape(rows[i+1][c]); got != cell {
				t.Errorf("row %d, %s: %q: want %q", i, rows[0][c], got, cell)
			}
		}
	}
}
