package workload

import (
	"bytes"
	"encoding/gob"
)

// A question travels as a gob to a page that simulates it.

// packed returns a value as a gob.
func packed(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

// GobEncode implements gob.GobEncoder.
func (c Conf) GobEncode() ([]byte, error) { return packed(c.values) }

// GobDecode implements gob.GobDecoder.
func (c *Conf) GobDecode(data []byte) error {
	return gob.NewDecoder(bytes.NewReader(data)).Decode(&c.values)
}

// givenDist is a distribution as a scenario gives it.
type givenDist struct {
	Name   string
	Params DistParams
}

// GobEncode implements gob.GobEncoder.
func (d *Dist) GobEncode() ([]byte, error) { return packed(givenDist{d.Name, d.params}) }

// GobDecode implements gob.GobDecoder.
func (d *Dist) GobDecode(data []byte) error {
	var given givenDist
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&given); err != nil {
		return err
	}
	made, err := NewDist(given.Name, given.Params)
	if err == nil {
		*d = *made
	}
	return err
}
