package diagnose

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What is said of the specification of Hadoop without each of its words, and with each twice or
// another one in its place; and what is left of sampling records that are changed likewise.
func TestMessagesStay(t *testing.T) {
	var b bytes.Buffer
	text := specText(t, "hadoop")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		words := strings.Fields(line)
		for k, word := range words {
			for _, with := range []string{"", word + " " + word, "x", "{"} {
				changed := append([]string{}, words...)
				changed[k] = with
				all := append([]string{}, lines...)
				all[i] = strings.Join(changed, " ")
				spec, err := ParseSpecification("spec", strings.Join(all, "\n"))
				stages := 0
				if err == nil {
					for _, n := range spec.stagesOfTask() {
						stages += n
					}
				}
				fmt.Fprintf(&b, "%d %q for %q: %d stages, %v\n", i+1, with, word, stages, err)
			}
		}
	}
	record := []string{"7000000", "n1", "task", "j/m/0#1", "RUNNABLE|main|a%2Cb;x.MapTask.run"}
	for k, cell := range record {
		for _, with := range []string{"", "x", "-1", "2147483648", "0", cell + "%", cell + "|", cell + "#2", cell + ",", "cpu", "log", "a|b|c;d", "t#2147483647", "t#2147483648", "t#-1"} {
			r := NewReconstruction(loadSpec(t, "hadoop"))
			changed := append([]string{}, record...)
			changed[k] = with
			file := strings.Join(sampleColumns, ",") + "\r\n" + strings.Join(record, ",") + "\r\n" + strings.Join(changed, ",") + "\n5,n1,cpu,user,0.5"
			err := r.Read(strings.NewReader(file), "samples.csv")
			fmt.Fprintf(&b, "%q for %q: %v\n", with, cell, err)
			sayDataflow(&b, r.Dataflow())
		}
	}
	const columns = "phase_end,host,phase_count,breakdown_count,phase_start,phase_name,phase_stack,attempt_id,breakdown_name,thread_name,breakdown_type,thread_id,job_id"
	record = strings.Split("9000,h,2,1,3000,Copier,s;ReduceTask$ReduceCopier$MapOutputCopier.run,attempt_201106081729_0001_r_000001_0,WAITING,\"m\",state,1,j", ",")
	for k, cell := range record {
		for _, with := range []string{"", "x", "-1", "0", "1e3", cell + cell} {
			r := NewReconstruction(loadSpec(t, "hadoop"))
			changed := append([]string{}, record...)
			changed[k] = with
			err := r.Read(strings.NewReader(columns+"\n"+strings.Join(changed, ",")+"\n"), "instruments.csv")
			fmt.Fprintf(&b, "%q for %q: %v\n", with, cell, err)
			sayDataflow(&b, r.Dataflow())
		}
	}
	for _, start := range []string{strings.Join(sampleColumns, ",") + "\r\n1", columns + "\n", "time_ns,node\n", "phase_name,x\n", "breakdown_count\n", ""} {
		fmt.Fprintf(&b, "%.20q: %v\n", start, IsSamples([]byte(start)))
	}
	for _, n := range []int{1, 2, 5, 6, 7} {
		fmt.Fprintf(&b, "%q %q\n", cut("abcdef", n), cutFront("abcdef", n))
	}
	for _, words := range []string{"", "a", strings.Repeat("word ", 17), strings.Repeat("x", 79), strings.Repeat("x", 80) + " y", strings.Repeat("x", 90)} {
		var text strings.Builder
		line(&text, 2, words)
		fmt.Fprintf(&b, "%q\n", text.String())
	}
	golden(t, "messages.txt", b.Bytes())
}

func sayDataflow(b *bytes.Buffer, d *Dataflow) {
	for _, s := range d.Stages {
		fmt.Fprintf(b, "  %+v\n", s)
	}
	for _, what := range d.problems.order {
		fmt.Fprintf(b, "  %s: %d\n", what, d.problems.counts[what])
	}
	var readings []string
	for key, series := range d.system {
		readings = append(readings, fmt.Sprintf("  %v %v\n", key, *series))
	}
	slices.Sort(readings)
	b.WriteString(strings.Join(readings, ""))
}
