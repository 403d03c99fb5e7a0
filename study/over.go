package study

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/scenarios"
)

// VariedKey is a key of the scenario with its values.
type VariedKey struct {
	Key    string
	Values []string
}

// rangeForm is how a range is written elsewhere.
var rangeForm = regexp.MustCompile(`^(\d+)\s*(?:-|\.\.+|to)\s*(\d+)$`)

// maxValues is the largest number of values of a varied key.
const maxValues = 1000

// ParseOver reads KEY=FROM:TO:STEP or KEY=VALUE,VALUE,...
func ParseOver(text string) (VariedKey, error) {
	key, list, ok := strings.Cut(text, "=")
	o := VariedKey{Key: strings.TrimSpace(key)}
	if !ok || o.Key == "" || list == "" {
		return o, fmt.Errorf("--over %s: want KEY=FROM:TO:STEP or KEY=VALUE,VALUE", text)
	}
	if ends := strings.Split(list, ":"); len(ends) > 1 {
		err := o.addRange(text, ends)
		return o, err
	}
	if m := rangeForm.FindStringSubmatch(list); m != nil {
		return o, fmt.Errorf("--over %s: got %q: want FROM:TO:STEP, such as %s=%s:%s:1", text, list, o.Key, m[1], m[2])
	}
	for _, v := range strings.Split(list, ",") {
		o.Values = append(o.Values, strings.TrimSpace(v))
	}
	return o, nil
}

// addRange adds the values of FROM:TO:STEP.
func (o *VariedKey) addRange(text string, ends []string) error {
	var v [3]float64
	for i := range ends {
		var err error
		if len(ends) != len(v) {
			err = errors.New("want three numbers")
		} else {
			v[i], err = strconv.ParseFloat(strings.TrimSpace(ends[i]), 64)
		}
		if err != nil {
			return fmt.Errorf("--over %s: want FROM:TO:STEP, three numbers", text)
		}
	}
	if v[2] > 0 && v[0] > v[1] {
		return fmt.Errorf("--over %s: want FROM at most TO: %s=%s:%s:%s", text, o.Key, ends[1], ends[0], ends[2])
	}
	steps := math.Floor((v[1]-v[0])/v[2] + 1e-9)
	if !(v[2] > 0 && steps >= 0 && steps < maxValues) {
		return fmt.Errorf("--over %s: want a step above 0 that gives 1 to %d values", text, maxValues)
	}
	for i := range int(steps) + 1 {
		at := v[0] + float64(float64(i)*v[2])
		o.Values = append(o.Values, strconv.FormatFloat(at, 'g', 12, 64))
	}
	return nil
}

// KeySettings set a varied key of a scenario with some [[job]] tables to a value.
func KeySettings(key, value string, tables int) (all []string) {
	for _, path := range scenarios.VariedPaths(key, tables) {
		all = append(all, path+"="+value)
	}
	return all
}
