package diagnose

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// ReadRules adds the rules of a TOML file to those of slotwave; file names it in errors.
// A rule holds for a stage of which all conditions hold, and for which there is a
// correlation as given:
//
//	[[rule]]
//	id = "S01"
//	stage = "reduce"
//	when = ["share_shuffle > 0.5", "cpu_cluster < 0.4"]
//	correlation = "task-resource disk over"
//	cause = "shuffle on an idle cluster"
//	advice = "compress the map output"
//	set = ["mapred.compress.map.output = true"]
func (o *Options) ReadRules(file, text string) error {
	var tables struct {
		Rule []map[string]any `toml:"rule"`
	}
	meta, err := toml.Decode(text, &tables)
	if parse := (toml.ParseError{}); errors.As(err, &parse) {
		return fmt.Errorf("%s:%d: %s", file, parse.Position.Line, parse.Message)
	}
	var errs []error
	for _, key := range undecoded(&meta) {
		if key != "rule" {
			errs = append(errs, fmt.Errorf("%s:%d: got unknown key %s: want [[rule]]", file, lineOf(text, key), key))
		}
	}
	if given := meta.IsDefined("rule"); err != nil || given && len(tables.Rule) == 0 {
		errs = append(errs, fmt.Errorf("%s:%d: rule: got another value: want a table [[rule]] for each rule", file, lineOf(text, "rule")))
	} else if !given && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%s:1: rule: got none: want a table [[rule]] for each rule", file))
	}
	lines, first := strings.Split(text, "\n"), []int{} // lines of the tables
	for n, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "[[rule]]") {
			first = append(first, n)
		}
	}
	first = append(first, len(lines))
	for i, values := range tables.Rule {
		t := &ruleTable{file: file, lines: lines, values: values}
		if i+1 < len(first) {
			t.first, t.lines = first[i], lines[first[i]:first[i+1]]
		}
		r := t.rule()
		if slices.ContainsFunc(slices.Concat(rules, o.rules), func(other rule) bool { return other.id == r.id }) {
			t.fail("id", "%q, which another rule has: want one of its own", r.id)
		}
		o.rules = append(o.rules, r)
		errs = append(errs, t.errs...)
	}
	return errors.Join(errs...)
}

// ofFile is the basis of rules of a file.
const ofFile = "file"

// ruleTable reads the table of one rule.
type ruleTable struct {
	file   string
	first  int      // index of its first line
	lines  []string // of the file
	values map[string]any
	errs   []error
}

func (t *ruleTable) fail(key, format string, args ...any) {
	line := t.first + lineOf(strings.Join(t.lines, "\n"), key)
	t.errs = append(t.errs, fmt.Errorf("%s:%d: %s: got "+format, append([]any{t.file, line, key}, args...)...))
}

// texts reads one text, or a list of them.
func (t *ruleTable) texts(key string) (list []string) {
	v, given := t.values[key]
	delete(t.values, key)
	if one, isText := v.(string); isText {
		return []string{one}
	}
	all, isList := v.([]any)
	for _, v := range all {
		text, isText := v.(string)
		isList = isList && isText
		list = append(list, text)
	}
	if given && !isList {
		t.fail(key, "%v: want a text or a list of texts", v)
	}
	return list
}

// text reads one text, which may be missing unless it is needed.
func (t *ruleTable) text(key string, needed bool) string {
	v, given := t.values[key]
	list := t.texts(key)
	text := strings.Join(list, " ")
	switch {
	case !given && needed:
		t.fail(key, "none: want a text")
	case given && list != nil && (len(list) != 1 || strings.TrimSpace(text) == ""):
		t.fail(key, "%q: want one text", v)
	}
	return text
}

