package results

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"testing"
	"time"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/text"
)

func checkXML(t *testing.T, text []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestTimeAxis(t *testing.T) {
	for _, c := range []struct {
		end   time.Duration
		unit  string
		first string // tick after zero
		most  int
	}{
		{300 * time.Millisecond, "s", "0.05", 12},
		{42 * time.Second, "s", "5", 12},
		{510 * time.Second, "s", "50", 12},
		{11 * time.Minute, "min", "1", 12},
		{4 * time.Hour, "min", "20", 12},
		{24 * time.Hour, "h", "2", 12},
		{60 * 24 * time.Hour, "h", "168", 12},
		{5 * 365 * 24 * time.Hour, "h", "5,000", 12},
	} {
		u := figure.UnitFor(c.end)
		marks := u.Ticks(u.Of(int64(c.end)), 12)
		if u.Name != c.unit || len(marks) < 4 || len(marks) > c.most+1 || marks[1].Label != c.first {
			t.Errorf("%v: %s, %d ticks, the second is %v: want %s, %s", c.end, u.Name, len(marks), marks[1], c.unit, c.first)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0.00 s"}, {-4 * time.Millisecond, "0.00 s"}, {-5 * time.Millisecond, "-0.01 s"}, {420 * time.Millisecond, "0.42 s"}, {9994 * time.Millisecond, "9.99 s"}, {9996 * time.Millisecond, "10.0 s"},
		{59940 * time.Millisecond, "59.9 s"}, {59960 * time.Millisecond, "1 min 00 s"}, {511 * time.Second, "8 min 31 s"},
		{time.Hour - time.Millisecond, "1 h 00 min"}, {125 * time.Minute, "2 h 05 min"}, {-2 * time.Second, "-2.00 s"},
		{math.MinInt64, "-106,751 d 23 h"}, // a time that is not a number
	} {
		if got := text.Duration(int64(c.d)); got != c.want {
			t.Errorf("%v is written %q: want %q", c.d, got, c.want)
		}
	}
	for in, want := range map[string]string{"0": "0", "999": "999", "1000": "1,000", "-1234567": "-1,234,567", "1234.5678": "1,234.5678"} {
		if got := text.Group(in); got != want {
			t.Errorf("%s is written %s: want %s", in, got, want)
		}
	}
	if got := text.Shorten("naïve", 4); got != "naï…" {
		t.Errorf("shortened to %q", got)
	}
	for n, want := range map[int]string{1: "…", 2: "j…", 5: "jo…ïf", 6: "job…ïf", 9: "job_naïf"} {
		if got := text.ShortenMiddle("job_naïf", n); got != want {
			t.Errorf("shortened to %q in %d characters: want %q", got, n, want)
		}
	}
}
