package platform

import (
	"math"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model"
)

// Parameters lists the rates and costs of a machine. Those that are 0 or without a
// limit are left out, because a factor does not change them.
func Parameters(m *model.Machine) []Parameter {
	list := []Parameter{
		{"speed", func(m *model.Machine) *float64 { return &m.Speed }},
		{"uplink_mb", func(m *model.Machine) *float64 { return &m.Uplink }},
	}
	list = append(append(list, costs("partition_record", "serde_byte")...), parametersOf(m, true)...)
	return slices.DeleteFunc(list, func(k Parameter) bool { return *k.of(m) == 0 || math.IsInf(*k.of(m), 1) })
}

// Value returns the parameter of a machine; of several disks, that of the first one.
func (k Parameter) Value(m *model.Machine) float64 { return *k.of(m) }

// Scale multiplies the parameter by a factor, on all disks.
func (k Parameter) Scale(m *model.Machine, factor float64) {
	if !strings.HasPrefix(k.Name, "disk.") {
		*k.of(m) *= factor
		return
	}
	for i := range m.Disks {
		*k.of(&model.Machine{Disks: m.Disks[i:]}) *= factor
	}
}
