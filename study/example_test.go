package study_test

import (
	"fmt"
	"log"

	"github.com/slotwave/slotwave/study"
)

// A recorded trace on its own cluster and on twice the nodes: any Go program can
// ask what the verbs ask.
func Example() {
	for _, set := range [][]string{nil, {"cluster.nodes=8"}} {
		s, err := study.Open("testdata/replay.toml", study.Options{Seed: 1, Set: set})
		if err != nil {
			log.Fatal(err)
		}
		runs, err := s.Simulate(nil, nil)
		if err != nil {
			log.Fatal(err)
		}
		q, p := runs[0].Question, runs[0].Predictions[0]
		fmt.Printf("%d nodes, %d jobs: %v\n", len(q.Cluster.Nodes), len(p.Jobs), p.Mean)
	}
	// Output:
	// 1 nodes, 1 jobs: 13.100717753s
	// 8 nodes, 1 jobs: 12.676847073s
}