// rule reads the rule of the table.
func (t *ruleTable) rule() rule {
	r := rule{basis: ofFile, id: t.text("id", true), cause: t.text("cause", true), change: t.text("advice", true)}
	const longest = 4 // letters of the column on the screen
	if len(r.id) > longest {
		t.fail("id", "%q: want at most %d letters", r.id, longest)
	}
	var conditions []condition
	when := t.texts("when")
	for _, text := range when {
		conditions = append(conditions, t.condition(text))
	}
	stage := t.text("stage", false)
	if stage != "" && stage != workload.Map.String() && stage != workload.Reduce.String() {
		t.fail("stage", "%q: want map or reduce", stage)
	}
	var pairs []string
	for _, text := range t.texts("set") {
		key, value, ok := strings.Cut(text, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		p, known := workload.FindProperty(key)
		switch {
		case !ok || !known:
			t.fail("set", "%q: want PROPERTY = VALUE, a property that slotwave reads", text)
		default:
			if err := p.Check(value); err != nil {
				t.fail("set", "%q: %v", text, err)
			}
		}
		pairs = append(pairs, key, value)
	}
	correlation := strings.Fields(t.text("correlation", false))
	if len(correlation) != 0 && (len(correlation) != 3 || !slices.Contains(correlationKinds, correlation[0]) || !isSubject(correlation[1]) || !slices.Contains(correlationClasses, correlation[2])) {
		t.fail("correlation", "%q: want KIND SUBJECT CLASS, a kind of %s, a device, phase, time, node, input or *, and a class of %s", strings.Join(correlation, " "), strings.Join(correlationKinds, ", "), strings.Join(correlationClasses, ", "))
	}
	if len(conditions)+len(correlation) == 0 {
		t.fail("when", "no condition: want when or correlation")
	}
	for _, key := range sortedKeys(t.values) {
		t.fail(key, "an unknown key: want id, stage, when, correlation, cause, advice or set")
	}
	r.evidence = strings.Join(append(when, correlation...), ", ")
	r.find = func(s *scene, r *rule) []hit {
		var hits []hit
		for kind, st := range s.stages {
			if st == nil || stage != "" && stage != st.kind.String() {
				continue
			}
			h := hit{account: unknownTime, saves: st.gains(), change: advise(r.change)}
			if pairs != nil {
				h.change = s.setConf(pairs...)
			}
			var evidence []string
			for i, c := range conditions {
				value := c.metric(s, workload.Kind(kind))
				if !c.holds(value) {
					evidence = nil
					break
				}
				if evidence = append(evidence, fmt.Sprintf("%s is %.3g", c.name, value)); i == 0 {
					h.value, h.peers = value, c.limit
				}
			}
			if len(evidence) < len(conditions) {
				continue
			}
			if len(correlation) > 0 {
				i := slices.IndexFunc(s.correlations[kind], func(c Correlation) bool {
					return c.Kind == correlation[0] && c.Class == correlation[2] && (correlation[1] == "*" || correlation[1] == c.Subject || correlation[1] == deviceKind(c.Subject))
				})
				if i < 0 {
					continue
				}
				c := s.correlations[kind][i]
				h.node, evidence = c.Node, append(evidence, fmt.Sprintf("%s %s: %.3g, peers %.3g", c.Subject, c.Class, c.Value, c.Peers))
			}
			h.evidence = fmt.Sprintf("%ss: %s", st.kind, strings.Join(evidence, ", "))
			if pairs != nil {
				h.evidence += ": " + r.change
			}
			hits = append(hits, h)
		}
		return hits
	}
	return r
}

// advise is a change in words, which no simulation can test.
func advise(text string) *Change {
	return &Change{Text: text, Edit: func(q model.WhatIf) (model.WhatIf, error) {
		return q, errors.New("the rule sets no property, so nothing is tested")
	}}
}

// The kinds and classes of correlations.
var (
	correlationKinds   = []string{"task-task", "phase-phase", "task-resource", "resource-resource"}
	correlationClasses = []string{"over", "under", "saturated", "share", "same-node"}
)

// isSubject reports whether correlations can have a subject.
func isSubject(s string) bool {
	_, isPhase := workload.ParsePhase(s)
	return isPhase || isIODevice(s) || slices.Contains([]string{"*", "time", "node", "input", "cpu"}, s)
}

// condition compares a fact of a stage with a limit. An unknown fact holds for none.
type condition struct {
	name  string
	above bool
	limit float64
}

func (c *condition) holds(value float64) bool {
	return c.above && value > c.limit || !c.above && value < c.limit
}

// metric returns the fact of a stage; true is 1, and NaN unknown.
func (c *condition) metric(s *scene, kind workload.Kind) float64 {
	v := reflect.ValueOf(s.facts[kind]).Field(slices.Index(metricNames(), c.name))
	switch {
	case slices.Contains(s.unknown[kind], c.name):
		return notNumber()
	case v.CanInt():
		return float64(v.Int())
	case v.Kind() == reflect.Bool && v.Bool():
		return 1
	case v.CanFloat():
		return v.Float()
	}
	return 0
}

// metricNames lists the names of facts in the order of their fields.
func metricNames() []string {
	var names []string
	of := reflect.TypeFor[facts]()
	for i := range of.NumField() {
		names = append(names, of.Field(i).Tag.Get("json"))
	}
	return names
}

func (t *ruleTable) condition(text string) condition {
	name, limit, above := strings.Cut(text, ">")
	if !above {
		name, limit, _ = strings.Cut(text, "<")
	}
	c := condition{name: strings.TrimSpace(name), above: above}
	var err error
	if c.limit, err = strconv.ParseFloat(strings.TrimSpace(limit), 64); err != nil || math.IsNaN(c.limit) || math.IsInf(c.limit, 0) || c.name == "kind" || !slices.Contains(metricNames(), c.name) {
		t.fail("when", "%q: want METRIC > NUMBER or METRIC < NUMBER, a metric of %s", text, strings.Join(metricNames()[1:], ", "))
		c.name = "spills" // of a rule that is not used
	}
	part := strings.HasPrefix(c.name, "share_") || strings.HasSuffix(c.name, "_share") || c.name == "cpu_node" || c.name == "cpu_cluster"
	if part && (c.limit < 0 || c.limit > 1) {
		t.fail("when", "%q: want a part from 0 to 1, such as %s > 0.5", text, c.name)
	}
	return c
}
