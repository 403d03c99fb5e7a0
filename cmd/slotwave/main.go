// Command slotwave simulates Hadoop MapReduce clusters.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

func main() {
	for _, f := range os.Args[1:] {
		for run := 1; run <= 5; run++ {
			if _, err := os.Stat(filepath.Join(filepath.Dir(f), "run"+strconv.Itoa(run))); err != nil {
				continue
			}
			a, err := compareRecorded(f, run)
			if err != nil {
				fmt.Println(f, run, err)
				continue
			}
			fmt.Printf("%-28s %s det=%v %d/%d missing %d extra %d largest %d makespan %d vs %d  %s\n", a.name, a.run, a.deterministic, a.exact, a.attempts, a.missing, a.additional, a.largest, a.makespan, a.simulated, a.first)
		}
	}
}
