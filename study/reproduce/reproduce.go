// Package reproduce simulates the experiments of papers and sets their published figures
// beside it.
//
//	Reproduce -> one file for each paper (herodotou, khan, zhang), ShownFacts (facts)
//	          -> Reproduction    a page with tables and charts (answer)
package reproduce

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study"
)

// Paper is a paper whose tables and figures Reproduce makes.
type Paper struct {
	Name, Title, Source string
	parts               []paperPart
}

// named gives a part further names.
func (p paperPart) named(also ...string) paperPart {
	p.also = also
	return p
}

// Papers lists the papers, sorted by name.
func Papers() []Paper {
	return []Paper{
		{
			Name: "herodotou", Title: "Hadoop Performance Models",
			Source: "Herodotou, technical report CS-2011-05, Duke University, 2011",
			parts:  []paperPart{{"example", herodotouExample, nil}, {"merge", herodotouMerges, []string{"spills"}}},
		},
		{
			Name: "hitune", Title: "HiTune: Dataflow-Based Performance Analysis for Big Data Cloud",
			Source: "Dai and others, USENIX ATC 2011",
			parts: []paperPart{
				caseOf("7.1", "Section 7.1: many small files", "hitune-small-files"),
				caseOf("7.1-slots", "Section 7.1: many small files, by map slots", "hitune-small-files-slots"),
				caseOf("7.2", "Section 7.2: the codec of the map output", "hitune-codec"),
				caseOf("7.3", "Section 7.3: a slow disk", "hitune-slow-disk"),
				caseOf("7.4", "Section 7.4: a Hive aggregation", "hitune-hive"),
			},
		},
		{
			Name: "khan", Title: "Hadoop Performance Modeling for Job Estimation and Resource Provisioning",
			Source: "Khan and others, IEEE TPDS 2015",
			parts: []paperPart{
				caseOf("2", "Figures 2 and 3: the shuffle in one wave and in two", "khan-waves").named("3"),
				{"evaluation", khanEvaluation, nil},
			},
		},
		{
			Name: "sonata", Title: "Correlation-based Performance Analysis of MapReduce (SONATA)",
			Source: "Guo and others, IEEE BigData 2013",
			parts: []paperPart{
				caseOf("smt", "Section IV-E: a node with slower processors", "sonata-slow-cpu").named("IV-E"),
				caseOf("foreign", "Section VI-A: foreign load on one node", "sonata-foreign-load").named("VI-A"),
				caseOf("adapter", "Rules for resources: a slow network adapter", "sonata-slow-adapter"),
				caseOf("spills", "Section VI-B: two spills in a map", "sonata-two-spills").named("VI-B"),
				caseOf("slowstart", "Section VI-B: the start of the reduces", "sonata-slowstart").named("VI-B"),
				caseOf("codecs", "Section VI-B: codecs", "sonata-codecs").named("VI-B"),
				caseOf("slots", "Section VI-C: shared slots", "sonata-shared-slots").named("VI-C"),
			},
		},
		{
			Name: "zhang", Title: "Benchmarking Approach for Designing a MapReduce Performance Model",
			Source: "Zhang, Cherkasova and Loo, ICPE 2013",
			parts: []paperPart{
				{"table-1", zhangTable1, []string{"2"}},
				{"3", zhangBreak, nil},
				caseOf("table-2", "Table 2: waves of the applications", "zhang-waves"),
				{"4", zhangFive, nil}, {"5", zhangMany, nil},
			},
		},
	}
}

// Parts lists the names of a paper's parts, with their further names.
func (p *Paper) Parts() (names []string) {
	for _, part := range p.parts {
		name := part.name
		if len(part.also) > 0 {
			name += " (or " + strings.Join(part.also, ", ") + ")"
		}
		names = append(names, name)
	}
	return names
}

// Reproduce runs what a paper ran, and returns its tables and figures beside the
// published ones.
func Reproduce(name string, r Reproducing) (*Reproduction, error) {
	var known []string
	for _, p := range Papers() {
		if p.Name == name {
			return p.reproduce(r)
		}
		known = append(known, p.Name)
	}
	return nil, fmt.Errorf("no paper %q: want one of %s%s", name, strings.Join(known, ", "), input.Suggest(name, known))
}

func (p *Paper) reproduce(r Reproducing) (*Reproduction, error) {
	work, err := os.MkdirTemp("", "slotwave-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	run := &reproducing{r, work, map[string]any{}}
	page := &Reproduction{Paper: p.Name, Title: p.Title, Source: p.Source}
	for _, part := range p.parts {
		if r.Figure != "" && r.Figure != part.name && !slices.Contains(part.also, r.Figure) {
			continue
		}
		made, err := part.make(run)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", p.Name, part.name, err)
		}
		page.Parts = append(page.Parts, made...)
	}
	if len(page.Parts) == 0 {
		return nil, fmt.Errorf("--figure %s: %s has no such part: want one of %s", r.Figure, p.Name, strings.Join(p.Parts(), ", "))
	}
	shareAssumptions(page)
	return page, nil
}

// shareAssumptions moves to the page what all simulated cases assume.
func shareAssumptions(page *Reproduction) {
	var lists [][]string
	for _, p := range page.Parts {
		if len(p.Assumed) > 0 {
			lists = append(lists, p.Assumed)
		}
	}
	if len(lists) < 2 {
		return
	}
	for _, a := range lists[0] {
		if !slices.ContainsFunc(lists, func(list []string) bool { return !slices.Contains(list, a) }) {
			page.Assumed = append(page.Assumed, a)
		}
	}
	for i := range page.Parts {
		p := &page.Parts[i]
		p.Assumed = slices.DeleteFunc(p.Assumed, func(a string) bool { return slices.Contains(page.Assumed, a) })
	}
}

// resultOf is the directory of the result of a scenario.
func (r *reproducing) resultOf(scenario string) string {
	return filepath.Join(r.work, "result-"+text.Slug(filepath.Base(scenario)))
}

// simulated writes the result of a scenario below the temporary directory.
func (r *reproducing) simulated(scenario string) (*study.Study, string, error) {
	dir := r.resultOf(scenario)
	s, err := study.Open(scenario, r.Options)
	if err != nil {
		return nil, "", err
	}
	d, err := resultdir.Create(dir, resultdir.Purpose{})
	if err != nil {
		return nil, "", err
	}
	defer d.Abort()
	runs, err := s.Simulate(d, nil)
	if err == nil {
		err = study.Internal(s.Write(d, runs))
	}
	var m resultdir.Manifest
	if err == nil {
		m, err = s.Manifest(resultdir.Build{}, nil)
	}
	if err != nil {
		return nil, "", err
	}
	return s, dir, d.Commit(m)
}
