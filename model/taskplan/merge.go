package taskplan

import "github.com/slotwave/slotwave/model/input"

// MergePlan says how n sorted files become one when at most f are merged at a
// time: files of the first pass, original files read by all passes before the
// final one, files of the final pass, and passes in all.
type MergePlan struct {
	FirstPass   int `json:"first_pass"`
	IntermReads int `json:"interm_reads"`
	FinalFiles  int `json:"final_files"`
	Passes      int `json:"passes"`
}

// Merge plans the merging of n files, f at a time (f is io.sort.factor). The
// first pass takes fewer, so that every later one takes exactly f (Herodotou,
// CS-2011-05, eq. 21-23 and 26). Above f*f files merged files are read again
// and the closed forms end; there the passes are played out.
func Merge(n, f int) (MergePlan, error) {
	var c input.Check
	c.Count("N", n, 0)
	c.Count("F", f, 2)
	if err := c.Err(); err != nil {
		return MergePlan{}, err
	}
	if n > f && (n-1)/f >= f { // n > f*f, which may overflow
		return mergeRounds(n, f), nil
	}
	return mergeClosed(n, f), nil
}

// firstPass is eq. 21.
func firstPass(n, f int) int {
	switch {
	case n <= f:
		return n
	case (n-1)%(f-1) == 0:
		return f
	}
	return (n-1)%(f-1) + 1
}

// mergeClosed holds for n <= f*f.
func mergeClosed(n, f int) MergePlan {
	p := firstPass(n, f)
	if n <= f {
		return MergePlan{FirstPass: p, FinalFiles: n, Passes: min(max(n-1, 0), 1)}
	}
	full := (n - p) / f
	interm := p + full*f // (22)
	return MergePlan{
		FirstPass:   p,
		IntermReads: interm,
		FinalFiles:  1 + full + n - interm, // (23)
		Passes:      2 + full,              // (26)
	}
}

// run is some files of one size, counted in original files.
type run struct{ size, count int }

// mergeRounds merges the smallest files until at most f are left. Files of one
// size are kept as one run and merged f by f in one step, so that the work
// grows with the logarithm of n.
func mergeRounds(n, f int) MergePlan {
	p := MergePlan{FirstPass: firstPass(n, f), Passes: 1}
	runs := []run{{1, n}} // by size
	left, take := n, p.FirstPass
	for left > f {
		times := 1
		if take == f {
			times = max(1, min(runs[0].count/f, (left-f)/(f-1)))
		}
		merged := run{count: times}
		for need := take * times; need > 0; {
			part := min(need, runs[0].count)
			p.IntermReads += part * runs[0].size
			merged.size += part * runs[0].size
			need -= part
			if runs[0].count -= part; runs[0].count == 0 {
				runs = runs[1:]
			}
		}
		merged.size /= times
		runs = insertRun(runs, merged)
		left -= times * (take - 1)
		p.Passes += times
		take = f
	}
	p.FinalFiles = left
	return p
}

func insertRun(runs []run, r run) []run {
	for i := range runs {
		switch {
		case runs[i].size == r.size:
			runs[i].count += r.count
			return runs
		case runs[i].size > r.size:
			runs = append(runs, run{})
			copy(runs[i+1:], runs[i:])
			runs[i] = r
			return runs
		}
	}
	return append(runs, r)
}
