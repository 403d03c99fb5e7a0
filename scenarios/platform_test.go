package scenarios

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// Every shipped program can be planned on every shipped platform, with and
// without compression.
func TestShippedPlatformsAndProfiles(t *testing.T) {
	if len(Platforms()) < 6 || len(Profiles()) < 15 {
		t.Fatalf("platforms %v, profiles %v", Platforms(), Profiles())
	}
	for _, platform := range Platforms() {
		m, err := Platform(platform)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, profile := range Profiles() {
			program, err := shippedProgram(profile)
			if err != nil {
				t.Error(err)
				continue
			}
			for _, codec := range model.Codecs[1:] {
				conf, err := taskplan.ReadConf(workload.Conf{})
				if err != nil {
					t.Fatal(err)
				}
				conf.IntermCompressed, conf.OutCompressed = true, true
				conf.IntermCodec, conf.OutCodec = codec.Classes[0], codec.Classes[0]
				p, err := m.Planner(&program, conf, 8)
				if err != nil {
					t.Errorf("%s on %s: %v", profile, platform, err)
					continue
				}
				plan, err := p.Map(p.MapFlow(64 << 20))
				if err != nil {
					t.Errorf("%s on %s: %v", profile, platform, err)
					continue
				}
				if d := plan.Serial(p.Cost); d <= 0 {
					t.Errorf("%s on %s: a map takes %v", profile, platform, d)
				}
			}
		}
	}
}

// hostile is what names in a trace may hold.
const hostile = "bell\a del\x7f \x1b[31m \"quoted\" back\\slash\nline \u00ad\U0001f4a9"

// What is written of a machine is read as the same machine again.
func TestWritePlatform(t *testing.T) {
	for _, name := range Platforms() {
		m, err := Platform(name)
		if err != nil {
			t.Fatal(err)
		}
		m.Title, m.Source, m.MeasuredWith = hostile, append(m.Source, hostile), [2]string{"lzo", "none"}
		var text bytes.Buffer
		if err := WritePlatform(&text, &m); err != nil {
			t.Fatal(err)
		}
		again, err := readPlatform(text.Bytes(), name+".toml")
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, &text)
		}
		if !reflect.DeepEqual(again, m) {
			t.Errorf("%s: written as\n%s\nand read as %+v, want %+v", name, &text, again, m)
		}
	}
}

// The same of a program.
func TestWriteProgram(t *testing.T) {
	for _, name := range Profiles() {
		p, err := shippedProgram(name)
		if err != nil {
			t.Fatal(err)
		}
		p.Title, p.Source = hostile, append(p.Source, hostile)
		var text bytes.Buffer
		if err := WriteProgram(&text, &p); err != nil {
			t.Fatal(err)
		}
		again, err := readProfile(text.Bytes(), name+".toml")
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, &text)
		}
		if !reflect.DeepEqual(again, p) {
			t.Errorf("%s: written as\n%s\nand read as %+v, want %+v", name, &text, again, p)
		}
	}
}

func TestReadPlatformErrors(t *testing.T) {
	const file = `source = "a shop"
assumed = ["speed: a guess", "colour: blue"]
cores = 0
speed = 1
nic_mb = -1
[[disk]]
read_mb = 100
sectors = 512
[disk.curve]
kind = "bent"
[jvm]
start = "now"
[codec.lzo]
ratio = 2
[codec.rar]
[measured_with]
map_output = "rar"
`
	_, err := readPlatform([]byte(file), "p.toml")
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`p.toml:2: assumed: "colour: blue": want KEY: why, with a key of this file`,
		"p.toml:3: cores: 0: want a whole number from 1",
		"p.toml:5: nic_mb: -1: want a number",
		"disk[0].write_mb: missing",
		"p.toml:8: unknown key disk[0].sectors",
		`p.toml:10: disk[0].curve.kind: "bent": want one of none, linear, floor, seek`,
		`p.toml:12: jvm.start: "now": want a duration`,
		"p.toml:11: jvm.heap_part: missing",
		"p.toml:14: codec.lzo.ratio: 2: want a number",
		"p.toml:15: unknown key codec.rar",
		`p.toml:17: measured_with.map_output: "rar": want one of none, default`,
		"memory: missing",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not in\n%v", want, err)
		}
	}
}

func TestReadProfileErrors(t *testing.T) {
	const file = `[data]
input_pair_width = 0
map_size_sel = 0
map_records_sel = 1
[cpu]
map_record = "fast"
[combiner]
size_sel = 2
[ratio]
zip = 0.5
`
	_, err := readProfile([]byte(file), "p.toml")
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"p.toml: source: missing: want where the values come from",
		"p.toml:2: data.input_pair_width: 0: want a number",
		"p.toml:3: data.map_size_sel: 0 with map_records_sel 1: want both 0 or neither",
		"p.toml:1: data.reduce_size_sel: missing",
		`p.toml:6: cpu.map_record: "fast": want a number`,
		"p.toml:5: cpu.reduce_record: missing",
		"p.toml:8: combiner.size_sel: 2: want a number from 0 to 1",
		"p.toml:7: combiner.record: missing",
		"p.toml:10: unknown key ratio.zip",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not in\n%v", want, err)
		}
	}
}

func shippedProgram(name string) (model.Program, error) {
	data, err := shippedIn("profiles", name, Profiles())
	if err != nil {
		return model.Program{}, err
	}
	return readProfile(data, name+".toml")
}

func TestNoSuchPlatform(t *testing.T) {
	_, err := Platform("hitune-xenon")
	if err == nil || !strings.Contains(err.Error(), "did you mean hitune-xeon?") {
		t.Error(err)
	}
	if _, err := shippedProgram("../platforms/ec2-small"); err == nil {
		t.Error("read what is no profile")
	}
}

// What is set without quotes is a text, whatever is in it.
func TestSettingIsText(t *testing.T) {
	f, err := Open("two-jobs", "title="+hostile)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Scenario(1)
	if err != nil || s.Title != hostile {
		t.Errorf("%q, %v; want %q", s.Title, err, hostile)
	}
}

// Disks on which a job would take years are refused.
func TestSlowestDisks(t *testing.T) {
	text, ok := Text("dl145-g3")
	if !ok {
		t.Fatal("dl145-g3 is not shipped")
	}
	for was, is := range map[string][2]string{
		"chunk = 2_000_000": {"chunk = 7", "chunk: 7: want at least a sector of 512 bytes"},
		"seek = \"10ms\"":   {"seek = \"1h\"", "seek: 1h0m0s: want at most 1s"},
		"read_mb = 60":      {"read_mb = 0.001", "read_mb: 0.001: want a number from 0.01"},
	} {
		if !strings.Contains(text, was) {
			t.Fatalf("dl145-g3 has no %s", was)
		}
		if _, err := readPlatform([]byte(strings.Replace(text, was, is[0], 1)), "p.toml"); err == nil || !strings.Contains(err.Error(), is[1]) {
			t.Errorf("%s: got %v, want %s", is[0], err, is[1])
		}
	}
}

// A platform is read at each fidelity, also where it has no effect.
func TestPlatformWithoutEffect(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"p.toml": "coresz = 4\n",
		"s.toml": "[cluster]\nnodes = 1\nplatform = \"p.toml\"\n[[job]]\nname = \"a\"\nmaps = 1\nmap_ms = 5\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Open(filepath.Join(folder, "s.toml"))
	if err == nil {
		_, err = f.Scenario(1)
	}
	if err == nil || !strings.Contains(err.Error(), "p.toml:1: unknown key coresz (did you mean cores?)") {
		t.Errorf("got %v", err)
	}
}
