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
func TestExpectedStages(t *testing.T) {
	s := loadSpec(t, "hadoop")
	if n, err := s.ExpectedStages(100, 27); err != nil || n != 2*100+4*27 {
		t.Errorf("%d stages, %v, want %d", n, err, 2*100+4*27)
	}
	if _, err := s.ExpectedStages(100); err == nil {
		t.Error("one number for two pools: no error")
	}
	// Hive divides the main thread of a map into 5 stages and that of a reduce into
	// 4, beside those that Hadoop's own threads have.
	if n, err := loadSpec(t, "hive").ExpectedStages(10, 1); err != nil || n != 10*(5+1)+(4+3) {
		t.Errorf("%d stages of a Hive query, %v, want %d", n, err, 10*6+7)
	}
	if _, err := LoadSpecification("pig"); err == nil || !strings.Contains(err.Error(), "want one of hadoop, hive") {
		t.Errorf("unknown name: error %v", err)
	}
}

func TestSpecificationRoundTrip(t *testing.T) {
	for _, name := range SpecificationNames {
		text := loadSpec(t, name).String()
		again, err := ParseSpecification("again", text)
		if err != nil {
			t.Fatal(err)
		}
		if again.String() != text {
			t.Errorf("%s: printed and read again:\n%s\nwant\n%s", name, again, text)
		}
		file, _ := specs.ReadFile("specs/" + name + ".spec")
		if !strings.HasSuffix(string(file), text) {
			t.Errorf("%s is not printed as its file has it:\n%s", name, text)
		}
	}
}

func TestSpecificationErrors(t *testing.T) {
	whole := loadSpec(t, "hadoop").String()
	for _, c := range []struct{ old, new, want string }{
		{"  spill: SpillThread.run\n", "  spill: x.MapTask.run\n", "vertices map and spill: both contain x.MapTask.run"},
		{"  spill: SpillThread.run\n", "  spill: run\n", "vertices map and spill: both contain MapTask.run"},
		{"{ map }", "{ sift }", `spec:27: got`},
		{"{ sort, reduce }", "{ sort }", "vertex reduce: got 0 thread pools: want 1"},
		{"{ sort, reduce }", "{ sort, reduce, sift }", `unknown vertex "sift"`},
		{"{ merge }", "{ merge, map }", "got a thread group with 2 vertices"},
		{"e0: in -> map", "e0: in -> mop", `edge e0: got unknown end "mop"`},
		{"e0: in -> map", "e0: in", `spec:16: e0: got "in": want FROM -> TO`},
		{"  e0: HDFS, unconstrained\n", "", "edge e0: got no edge mapping"},
		{"e0: HDFS, unconstrained", "e0: HDFS, near", `spec:42: e0: got "HDFS, near": want TYPE, ENDPOINT`},
		{"e0: HDFS, unconstrained", "e9: HDFS, unconstrained", `got unknown edge "e9"`},
		{"Input {", "Inputs {", `spec:1: got "Inputs {": want a section`},
		{"map: MapTask.run", "map: a#", `spec:8: map: got location "a#"`},
		{"  map: MapTask.run", "  map MapTask.run", "want ID: VALUE"},
		{"  spill: SpillThread.run\n", "  map: SpillThread.run\n", "got map twice"},
		{"(1~*)", "(0)", `got cardinality "0": want N, 1~N or 1~*`},
		{"(1, 20)", "(1, 0)", `got group size "0"`},
		{"(1, 20)", "(1)", "want Thread Group Pool (CARDINALITY, SIZE)"},
		{"    Phase {\n", "    Phases {\n", `want Phase {`},
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

// What is read is printed such that it reads as the same again.
func FuzzParseSpecification(f *testing.F) {
	for _, name := range SpecificationNames {
		f.Add(loadSpec(f, name).String())
	}
	f.Add("Vertices {\n v: a#b\n}\nVertex Mapping {\nTask Pool T (2~3) {\nPhase {\nThread Pool (1~∞) { v }\n}\n}\n}\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSpecification("spec", text)
		if err != nil {
			return
		}
		again, err := ParseSpecification("again", s.String())
		if err != nil {
			t.Fatalf("%v in\n%s", err, s)
		}
		if again.String() != s.String() {
			t.Errorf("%s\nwant\n%s", again, s)
		}
	})
}
