package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A result whose nodes have equal slots is read with them, although no machine ever
// used all; the attempts of one with unequal slots show that, and nothing is said.
func TestSlotsOfResult(t *testing.T) {
	const attempts = "job,task,kind,attempt,state,node,rack,slot,start_ns,finish_ns\n"
	for _, c := range []struct{ what, rows, want string }{
		{"equal", "j,0,map,0,SUCCEEDED,a,/r,0,0,1000000000\nj,0,reduce,0,SUCCEEDED,b,/r,3,0,2000000000\n", "3"},
		{"unequal", "j,0,map,0,SUCCEEDED,a,/r,0,0,1000000000\nj,0,reduce,0,SUCCEEDED,b,/r,2,0,2000000000\n", ""},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"manifest.json": `{"schema":"slotwave/manifest/1","outputs":[{"name":"attempts.csv"},{"name":"jobs.csv"}]}`,
			"summary.json":  `{"schema":"slotwave/summary/1","hadoop":"0.20.2","nodes":2,"slots":[{"type":"map","slots":6},{"type":"reduce","slots":2}]}`,
			"attempts.csv":  attempts + c.rows,
			"jobs.csv":      "job,name,user,pool,queue,state,submit_ns,finish_ns\nj,j,u,,,SUCCEEDED,0,3000000000\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		h, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Site.String("mapred.tasktracker.map.tasks.maximum", ""); got != c.want {
			t.Errorf("%s: %q map slots, want %q", c.what, got, c.want)
		}
		if c.want == "" {
			continue
		}
		out, err := jhistFormat.Write(h)
		if err != nil {
			t.Fatal(err)
		}
		var conf strings.Builder
		for _, f := range out.Files {
			if strings.HasSuffix(f.Name, "_conf.xml") {
				if err := f.Write(&conf); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !strings.Contains(conf.String(), "<name>mapred.tasktracker.reduce.tasks.maximum</name><value>1</value>") {
			t.Errorf("the configuration of the job is %s", conf.String())
		}
	}
}
