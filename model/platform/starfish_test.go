package platform

import (
	_ "embed"
	"math"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
)

//go:embed testdata/starfish.xml
var starfishXML string

func readOne(t *testing.T, text string) StarfishProfile {
	t.Helper()
	all, err := ReadStarfish(strings.NewReader(text))
	if err != nil || len(all) != 1 {
		t.Fatalf("%d profiles, %v", len(all), err)
	}
	return all[0]
}

// TestStarfishMachine: the costs of a profile become those of a machine, and what it
// lacks is that of another one and listed.
func TestStarfishMachine(t *testing.T) {
	p := readOne(t, starfishXML)
	start := model.Machine{Name: "usual", Memory: 1 << 32, HeapPart: 0.9, CPU: model.FrameworkCost{Compare: 55, HDFSWrite: 7}}
	m := p.Machine(start)
	want := model.FrameworkCost{HDFSRead: 20, HDFSWrite: 7, LocalWrite: 100, SerdeRecord: 700, Compare: 55, Fetch: 80}
	if m.CPU != want || m.Memory != start.Memory || p.Job != "job_201001010000_0001" || p.Maps != 4 {
		t.Errorf("costs %+v, want %+v; %+v", m.CPU, want, p)
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
	listed := strings.Join(m.Assumed, "\n")
	for _, text := range []string{"cpu.compare: as in usual; the profile has no SORT_CPU_COST", "cpu.local_write_byte: that of maps, also in reduces, whose WRITE_LOCAL_IO_COST is 300 ns", "jvm.start: as in usual"} {
		if !strings.Contains(listed, text) {
			t.Errorf("no %q in\n%s", text, listed)
		}
	}
	if want := [2]string{"none", "none"}; m.MeasuredWith != want {
		t.Errorf("measured with %v, want %v", m.MeasuredWith, want)
	}
	program := p.Program()
	// The spill has 1/4 of the records, each framed by 2 of its bytes.
	if size := program.Data.CombineSizeSel; math.Abs(size-(0.5-0.25*2*2000/40000)) > 1e-12 || program.MapCPU != 3000 || program.ReduceCPU != 900 {
		t.Errorf("%+v", program)
	}
	// Of recorded tasks, 7 ms of a map and 2.5 ms of a reduce are in no phase.
	p.MapTime, p.ReduceTime = 17, 4
	if maps, reduces, _ := p.Costs(); maps != 3000+7e6/1000 || reduces != 900+2.5e6/500 {
		t.Errorf("%v ns per map record and %v per reduce record", maps, reduces)
	}
}

// TestStarfishWaits: the time of serialising contains the waits for a full buffer,
// which the machine does not.
func TestStarfishWaits(t *testing.T) {
	text := strings.NewReplacer(`"MAP_NUM_SPILLS" value="1"`, `"MAP_NUM_SPILLS" value="4"`, `"SPILL" value="1"`, `"SPILL" value="6"`, `"COLLECT" value="4"`, `"COLLECT" value="5.1875"`).Replace(starfishXML)
	p := readOne(t, text)
	m := p.Machine(model.Machine{Name: "usual"})
	// 2 ms of reading, 3 of mapping and 2 of serialising 2,000 records, with four spills of
	// 1.5 ms. The map fills a fifth of its buffer during a spill and then waits. Spills end
	// at 3.25, 6.0625, 8.875 and 11.6875 ms, the map function 1.5 ms before the last.
	if ns := m.CPU.SerdeRecord; math.Abs(ns-1000) > 0.01 {
		t.Errorf("%v ns per record to serialise, want 1000; with the waits %v", ns, 5.1875e6/2000)
	}
}

// TestReadStarfish: the table and the XML of a profile are the same; what makes no
// sense is refused.
func TestReadStarfish(t *testing.T) {
	table := starfishHeader + "\n"
	for _, row := range []string{"MAP_INPUT_RECORDS\t1000", "MAP_CPU_COST\t3000", "READ_HDFS_IO_COST\t20", "INPUT_PAIR_WIDTH\t100", "MAP_SIZE_SEL\t0.4", "MAP_PAIRS_SEL\t2"} {
		table += "a\tmeasured\tmap\t0\t4\tcounter\t" + row + "\n"
	}
	other := strings.ReplaceAll(strings.ReplaceAll(table, "\t0\t4\t", "\t1\t9\t"), "3000", "5000")
	_, other, _ = strings.Cut(other, "\n")
	p := readOne(t, table+other)
	if maps, _, _ := p.Costs(); maps != 5000 || p.Maps != 13 || !strings.Contains(strings.Join(p.Machine(model.Machine{}).Assumed, ""), "that 9 of 13 maps read") {
		t.Errorf("%v ns of the input that most maps read, of %d maps", maps, p.Maps)
	}
	if !IsStarfish([]byte(starfishXML)) || !IsStarfish([]byte(table)) || IsStarfish([]byte("phase,ms")) {
		t.Error("profiles are not recognised")
	}
	for _, text := range []string{
		"", "<job_profile", strings.Replace(starfishXML, `value="3000"`, `value="-3000"`, 1), strings.Replace(starfishXML, "INPUT_PAIR_WIDTH", "X", 1),
		strings.Replace(table, "\t3000", "", 1), strings.Replace(table, "\t4\t", "\tx\t", 1), starfishHeader, strings.Replace(starfishXML, `value="900"`, `value="NaN"`, 1),
	} {
		if all, err := ReadStarfish(strings.NewReader(text)); err == nil {
			t.Errorf("%.60q is read: %+v", text, all)
		}
	}
}
