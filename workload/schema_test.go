package workload

import "testing"

func TestSchema(t *testing.T) {
	t.Parallel()
	s := Schema{"toy", 2, 3}
	for _, c := range []struct {
		stated, by, want string
		is               bool
	}{
		{"slotwave/toy/3", "", "", true},
		{"slotwave/toy/2", "", "", true},
		{"slotwave/toy/1", "", `schema: got "slotwave/toy/1": want at least "slotwave/toy/2": use the slotwave that wrote the file, or write it anew`, true},
		{"slotwave/toy/4", "1.5.0", `schema: got "slotwave/toy/4": want at most "slotwave/toy/3": use the slotwave 1.5.0 that wrote the file, or a newer one`, true},
		{"slotwave/other/3", "", "", false},
		{"slotwave/toy/", "", "", false},
		{"", "", "", false},
	} {
		is, err := s.Reads(c.stated, c.by)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if is != c.is || got != c.want {
			t.Errorf("%q: got %v, %q: want %v, %q", c.stated, is, got, c.is, c.want)
		}
	}
	if got := s.String(); got != "slotwave/toy/3" {
		t.Errorf("written: got %q", got)
	}
}
