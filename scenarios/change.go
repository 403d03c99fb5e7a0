package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// outputKeys say what is written. They hold for both runs of a fork.
var outputKeys = []string{"attempts", "plots"}

// ForkAt returns the file with a second run, in which the settings of [scheduler]
// take effect at the given time.
func (f *File) ForkAt(at string, settings []string) (*File, error) {
	d, ok := asDuration(at)
	if !ok {
		return nil, fmt.Errorf("--fork-at %s: want %s", at, durationForm)
	}
	with := *f
	with.fork = &fork{}
	var changes []string
	for _, text := range append([]string{"at=" + at}, settings...) {
		key, _, _ := cutSetting(text)
		if slices.Contains(outputKeys, key) {
			s, err := parseSetting(text)
			if err != nil {
				return nil, err
			}
			with.set = append(slices.Clip(with.set), s)
			continue
		}
		if top, _, _ := strings.Cut(key, "."); top != "scheduler" && key != "at" {
			return nil, fmt.Errorf("--set %s: cannot change during a run: with --fork-at want keys of [scheduler], such as scheduler.name=fair2, or attempts or plots for both runs", text)
		}
		s, err := parseSetting("change.0." + text)
		if err != nil {
			return nil, err
		}
		s.text = text
		with.fork.settings = append(with.fork.settings, s)
		if key != "at" {
			changes = append(changes, text)
		}
	}
	if len(changes) == 0 {
		return nil, fmt.Errorf("--fork-at %s: nothing changes: want --set with a key of [scheduler], such as scheduler.name=fair2", at)
	}
	with.fork.name = strings.Join(changes, " ") + " from " + shortTime(d)
	return &with, nil
}

// over lays the settings over the values of a scenario.
func (k *fork) over(t *table, values any) any {
	if t.has("change") {
		t.failf("change", "the scenario has changes of its own: want run without --fork-at, and --set change.0.scheduler.name=fair2 to change them")
		return values
	}
	for _, s := range k.settings {
		over, err := overlay(values, s.value, "")
		if err != nil {
			t.fail(0, "--set %s: %v", s.text, err)
			continue
		}
		values = over
		t.set = append(t.set, workload.WithoutSecrets(s.text))
		t.relocate(values, s.value, "", -len(t.set))
	}
	return values
}

// readChanges reads the [[change]] tables: from the given time on their settings
// replace those of [scheduler].
func (t *table) readChanges(c *model.Cluster) (changes []model.Change) {
	under, _ := t.values["scheduler"].(map[string]any)
	for _, in := range t.tables("change") {
		change := model.Change{At: in.duration("at", 0)}
		if !in.has("at") {
			in.lacks("%s: at: missing: want the time of the change, such as \"3h\"", in.path)
		}
		if len(changes) > 0 && change.At < changes[len(changes)-1].At {
			in.failf("at", "got %s after a later one: want changes in the order of their times", shortTime(change.At))
		}
		own := in.inner("scheduler")
		merged, err := overlay(map[string]any{"scheduler": under}, map[string]any{"scheduler": own.values}, in.path)
		if err != nil {
			in.fail(in.line(""), "%v", err)
		}
		values, _ := merged.(map[string]any)["scheduler"].(map[string]any)
		if reflect.DeepEqual(values, under) {
			in.warnAt(in.line(""), "%s has no effect: it states what [scheduler] says already", in.path)
		}
		change.Scheduler = schedulerTable{&table{report: t.report, path: own.path, values: values}}.readScheduler(c)
		in.done()
		under = values
		changes = append(changes, change)
	}
	return changes
}
