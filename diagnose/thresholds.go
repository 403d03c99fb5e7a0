package diagnose

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/slotwave/slotwave/model/input"
)

// Thresholds are the limits in the conditions of the rules and of the tests for
// outliers. The comments name the rule that uses a threshold, and P if the paper
// gives it.
type Thresholds struct {
	CPUStarved  float64 `json:"cpu_starved" toml:"cpu_starved"`   // R01, R09; P
	IOLow       float64 `json:"io_low" toml:"io_low"`             // R01
	DiskHigh    float64 `json:"disk_high" toml:"disk_high"`       // R02, R09
	DiskForeign float64 `json:"disk_foreign" toml:"disk_foreign"` // R02
	SortSpill   float64 `json:"sort_spill" toml:"sort_spill"`     // R03; P
	WaitFetch   float64 `json:"wait_fetch" toml:"wait_fetch"`     // R04
	CPUFree     float64 `json:"cpu_free" toml:"cpu_free"`         // R04
	Shuffle     float64 `json:"shuffle" toml:"shuffle"`           // R05, R06; P
	Codec       float64 `json:"codec" toml:"codec"`               // R06
	ClusterIdle float64 `json:"cluster_idle" toml:"cluster_idle"` // R07
	InputSkew   float64 `json:"input_skew" toml:"input_skew"`     // R08, R09, R10
	CPUDrop     float64 `json:"cpu_drop" toml:"cpu_drop"`         // R11
	CPUNetwork  float64 `json:"cpu_network" toml:"cpu_network"`   // R12
	NetworkHigh float64 `json:"network_high" toml:"network_high"` // R12
	ReduceHeavy float64 `json:"reduce_heavy" toml:"reduce_heavy"` // R14

	FreeWaiting float64 `json:"free_waiting" toml:"free_waiting"` // R15: share of the offers that left a slot free while tasks waited
	SlowDevice  float64 `json:"slow_device" toml:"slow_device"`   // R16: rate below this part of the peers'
	SlowNode    float64 `json:"slow_node" toml:"slow_node"`       // R16: times of tasks this many times those on other nodes
	ForeignBusy float64 `json:"foreign_busy" toml:"foreign_busy"` // R17: share of a device's time that is not Hadoop's
	Still       float64 `json:"still" toml:"still"`               // R18: times the usual gap of the node
	WaitMemory  float64 `json:"wait_memory" toml:"wait_memory"`   // R19: share of the shuffle
	LastWave    float64 `json:"last_wave" toml:"last_wave"`       // R20: part of the slots that the last wave uses
	Startup     float64 `json:"startup" toml:"startup"`           // R21: share of the slot time
	RemoteReads float64 `json:"remote_reads" toml:"remote_reads"` // R22: share of the maps that are not node-local
	Lost        float64 `json:"lost" toml:"lost"`                 // R23: share of the slot time
	LinkFull    float64 `json:"link_full" toml:"link_full"`       // R24: busy share of the available rate of a link, during the shuffle
	DataSkew    float64 `json:"data_skew" toml:"data_skew"`       // R25: largest reduce over the median one
	WaitShared  float64 `json:"wait_shared" toml:"wait_shared"`   // R04: share of the shuffle that waits for maps, in shared slots
	MapOutput   float64 `json:"map_output" toml:"map_output"`     // R03, R05: share of the slot time that moves map output
	CodecTime   float64 `json:"codec_time" toml:"codec_time"`     // R06: share of the slot time that the codec takes beyond a fast one
	LateShuffle float64 `json:"late_shuffle" toml:"late_shuffle"` // R11: shuffle after the last map, as a part of the job

	TaskK      float64 `json:"task_k" toml:"task_k"`           // scaled median deviations of a whole task
	TaskRatio  float64 `json:"task_ratio" toml:"task_ratio"`   // and this many times the median
	PhaseZ     float64 `json:"phase_z" toml:"phase_z"`         // scaled median deviations of a phase above the prediction
	PhaseRatio float64 `json:"phase_ratio" toml:"phase_ratio"` // and this many times the prediction
	PhaseShare float64 `json:"phase_share" toml:"phase_share"` // excess as a part of the median task
	Critical   float64 `json:"critical" toml:"critical"`       // delay as a part of the stage
	Gain       float64 `json:"gain" toml:"gain"`               // least mean gain of a confirmed change
}

