package taskplan_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/model/taskplan"
)

// mergeEach merges file by file: the plain definition that Merge must equal.
func mergeEach(n, f int) taskplan.MergePlan {
	p := taskplan.MergePlan{FirstPass: n, FinalFiles: n}
	if n > f {
		p.FirstPass = (n-1)%(f-1) + 1
		if (n-1)%(f-1) == 0 {
			p.FirstPass = f
		}
	}
	if n > 1 {
		p.Passes = 1
	}
	files := slices.Repeat([]int{1}, n)
	for take := p.FirstPass; len(files) > f; take = f {
		slices.Sort(files)
		merged := 0
		for _, size := range files[:take] {
			merged += size
		}
		files = append(files[take:], merged)
		p.IntermReads += merged
		p.Passes++
	}
	p.FinalFiles = len(files)
	return p
}

// The closed forms (21)-(23), (26) equal the simulation up to F*F files.
func TestMergeClosedForms(t *testing.T) {
	for f := 2; f <= 16; f++ {
		for n := 0; n <= f*f; n++ {
			got, err := taskplan.Merge(n, f)
			if err != nil {
				t.Fatal(err)
			}
			if want := mergeEach(n, f); got != want {
				t.Errorf("Merge(%d, %d) = %+v, want %+v", n, f, got, want)
			}
		}
	}
}

// Beyond F*F runs of equal files are merged together; the plan is that of
// merging file by file.
func TestMergeRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.IntRange(2, 12).Draw(t, "F")
		n := rapid.IntRange(f*f+1, 6*f*f+200).Draw(t, "N")
		got, err := taskplan.Merge(n, f)
		if err != nil {
			t.Fatal(err)
		}
		if want := mergeEach(n, f); got != want {
			t.Errorf("Merge(%d, %d) = %+v, want %+v", n, f, got, want)
		}
	})
}

// Passes have a closed form for every number of files, and the final merge of
// more than F files takes F.
func TestMergePasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.IntRange(2, 1000).Draw(t, "F")
		n := rapid.IntRange(2, 1<<50).Draw(t, "N")
		p, err := taskplan.Merge(n, f)
		if err != nil {
			t.Fatal(err)
		}
		if want := (n-2)/(f-1) + 1; p.Passes != want {
			t.Errorf("Merge(%d, %d): %d passes, want %d", n, f, p.Passes, want)
		}
		if n > f && p.FinalFiles != f {
			t.Errorf("Merge(%d, %d): %d files in the final merge, want %d", n, f, p.FinalFiles, f)
		}
	})
}

// A trillion spills, and more, take neither memory nor time.
func TestMergeHuge(t *testing.T) {
	for _, f := range []int{2, 3, 10, 1000, 1 << 40} {
		for _, n := range []int{1e12, 1 << 53} {
			if _, err := taskplan.Merge(n, f); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestMergeErrors(t *testing.T) {
	for _, c := range []struct {
		n, f int
		want string
	}{
		{10, 1, "F: 1: want 2 or more"},
		{10, 0, "F: 0"},
		{-1, 10, "N: -1: want 0 or more"},
		{1<<53 + 1, 10, "N: 9007199254740993: want at most"},
	} {
		if _, err := taskplan.Merge(c.n, c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Merge(%d, %d): error %v, want one with %q", c.n, c.f, err, c.want)
		}
	}
}
