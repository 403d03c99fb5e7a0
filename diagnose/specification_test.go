package diagnose

import (
	"strings"
	"testing"
)

func loadSpec(t testing.TB, name string) *Specification {
	t.Helper()
	s, err := LoadSpecification(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A complete reconstruction of M maps and R reduces has 2M + 4R stages.
func TestStagesOfTask(t *testing.T) {
	number := loadSpec(t, "hadoop").stagesOfTask()
	for vertex, want := range map[string]int{"map": 2, "spill": 2, "copier": 4, "merge": 4, "sort": 4, "reduce": 4} {
		if number[vertex] != want {
			t.Errorf("a task with %s has %d stages, want %d", vertex, number[vertex], want)
		}
	}
	// Hive divides the main thread of a map into 5 stages and that of a reduce into
	// 4, beside those that Hadoop's own threads have.
	number = loadSpec(t, "hive").stagesOfTask()
	if number["spill"] != 5+1 || number["copier"] != 4+3 {
		t.Errorf("a map of a Hive query has %d stages, a reduce %d, want 6 and 7", number["spill"], number["copier"])
	}
	if _, err := LoadSpecification("pig"); err == nil || !strings.Contains(err.Error(), "want one of hadoop, hive") {
		t.Errorf("unknown name: error %v", err)
	}
}

// specText is the text of an embedded specification without the comment before it.
func specText(t testing.TB, name string) string {
	t.Helper()
	text, err := specs.ReadFile("specs/" + name + ".spec")
	if err != nil {
		t.Fatal(err)
	}
	return string(text[strings.Index(string(text), "Input {"):])
}

// A specification as figures 7 and 8 of HiTune print one: in a block of its own, with
// arrows, the sign for any number, alternatives joined by or, blocks on several lines, and
// without a name or a number where one is left out.
func TestPrintedSpecification(t *testing.T) {
	const text = "Specification {\n// list of <inputId: storage location>\nInput { <in: HDFS> }\nOutput { <out: HDFS>; }\n" +
		"Vertices {\n map: MapTask.run;\n merge: InMemFSMergeThread.run or LocalFSMerger.run;\n sort: ReduceCopier.createKVIterator#ReduceCopier.access\n}\n" +
		"Edges { <e0: in → map>; e1: map→merge; e2: merge→sort; e3: sort→out }\n" +
		"Vertex Mapping {\n Task Pool (1~∞) {\n  Phase {\n   Thread Pool {\n    map\n   }\n  }\n }\n" +
		" Task Pool Reduce(cardinality: 1~∞) { Phase { Thread Group Pool (1, 2) { merge } } Phase { Thread Pool (1) { sort } } }\n}\n" +
		"Edge Mapping { e0: HDFS, unconstrained; e1: local disk, unconstrained; e2: memory buffer, intra-task; e3: HDFS, unconstrained }\n}\n"
	s, err := ParseSpecification("figure", text)
	if err != nil {
		t.Fatal(err)
	}
	pools := s.pools
	if len(pools) != 2 || pools[0].name != "1" || pools[1].name != "Reduce" || len(pools[1].phases) != 2 || len(s.vertices[1].locations) != 2 || s.edges[1] != (edge{"e1", "map", "merge", "local disk"}) {
		t.Errorf("%+v", s)
	}
}

func TestSpecificationErrors(t *testing.T) {
	whole := specText(t, "hadoop")
	for _, c := range []struct{ old, new, want string }{
		{"  spill: SpillThread.run\n", "  spill: x.MapTask.run\n", "vertices map and spill: both contain x.MapTask.run"},
		{"  spill: SpillThread.run\n", "  spill: run\n", "vertices map and spill: both contain MapTask.run"},
		{"{ map }", "{ sift }", `spec:27: got`},
		{"{ sort, reduce }", "{ sort }", "vertex reduce: got 0 thread pools: want 1"},
		{"{ sort, reduce }", "{ sort, reduce, sift }", `unknown vertex "sift"`},
		{"e0: in -> map", "e0: in -> mop", `edge e0: got unknown end "mop"`},
		{"e0: in -> map", "e0: in", `spec:16: e0: got "in": want FROM -> TO`},
		{"  e0: HDFS, unconstrained\n", "", "edge e0: not in Edge Mapping"},
		{"e0: HDFS, unconstrained", "e9: HDFS, unconstrained", `got unknown edge "e9"`},
		{"Input {", "Inputs {", `spec:1: got "Inputs {": want a section`},
		{"map: MapTask.run", "map: a#", `spec:8: map: got location "a#"`},
		{"  map: MapTask.run", "  map MapTask.run", "want ID: VALUE"},
		{"  spill: SpillThread.run\n", "  map: SpillThread.run\n", "got map twice"},
		{"    Phase {\n", "    Stage {\n", `got "Stage" in Task Pool Map (1~*): want`},
		{"    Phase {\n", "    Phases without end {\n", `spec:26: got "Phases without end" in`},
		{"Thread Pool (1) { map }", "Threadbare nonsense { map }", `spec:27: got "Threadbare nonsense" in Phase: want`},
		{"Task Pool Map (1~*) {", "Task Poolish ( {", `spec:25: got "Task Poolish (" in Vertex Mapping: want`},
		{"Task Pool Map (1~*) {", "Task Pool Map 1~* {", `spec:25: got "Task Pool Map 1~*" in`},
		{"Input {", "Specification {\nInput {", "spec: Specification: got the end of the file: want }"},
		{whole, "Specification {\n" + whole + "}\n\nEdges {\n}\n", `spec:53: got "Edges {" after the end of Specification: want nothing`},
		{whole, "Specification {\n" + whole + "} more", `spec:51: got "more" after the end of Specification: want nothing`},
		{"  in: HDFS", "  Specification {\n  in: HDFS", `spec:2: got "Specification" in Input: want`},
		{"Output {", "}\nOutput {", `spec:4: got "}": want a section`},
		{"  e6: HDFS, unconstrained\n}", "  e6: HDFS, unconstrained\n}\n}", `spec:50: got "}": want a section`},
		{"e0: HDFS, unconstrained", "e0: HDFS, near", `spec:42: e0: got "HDFS, near": want TYPE, ENDPOINT`},
		{"e0: HDFS, unconstrained", "e0: HDFS", `spec:42: e0: got "HDFS": want TYPE, ENDPOINT`},
		{"e0: HDFS, unconstrained", "e0: , unconstrained", `spec:42: e0: got ", unconstrained": want TYPE, ENDPOINT`},
		{"  e6: HDFS, unconstrained\n}", "  e6: HDFS, unconstrained", "got the end of the file: want }"},
	} {
		text := strings.Replace(whole, c.old, c.new, 1)
		if c.new == "{ sift }" {
			text = strings.Replace(whole, "Thread Pool (1) { map }", "Thread Pool (1) map", 1)
		}
		if _, err := ParseSpecification("spec", text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: error %v, want one with %q", c.new, c.old, err, c.want)
		}
	}
}

// Every text ends in a specification or in an error that names its line.
func FuzzParseSpecification(f *testing.F) {
	for _, name := range SpecificationNames {
		f.Add(specText(f, name))
	}
	f.Add("Vertices {\n v: a#b\n}\nVertex Mapping {\nTask Pool T (2~3) {\nPhase {\nThread Pool (1~∞) { v }\n}\n}\n}\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSpecification("spec", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "spec:") {
				t.Errorf("got %v: want spec: or spec:LINE: first", err)
			}
			return
		}
		for _, v := range s.vertices {
			if s.stagesOfTask()[v.id] < 1 {
				t.Errorf("vertex %s is in no task pool", v.id)
			}
		}
	})
}
