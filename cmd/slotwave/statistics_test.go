package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/results/points"
)

// one server that is busy for 80 % of the time; a service takes 10 s.
const oneServer = `
attempts = "none"
plots = "none"
[cluster]
hadoop = "ideal"
nodes = 1
map_slots = 1
reduce_slots = 0
[[job]]
name = "customer"
jobs = %d
interarrival = { dist = "exponential", mean = "12.5s" }
maps = 1
duration = { dist = "exponential", mean = "10s" }
`

// The 95 % interval of the mean response over replications holds the true mean with
// 95 % of the seeds: 92.7 to 97.3 % of 1,000 is four standard errors. The true mean
// of a queue that starts empty is that of all replications of all seeds; its error
// is a thirtieth of that of one mean. Means of fewer customers are so skewed that
// Student's interval of five of them holds the mean less often. The half-width follows from the
// asymptotic variance of waits in M/M/1, rho (2 + 5 rho - 4 rho^2 + rho^3) /
// (1 - rho)^4 service times squared per customer (Daley 1968).
func TestIntervalCoverage(t *testing.T) {
	seeds, customers := 1000, 5000
	if !layers.Whole {
		seeds, customers = 60, 500
	}
	if testing.Short() {
		t.Skip("runs hundreds of queues")
	}
	const replications, service, rho = 5, 10e9, 0.8
	t.Chdir(t.TempDir())
	writeFile(t, "my.toml", fmt.Sprintf(oneServer, customers))
	type interval struct{ Mean, Low, High float64 }
	var all []interval
	grand := 0.0
	for seed := range seeds {
		verb(t, "sweep", "my.toml", "--quiet", "--seed", strconv.Itoa(seed+1), "--replications", strconv.Itoa(replications), "--force", "--out", "out")
		rows, err := csv.NewReader(strings.NewReader(read(t, filepath.Join("out", points.SummaryName)))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		row := slices.IndexFunc(rows, func(row []string) bool { return row[2] == "mean_response_ns" })
		var figures [3]float64
		for i := range figures {
			if figures[i], err = strconv.ParseFloat(rows[row][4+i], 64); err != nil {
				t.Fatal(err)
			}
		}
		m := interval{figures[0], figures[1], figures[2]}
		all = append(all, m)
		grand += m.Mean / float64(seeds)
	}
	covered, half := 0, 0.0
	for _, x := range all {
		if x.Low <= grand && grand <= x.High {
			covered++
		}
		half += (x.High - x.Low) / 2 / float64(seeds)
	}
	share := float64(covered) / float64(seeds)
	daley := rho * (2 + 5*rho - 4*rho*rho + rho*rho*rho) / math.Pow(1-rho, 4)
	theory := distuv.StudentsT{Sigma: 1, Nu: replications - 1}.Quantile(0.975) * service * math.Sqrt(daley/float64(customers)/replications)
	t.Logf("%d of %d intervals hold the mean %.1f s (stationary: %.1f s); half-width %.2f s, theory %.2f s", covered, seeds, grand/1e9, service/(1-rho)/1e9, half/1e9, theory/1e9)
	if slack := 4 * math.Sqrt(0.95*0.05/float64(seeds)); math.Abs(share-0.95) > max(slack, 0.023) {
		t.Errorf("coverage %.1f %%: want 95 %% within %.1f points", 100*share, 100*max(slack, 0.023))
	}
	if half > 1.5*theory || theory > 1.5*half {
		t.Errorf("half-width %.2f s: want %.2f s within a factor 1.5", half/1e9, theory/1e9)
	}
}

// The variance of the differences between two versions of the Fair scheduler over
// pairs with the same seed is at most half of that of independent samples.
func TestPairedVariance(t *testing.T) {
	seeds := 30
	if layers.Whole {
		seeds = 200
	}
	t.Chdir(t.TempDir())
	writeFile(t, "my.toml", strings.Split(sweptScenario, "[vary]")[0])
	verb(t, "sweep", "my.toml", "--over", "scheduler.name=fair1,fair2", "--replications", strconv.Itoa(seeds), "--quiet", "--out", "out")
	rows, err := csv.NewReader(strings.NewReader(read(t, "out/points.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	const response = 6
	if rows[0][response] != "mean_response_ns" {
		t.Fatalf("column %s: want mean_response_ns", rows[0][response])
	}
	var of [2][]float64
	var differences []float64
	for i, row := range rows[1:] {
		v, err := strconv.ParseFloat(row[response], 64)
		if err != nil {
			t.Fatal(err)
		}
		of[i/seeds] = append(of[i/seeds], v)
	}
	for i := range of[0] {
		differences = append(differences, of[1][i]-of[0][i])
	}
	paired, apart := stat.Variance(differences, nil), stat.Variance(of[0], nil)+stat.Variance(of[1], nil)
	t.Logf("variance of paired differences: %.3f of that of independent samples (n = %d)", paired/apart, seeds)
	if paired > apart/2 {
		t.Errorf("got %.3f: want at most 0.5", paired/apart)
	}
}
