package bench

import (
	"fmt"
	"io"
	"time"
)

// WriteHead begins the table for people.
func WriteHead(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%-41s %8s %9s %8s %9s\n", "", "CPU", "per unit", "memory", "queue ops")
	return err
}

// WriteRow adds a row to the table; head begins with the group.
func WriteRow(w io.Writer, r *Result, head bool) error {
	if head {
		if _, err := fmt.Fprintf(w, "%s (per %s)\n", r.Group, r.Unit); err != nil {
			return err
		}
	}
	name := r.Name
	if r.Size > 0 {
		name = fmt.Sprintf("%s, %s", r.Name, count(r.Size))
	}
	_, err := fmt.Fprintf(w, "  %-39s %8s %9s %8s %9s\n", name, seconds(r.CPU), perUnit(r), memory(r.Bytes), operations(r.Ratio))
	if err == nil && r.Exponent != 0 {
		_, err = fmt.Fprintf(w, "    %-37s %8.2f\n", "grows with the size to the power of", r.Exponent)
	}
	return err
}

// count writes a number with its thousands set apart.
func count(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", count(n/1000), n%1000)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func perUnit(r *Result) string {
	if r.Unit == "byte" {
		return fmt.Sprintf("%.0f MB/s", 1e3/r.PerUnit())
	}
	return duration(r.PerUnit())
}

func duration(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.3g ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.3g us", ns/1e3)
	default:
		return fmt.Sprintf("%.3g ms", ns/1e6)
	}
}

func memory(bytes uint64) string {
	switch {
	case bytes < 1<<20:
		return fmt.Sprintf("%d KiB", bytes>>10)
	case bytes < 1<<30:
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

func operations(ratio float64) string {
	if ratio < 10 {
		return fmt.Sprintf("%.2f", ratio)
	}
	return count(int(ratio + 0.5))
}

// WriteMarkdown writes the table as a page holds it.
func WriteMarkdown(w io.Writer, all []Result) error {
	if _, err := fmt.Fprint(w, "| benchmark | CPU | per unit | allocated | allocations | queue operations |\n|---|---|---|---|---|---|\n"); err != nil {
		return err
	}
	for i := range all {
		r := &all[i]
		name := r.Group + ": " + r.Name
		if r.Size > 0 {
			name += ", " + count(r.Size)
		}
		unit := perUnit(r)
		if r.Unit != "byte" {
			unit += "/" + r.Unit
		}
		if _, err := fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", name, seconds(r.CPU), unit, memory(r.Bytes), count(int(r.Allocs)), operations(r.Ratio)); err != nil {
			return err
		}
	}
	return writeExponents(w, all)
}

// writeExponents writes how the processor time grows with the size.
func writeExponents(w io.Writer, all []Result) error {
	_, err := fmt.Fprint(w, "\n| benchmark | largest size | exponent | per unit |\n|---|---|---|---|\n")
	for i := range all {
		if r := &all[i]; err == nil && r.Exponent != 0 {
			_, err = fmt.Fprintf(w, "| %s: %s | %s | %.2f | %s/%s |\n", r.Group, r.Name, count(r.Size), r.Exponent, perUnit(r), r.Unit)
		}
	}
	return err
}
