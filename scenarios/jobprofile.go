package scenarios

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// CheckDescription checks a file that has the keys of a platform or of a profile.
// It returns an empty description for other files.
func CheckDescription(path string) (about string, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return "", nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	at, err := lines(string(data))
	switch {
	case err != nil || at["cluster"] > 0 || at["recorded"]+at["cpu"]+at["cores"] == 0:
		return "", nil
	case at["cores"] > 0:
		m, err := readPlatform(data, path)
		return fmt.Sprintf("platform, %s, %s", workload.Counted(m.Cores, "core", "cores"), workload.Counted(len(m.Disks), "disk", "disks")), err
	}
	about = "job profile"
	if at["recorded"] > 0 {
		p, err := readJobProfile(data, path)
		if err != nil {
			return about, err
		}
		about += fmt.Sprintf(", %s, %s, %s", workload.Counted(p.Runs, "run", "runs"), workload.Counted(p.Maps, "map", "maps"), workload.Counted(p.Reduces, "reduce", "reduces"))
	}
	if at["cpu"] > 0 || at["recorded"] == 0 {
		_, err = readProfile(data, path)
	}
	return about, err
}

// readJobProfile reads the recorded part of a profile file, [recorded].
func readJobProfile(data []byte, file string) (*workload.Profile, error) {
	t, err := parse(data, file)
	if err != nil {
		return nil, err
	}
	if !t.has("recorded") {
		return nil, fmt.Errorf("%s: no [recorded]: want a profile with the times of tasks, as slotwave convert --to profile writes it", file)
	}
	p := t.readProvenance()
	recorded := t.inner("recorded")
	profile := &workload.Profile{}
	recorded.tagged(reflect.ValueOf(profile).Elem())
	recorded.done()
	profile.Name, profile.Source, profile.Assumed = p.title, p.source, p.assumed
	return profile, t.err()
}

// tagged reads a table into the struct fields with its keys as tags. Absent
// numbers are unknown.
func (t *table) tagged(v reflect.Value) {
	for i := range v.NumField() {
		key := v.Type().Field(i).Tag.Get("key")
		switch to := v.Field(i).Addr().Interface().(type) {
		case *string:
			*to = t.str(key, "")
		case *[]string:
			*to = t.texts(key)
		case *bool:
			*to = t.boolean(key, false)
		case *int:
			*to = t.integer(key, 0, 0, unlimited)
		case *float64:
			*to = t.number(key, math.NaN(), 0, math.Inf(1))
		case *[]float64:
			*to = t.rising(key)
		case *[]workload.Sample:
			for _, in := range t.tables(key) {
				*to = append(*to, workload.Sample{})
				in.tagged(reflect.ValueOf(&(*to)[len(*to)-1]).Elem())
				in.done()
			}
		default:
			in := t.inner(key)
			if v.Field(i).Kind() == reflect.Array {
				in.byLocality(v.Field(i))
			} else {
				in.tagged(v.Field(i))
			}
			in.done()
		}
	}
	if s, ok := v.Addr().Interface().(*workload.Sample); ok && (s.N > 0) != t.has("quantiles") {
		t.failf("quantiles", "want quantiles if n is above 0, and none if n is 0")
	}
}

// byLocality reads a value for each distance of a map from its input.
func (t *table) byLocality(v reflect.Value) {
	for l := range v.Len() {
		key := workload.Locality(l).String()
		if v.Index(l).Kind() == reflect.Int {
			v.Index(l).SetInt(int64(t.integer(key, 0, 0, unlimited)))
			continue
		}
		in := t.inner(key)
		in.tagged(v.Index(l))
		in.done()
	}
}

// rising reads a list of numbers in ascending order.
func (t *table) rising(key string) (list []float64) {
	v, ok := t.ask(key)
	if !ok {
		return nil
	}
	values, ok := v.([]any)
	for _, x := range values {
		f, isNumber := asNumber(x)
		ok = ok && isNumber && f >= 0
		list = append(list, f)
	}
	if !ok || len(list) < 2 || !slices.IsSorted(list) {
		t.failf(key, "want a list of two numbers or more, none below 0, in ascending order")
		return nil
	}
	return list
}

// jobProfile reads the recorded part of the profile that a job names.
func (f *File) jobProfile(t *table, s *Scenario, fidelity model.Fidelity) *workload.Profile {
	name := t.str("profile", "")
	if name == "" || fidelity >= model.Phase {
		return nil
	}
	if fidelity != model.Profile {
		t.failf("profile", "has no effect at fidelity %v: want fidelity = %q", fidelity, model.Profile)
		return nil
	}
	data, file, err := f.described(s, "profiles", name, Profiles())
	var p *workload.Profile
	if err == nil {
		p, err = readJobProfile(data, file)
	}
	if err != nil {
		t.failf("profile", "%v", err)
		return nil
	}
	return p
}

// draw takes times that the job does not give from its profile. Recorded
// attempts include the start of their JVM, unless it was timed separately, and
// the commit of reduces. The cluster has both as costs, so draw subtracts them.
// The shuffle after the last map then includes the sort.
func (t *table) draw(j *workload.Job, costs *model.Costs) {
	p, m, r := j.Profile, &j.Maps, &j.Reduces
	launch := costs.Launch
	times := p.MapTime
	if p.MapMinusJVM.N > 0 && p.MapMinusJVM.N == p.MapTime.N {
		times, launch = p.MapMinusJVM, 0
	}
	if launch > 0 {
		t.assume("%s: %v of each recorded attempt is the start of its JVM", p.Name, launch)
	}
	if !m.Time.Set() {
		m.Time = times.Durations(launch)
	}
	if r.Count == 0 {
		return
	}
	if costs.Commit > 0 {
		t.assume("%s: %v of each recorded reduce is the commit of its output", p.Name, costs.Commit)
	}
	if !r.Time.Set() {
		r.Time = p.ReduceTime.Durations(costs.Commit)
	}
	if !r.Shuffle.Set() && !r.FirstWave.Set() && !r.Copy.Set() {
		if p.ShuffleFromFirst {
			launch = 0
		}
		r.FirstWave, r.Shuffle = p.FirstShuffle.Durations(0), p.TypicalShuffle.Durations(launch)
	}
	for _, a := range p.Assumed {
		t.assume("%s: %s", p.Name, a)
	}
}
