package taskplan

import "github.com/slotwave/slotwave/model/input"

// MergePlan counts the merge of n sorted files, at most f at a time: files of the
// first pass, original files read before the final pass, files of the final pass,
// and passes in all.
type MergePlan struct {
	FirstPass   int `json:"first_pass"`
	IntermReads int `json:"interm_reads"`
	FinalFiles  int `json:"final_files"`
	Passes      int `json:"passes"`
}

// Merge plans the merge of n files, f at a time (f is io.sort.factor). The first
// pass takes fewer files, so that every later pass takes exactly f (Herodotou,
// CS-2011-05, eq. 21-23 and 26). The closed forms hold up to f*f files; beyond,
// Merge plays the passes out.
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

// firstPass is how many files the first pass merges (Herodotou, eq. 21).
func firstPass(n, f int) int {
	switch {
	case n <= f:
		return n
	case (n-1)%(f-1) == 0:
		return f
	}
	return (n-1)%(f-1) + 1
}

// mergeClosed evaluates the closed forms, which hold for n <= f*f.
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

// run is a number of files of equal size; the unit of size is an original file.
type run struct{ size, count int }

// mergeRounds merges the smallest files until at most f are left. It keeps files
// of one size as one run and merges them in one step, so that the work grows with
// the logarithm of n.
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
