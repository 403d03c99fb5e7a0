package input_test

import (
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/model/vectortest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// What is said of a question without each of its tokens, and with each twice; of numbers at
// both sides of a limit; the description of a question; suggestions.
func TestMessages(t *testing.T) {
	var b strings.Builder
	tokens := strings.Fields(strings.NewReplacer("{", " { ", "}", " } ", "[", " [ ", "]", " ] ", ",", " , ", ":", " : ").Replace(good))
	for i, token := range tokens {
		for _, with := range []string{"", token + " " + token, "-1", `"x"`, "1e17", "2.5", "null"} {
			changed := append([]string{}, tokens...)
			changed[i] = with
			var q question
			err := input.Decode([]byte(strings.Join(changed, " ")), &q)
			fmt.Fprintf(&b, "%d %q for %q: %+v %v\n", i, with, token, short(q), err)
		}
	}
	for _, f := range input.Describe(question{inner: inner{X: 2}, Part: inner{X: math.NaN(), Y: 3}, Name: "n", List: []float64{1}}) {
		fmt.Fprintf(&b, "%+v\n", f)
	}
	values := []float64{-1, -1e-9, 0, 1e-9, 1 - 1e-9, 1, 1 + 1e-9, 2, 1 << 53, 1<<53 + 2, math.NaN(), math.Inf(1), math.Inf(-1)}
	for _, v := range values {
		var c input.Check
		c.Number("number", v)
		c.AtLeast("at least", v, 1)
		c.Above("above", v, 1)
		c.Within("within", v, 0, 1)
		c.Part("part", v)
		if v == math.Trunc(v) && !math.IsInf(v, 0) {
			c.Count("count", int(v), 1)
		}
		c.List("list", []float64{1, v}, 2, 0.5)
		c.List("longer list", []float64{v}, 2, 0.5)
		fmt.Fprintf(&b, "%v: %v; finite: %v\n", v, c.Err(), input.Finite(&question{List: []float64{0, v}, Limit: &v}))
	}
	for _, name := range []string{"alpha", "alpah", "alph", "alp", "x", "", "ALPHA", "beta1", "gamma_delta", "gmama_edlta_epslion", "gamma_delta_epsilno", "btea", "ebta", "elta_epsilon_gamma"} {
		fmt.Fprintf(&b, "%q: %s\n", name, input.Suggest(name, []string{"alpha", "beta", "gamma", "gamma_delta_epsilon"}))
	}
	vectortest.Lines(t, "testdata/messages.txt", b.String(), *update)
}

// short leaves out the address of the limit.
func short(q question) string {
	limit := "none"
	if q.Limit != nil {
		limit = fmt.Sprint(*q.Limit)
	}
	q.Limit = nil
	return strings.Replace(fmt.Sprintf("%+v", q), "Limit:<nil>", "Limit:"+limit, 1)
}
