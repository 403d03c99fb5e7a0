package yarn

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model/vectortest"
)

var update = flag.Bool("update", false, "write the golden file anew")

// What the two calculators make of small amounts, of nothing, and of amounts beside a
// multiple of the step stays. A line of the golden file is a pair of amounts.
func TestCalculatorsStay(t *testing.T) {
	amounts := []Resource{{}, mib(1, 0), mib(0, 1), mib(1024, 1), mib(1023, 3), mib(1025, 2), mib(4096, 4), mib(-1, -1), mib(-1024, 2)}
	steps := []Resource{mib(512, 1), mib(1024, 2)}
	var got strings.Builder
	for i, c := range []calculator{memoryOnly, dominant} {
		for k, a := range amounts {
			step := steps[k%2]
			fmt.Fprintln(&got, i, a, c.anyAboveZero(a), c.anyUsedUp(a), c.divideUp(a, 0), c.divideUp(a, 1.5), c.divideWhole(a, 0), c.divideWhole(a, 3),
				c.normalize(a, steps[0], mib(3000, 3), step), c.roundUp(a, step), c.roundDown(a, step), c.timesUp(a, 0.3, step), c.timesUpEach(a, [2]float64{0.3, 0.7}),
				c.timesDown(a, 1.7, step), times(a, 0.7))
			for _, b := range amounts {
				fmt.Fprint(&got, "  ", b, c.fits(a, b), c.available(a, b), c.ratio(a, b))
				for _, cluster := range []Resource{{}, mib(8192, 0), mib(0, 8), mib(8192, 4)} {
					fmt.Fprint(&got, " ", c.compare(cluster, a, b), c.divide(cluster, a, b), lesser(c, cluster, a, b), greater(c, cluster, a, b))
				}
				got.WriteByte('\n')
			}
		}
	}
	vectortest.Lines(t, "testdata/calculators.txt", got.String(), *update)
}
