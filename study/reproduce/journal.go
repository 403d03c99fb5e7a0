package reproduce

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/slotwave/slotwave/results/resultdir"
)

// point is one choice of the unknown inputs, and what the claims' measures are there.
type point struct {
	Inputs []string   // by unknown input
	Values []float64s // by claim and measure
}

// float64s are numbers of which some may be NaN, which JSON does not have.
type float64s []float64

// MarshalJSON implements json.Marshaler.
func (f float64s) MarshalJSON() ([]byte, error) {
	texts := make([]string, len(f))
	for i, v := range f {
		texts[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return json.Marshal(texts)
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *float64s) UnmarshalJSON(data []byte) error {
	var texts []string
	if err := json.Unmarshal(data, &texts); err != nil {
		return err
	}
	*f = make(float64s, len(texts))
	for i, text := range texts {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return err
		}
		(*f)[i] = v
	}
	return nil
}

// journal has the points that are finished, one a line.
type journal struct {
	lock sync.Mutex
	done map[string][]float64s
	to   io.Writer // nil: nothing is kept
}

type journalLine struct {
	Key    string     `json:"key"`
	Values []float64s `json:"values"`
}

// openJournal opens the journal in a folder and reads the whole lines in it. A kill
// cuts off at most the last line.
func openJournal(folder string) (*journal, *os.File, error) {
	j := &journal{done: map[string][]float64s{}}
	if folder == "" {
		return j, nil, nil
	}
	f, err := resultdir.OpenJournal(filepath.Join(folder, resultdir.JournalName))
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(f)
	if err == nil {
		end := bytes.LastIndexByte(data, '\n') + 1
		for line := range bytes.Lines(data[:end]) {
			var l journalLine
			if err = json.Unmarshal(line, &l); err != nil {
				break
			}
			j.done[l.Key] = l.Values
		}
		err = errors.Join(err, f.Truncate(int64(end)))
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w: remove it, or choose another --out", f.Name(), err)
	}
	j.to = f
	return j, f, nil
}

func (j *journal) find(key string) ([]float64s, bool) {
	j.lock.Lock()
	defer j.lock.Unlock()
	v, ok := j.done[key]
	return v, ok
}

func (j *journal) add(l journalLine) error {
	j.lock.Lock()
	defer j.lock.Unlock()
	j.done[l.Key] = l.Values
	if j.to == nil {
		return nil
	}
	return json.NewEncoder(j.to).Encode(l)
}

// finite reports whether a number is one.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
