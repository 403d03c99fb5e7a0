package model

// Resource is an amount of what YARN's schedulers count on a node: memory and
// virtual cores (org.apache.hadoop.yarn.api.records.Resource). A difference may be
// negative.
type Resource struct {
	MemoryMiB int64
	VCores    int64
}

// Plus returns the sum by component.
func (r Resource) Plus(s Resource) Resource {
	return Resource{r.MemoryMiB + s.MemoryMiB, r.VCores + s.VCores}
}

// Minus returns the difference by component.
func (r Resource) Minus(s Resource) Resource {
	return Resource{r.MemoryMiB - s.MemoryMiB, r.VCores - s.VCores}
}

// Min returns the smaller amount of each component.
func (r Resource) Min(s Resource) Resource {
	return Resource{min(r.MemoryMiB, s.MemoryMiB), min(r.VCores, s.VCores)}
}

// Max returns the larger amount of each component.
func (r Resource) Max(s Resource) Resource {
	return Resource{max(r.MemoryMiB, s.MemoryMiB), max(r.VCores, s.VCores)}
}

// Times returns the resource n times.
func (r Resource) Times(n int64) Resource { return Resource{r.MemoryMiB * n, r.VCores * n} }

// Within reports whether the resource fits into another by every component.
func (r Resource) Within(s Resource) bool { return r.MemoryMiB <= s.MemoryMiB && r.VCores <= s.VCores }
