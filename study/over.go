package study

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// variedKey is a key of the scenario with its values.
type variedKey struct {
	key     string
	values  []variedValue
	numeric bool
}

type variedValue struct {
	text string
	at   float64
}

// maxValues is the largest number of values of a varied key.
const maxValues = 1000

// parseOver reads KEY=FROM:TO:STEP or KEY=VALUE,VALUE,... Without a flag
// nothing varies.
func parseOver(flags []string) (variedKey, error) {
	switch {
	case len(flags) == 0:
		return variedKey{values: []variedValue{{}}}, nil
	case len(flags) > 1:
		return variedKey{}, fmt.Errorf("--over %s: given twice: want one key", flags[1])
	}
	text := flags[0]
	key, list, ok := strings.Cut(text, "=")
	o := variedKey{key: strings.TrimSpace(key), numeric: true}
	if !ok || o.key == "" || list == "" {
		return o, fmt.Errorf("--over %s: want KEY=FROM:TO:STEP or KEY=VALUE,VALUE", text)
	}
	if ends := strings.Split(list, ":"); len(ends) > 1 {
		err := o.addRange(text, ends)
		return o, err
	}
	for i, v := range strings.Split(list, ",") {
		v = strings.TrimSpace(v)
		at, err := strconv.ParseFloat(v, 64)
		if err != nil {
			o.numeric, at = false, float64(i)
		}
		o.values = append(o.values, variedValue{v, at})
	}
	return o, nil
}

// addRange adds the values of FROM:TO:STEP.
func (o *variedKey) addRange(text string, ends []string) error {
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
	steps := math.Floor((v[1]-v[0])/v[2] + 1e-9)
	if !(v[2] > 0 && steps >= 0 && steps < maxValues) {
		return fmt.Errorf("--over %s: want a step above 0 that gives 1 to %d values", text, maxValues)
	}
	for i := range int(steps) + 1 {
		at := v[0] + float64(float64(i)*v[2])
		o.values = append(o.values, variedValue{strconv.FormatFloat(at, 'g', 12, 64), at})
	}
	return nil
}

// settings set a key to a value; a key without a dot is one of every [[job]], if the
// scenario has any.
func settings(key, value string, tables int) []string {
	if tables == 0 || strings.Contains(key, ".") {
		return []string{key + "=" + value}
	}
	var all []string
	for i := range tables {
		all = append(all, fmt.Sprintf("job.%d.%s=%s", i, key, value))
	}
	return all
}
