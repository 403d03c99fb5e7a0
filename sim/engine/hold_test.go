//go:build unix

package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Both benchmarks play the hold model and print processor time.

var holdSizes = []int{1e2, 1e3, 1e4, 1e5, 1e6}

func sizeName(n int) string { return "1e" + strconv.Itoa(len(strconv.Itoa(n))-1) }

func reportHold(b *testing.B, spent time.Duration) {
	b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N), "ns/op")
	b.ReportMetric(float64(b.N)/spent.Seconds()/1e6, "Mevents/s")
}

func BenchmarkHold(b *testing.B) {
	for _, n := range holdSizes {
		b.Run(sizeName(n), func(b *testing.B) {
			_, run := hold(n, exponential)
			run(3 * n)
			b.ReportAllocs()
			b.ResetTimer()
			start := cpuTime()
			run(b.N)
			reportHold(b, cpuTime()-start)
		})
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peer is the hold model on a bare std::priority_queue of (instant, timer): what
// a careful simulator pays that keeps its events in a binary heap.
const peer = `
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <queue>
#include <random>
#include <vector>

struct event { long at; int id; };
struct later { bool operator()(const event& a, const event& b) const { return a.at != b.at ? a.at > b.at : a.id > b.id; } };

int main(int, char** argv) {
	int pending = atoi(argv[1]);
	long n = atol(argv[2]);
	std::mt19937_64 rng(1);
	std::exponential_distribution<double> gap(1e-9);
	std::vector<long> table(1 << 14);
	for (long& t : table) t = (long)gap(rng);
	std::priority_queue<event, std::vector<event>, later> queue;
	for (int i = 0; i < pending; i++) queue.push({(long)gap(rng), i});
	long k = 0;
	clock_t start = 0;
	for (long i = -3L * pending; i < n; i++) {
		if (i == 0) start = clock();
		event e = queue.top();
		queue.pop();
		queue.push({e.at + table[++k & ((1 << 14) - 1)], e.id});
	}
	printf("%f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
	return queue.size() != (size_t)pending;
}
`

// BenchmarkPeer is BenchmarkHold in C++, where there is a compiler.
func BenchmarkPeer(b *testing.B) {
	compiler, err := exec.LookPath("g++")
	if err != nil {
		b.Skip("no g++")
	}
	source, program := filepath.Join(b.TempDir(), "hold.cc"), filepath.Join(b.TempDir(), "hold")
	if err := os.WriteFile(source, []byte(peer), 0o600); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-O2", "-o", program, source).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for _, n := range holdSizes {
		b.Run(sizeName(n), func(b *testing.B) {
			out, err := exec.Command(program, strconv.Itoa(n), strconv.Itoa(b.N)).Output()
			if err != nil {
				b.Fatal(err)
			}
			seconds, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
			if err != nil {
				b.Fatal(err)
			}
			reportHold(b, time.Duration(seconds*1e9))
		})
	}
}
