package predict

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
)

// No number of nodes that is enough is another answer than none at all.
func TestProvisions(t *testing.T) {
	p := Provisions{Deadline: time.Minute}
	q := &model.WhatIf{Name: "q"}
	p.Add(q, analytic.Provisioned{Model: "aria", Low: 3, Mean: 4, NoSafe: true})
	p.Add(q, analytic.Provisioned{Model: "ihp", Low: 5, Mean: 6, High: 7})
	p.Add(q, analytic.Provisioned{Model: "zhang", Err: errors.New("wants more")})
	var text, object bytes.Buffer
	if err := errors.Join(p.WriteText(&text, false), p.WriteJSON(&object)); err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for line := range strings.Lines(text.String()) {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, want := range []string{"aria 3 4 - none", "ihp 5 6 none 7", "zhang n/a: wants more"} {
		if !lines[want] {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	flat := strings.Join(strings.Fields(object.String()), "")
	for _, want := range []string{
		`"nodes_by_low":3,"nodes_by_mean":4,"nodes_by_safe_mean":null,"nodes_by_high":"none"`,
		`"nodes_by_mean":6,"nodes_by_safe_mean":"none"`,
		`"nodes_by_low":null,"nodes_by_mean":null,"nodes_by_safe_mean":null,"nodes_by_high":null`,
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("no %s in\n%s", want, object.String())
		}
	}
}