// DefaultThresholds returns SONATA's values where it gives one (sort and spill,
// shuffle, starved CPU), and slotwave's own for the others.
func DefaultThresholds() Thresholds {
	return Thresholds{
		CPUStarved: 0.99, IOLow: 0.5, DiskHigh: 1.5, DiskForeign: 0.7, SortSpill: 0.20,
		WaitFetch: 0.90, CPUFree: 0.95, Shuffle: 0.70, Codec: 0.5, ClusterIdle: 0.40,
		InputSkew: 1.5, CPUDrop: 0.5, CPUNetwork: 0.95, NetworkHigh: 0.5, ReduceHeavy: 0.70,

		FreeWaiting: 0.3, SlowDevice: 0.9, SlowNode: 1.2, ForeignBusy: 0.1, Still: 10, WaitMemory: 0.1,
		LastWave: 0.5, Startup: 0.3, RemoteReads: 0.1, Lost: 0.05, LinkFull: 0.9, DataSkew: 1.5,
		WaitShared: 0.1, MapOutput: 0.1, CodecTime: 0.03, LateShuffle: 0.03,

		TaskK: 3, TaskRatio: 1.2, PhaseZ: 3.5, PhaseRatio: 1.2, PhaseShare: 0.02, Critical: 0.01, Gain: 0.02,
	}
}

// ReadThresholds reads a TOML file with some of the thresholds; the others keep
// their defaults. file names it in errors.
func ReadThresholds(file, text string) (Thresholds, error) {
	t := DefaultThresholds()
	var values map[string]any
	_, err := toml.Decode(text, &values)
	if parse := (toml.ParseError{}); errors.As(err, &parse) {
		return t, fmt.Errorf("%s:%d: %s", file, parse.Position.Line, parse.Message)
	}
	var errs []error
	names, fields := thresholdNames(), reflect.ValueOf(&t).Elem()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value, i := reflect.ValueOf(values[key]), slices.Index(names, key)
		if i < 0 {
			want := "a threshold"
			if near := input.Nearest(key, names); near >= 0 {
				want = names[near]
			} else if len(errs) == 0 { // the list once
				want = "one of " + strings.Join(names, ", ")
			}
			errs = append(errs, fmt.Errorf("%s:%d: got unknown key %s: want %s", file, lineOf(text, key), key, want))
			continue
		}
		if value.CanFloat() || value.CanInt() {
			fields.Field(i).Set(value.Convert(fields.Field(i).Type()))
		}
		if f := fields.Field(i).Float(); !value.CanFloat() && !value.CanInt() || !(f >= 0) || math.IsInf(f, 0) {
			errs = append(errs, fmt.Errorf("%s:%d: %s: got %#v: want 0 or more", file, lineOf(text, key), key, values[key]))
		}
	}
	return t, errors.Join(errs...)
}

func thresholdNames() []string {
	var names []string
	v := reflect.TypeFor[Thresholds]()
	for i := range v.NumField() {
		names = append(names, v.Field(i).Tag.Get("toml"))
	}
	return names
}

// undecoded lists the unknown keys that are in no unknown table.
func undecoded(meta *toml.MetaData) (keys []string) {
	for _, key := range meta.Undecoded() {
		if !slices.Contains(keys, key[0]) {
			keys = append(keys, key[0])
		}
	}
	return keys
}

// lineOf returns the line of a key, or of the first header of a table.
func lineOf(text, key string) int {
	for i, line := range strings.Split(text, "\n") {
		name, _, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		header, _, _ := strings.Cut(strings.Trim(name, "[] "), ".")
		if ok && strings.Trim(name, `"'`) == key || strings.HasPrefix(name, "[") && header == key {
			return i + 1
		}
	}
	return 1
}
