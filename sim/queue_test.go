package sim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// queue is M^[batch]/M/servers: jobs of so many maps arrive in a Poisson stream,
// every map takes an exponential time of mean one second.
type queue struct {
	servers, batch int
	load           float64
}

// rate of the arrivals of batches, per second.
func (q queue) rate() float64 { return q.load * float64(q.servers) / float64(q.batch) }

// wait is the mean wait before service. In the long run the number of customers
// passes from n to n+1 as often as from n+1 to n: p(n+1) min(n+1, c) mu is the
// rate of batches times p(n) + p(n-1) + ... over the batch - 1 states below, from
// which a batch leaps over n. The mean queue divided by the rate of customers is
// the mean wait (Little). Batches of one give Erlang's C (Kleinrock, Queueing
// Systems I, sections 3.5 and 4.5).
func (q queue) wait() float64 {
	p := []float64{1}
	sum, queued := 1.0, 0.0
	for n := 0; n < q.servers || p[n] > 1e-18*sum; n++ {
		leap := 0.0
		for k := max(0, n-q.batch+1); k <= n; k++ {
			leap += p[k]
		}
		p = append(p, q.rate()*leap/float64(min(n+1, q.servers)))
		sum += p[n+1]
		queued += float64(max(0, n+1-q.servers)) * p[n+1]
	}
	return queued / sum / (q.rate() * float64(q.batch))
}

// The recursion gives the printed formulas where there are any: M/M/1 waits
// rho/(1-rho), M/M/c Erlang's C over c - a, M^[b]/M/1 (rho + (b-1)/2)/(1-rho).
// What is left is rounding.
func TestMeanWaits(t *testing.T) {
	erlangC := func(c int, a float64) float64 {
		term, sum := 1.0, 0.0
		for n := range c {
			sum += term
			term *= a / float64(n+1)
		}
		last := term * float64(c) / (float64(c) - a)
		return last / (sum + last) / (float64(c) - a)
	}
	for _, c := range []struct {
		queue queue
		want  float64
	}{
		{queue{servers: 1, batch: 1, load: 0.5}, 1},
		{queue{servers: 1, batch: 1, load: 0.8}, 4},
		{queue{servers: 4, batch: 1, load: 0.8}, erlangC(4, 3.2)},
		{queue{servers: 16, batch: 1, load: 0.9}, erlangC(16, 14.4)},
		{queue{servers: 1, batch: 8, load: 0.7}, (0.7 + 3.5) / 0.3},
	} {
		if got := c.queue.wait(); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%+v: wait %v, want %v", c.queue, got, c.want)
		}
	}
}

// warmUp is how many customers pass before the queue has forgotten that it was
// empty: ten relaxation times 1/(c mu (1 - sqrt(rho))^2).
func (q queue) warmUp() int {
	gap := 1 - math.Sqrt(q.load)
	return int(10*q.load/(gap*gap)) * q.batch
}

// simulate is the mean wait of the customers after the warm-up in one
// replication, recomputed from the attempts. It also plays the queue itself, with
// the service times that came out (Kiefer and Wolfowitz, 1955): each customer goes
// to the server that is free first, and has started then to the nanosecond.
func (q queue) simulate(t *testing.T, seed uint64, customers int) float64 {
	service, err := workload.NewDist("exponential", workload.DistParams{Mean: 1})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 5))
	jobs := make([]workload.Job, (q.warmUp()+customers)/q.batch)
	at := 0.0
	for i := range jobs {
		at += rng.ExpFloat64() / q.rate()
		jobs[i] = workload.Job{ID: strconv.Itoa(i), Submit: sec(at), Maps: workload.MapTasks{
			Count: q.batch, Time: workload.Durations{Dist: service},
		}}
	}
	nodes := alike(q.servers, 1, 0)
	if q.servers%4 == 0 {
		nodes = alike(q.servers/4, 4, 0)
	}
	served := make([]workload.Attempt, len(jobs)*q.batch)
	keep := observer(func(a *workload.Attempt) {
		job, err := strconv.Atoi(a.Job)
		if err != nil {
			t.Fatal(err)
		}
		served[job*q.batch+a.Task] = *a
	})
	if _, err := (sim.Simulator{Recorder: keep}).Predict(model.WhatIf{
		Cluster: idealCluster(nodes), Scheduler: model.Scheduler{Name: "fifo"}, Jobs: jobs, Seed: seed,
	}); err != nil {
		t.Fatal(err)
	}
	free := make([]time.Duration, q.servers)
	sum, n := time.Duration(0), 0
	for i := range served {
		a, submit := &served[i], jobs[i/q.batch].Submit
		first := 0
		for s := range free {
			if free[s] < free[first] {
				first = s
			}
		}
		if want := max(submit, free[first]); a.Start != want || a.State != workload.Succeeded {
			t.Fatalf("customer %d started at %v and %v, want %v", i, a.Start, a.State, want)
		}
		free[first] = a.Finish
		if i >= q.warmUp() {
			sum += a.Start - submit
			n++
		}
	}
	return (sum / time.Duration(n)).Seconds()
}

// Mean waits in the simulated cluster are those of queueing theory.
//
// The tolerance is 3.5 standard errors of the mean of the replications, which
// one honest run in some two thousand exceeds, and 1 % where that is more. The
// seeds are fixed, so a failure is never chance.
func TestQueueingTheory(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 30 long queues for each case")
	}
	const replications = 30
	customers := layers.Draws(4000, 200_000)
	for _, q := range []queue{{servers: 1, batch: 1, load: 0.5}, {servers: 1, batch: 1, load: 0.8}, {servers: 4, batch: 1, load: 0.8}, {servers: 16, batch: 1, load: 0.9}, {servers: 8, batch: 8, load: 0.7}} {
		t.Run(fmt.Sprintf("M%d-M-%d-%g", q.batch, q.servers, q.load), func(t *testing.T) {
			waits := make([]float64, replications)
			for i := range waits {
				waits[i] = q.simulate(t, uint64(i+1), customers)
			}
			mean, sd := stat.MeanStdDev(waits, nil)
			se := sd / math.Sqrt(replications)
			exact := q.wait()
			t.Logf("mean wait %.5f s, exact %.5f s, standard error %.5f s", mean, exact, se)
			if math.Abs(mean-exact) > max(0.01*exact, 3.5*se) {
				t.Errorf("mean wait %.5f s, want %.5f s; standard error %.5f s", mean, exact, se)
			}
		})
	}
}
