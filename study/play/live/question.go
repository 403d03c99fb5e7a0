package live

import (
	"bytes"
	"compress/gzip"
	"encoding/gob"
	"errors"
	"reflect"
	"slices"

	"github.com/slotwave/slotwave/model"
)

// Pack returns a question as Asked.Question takes it. It fails if the question would not
// come back as it is: gob drops pointers to 0, and knows no fitted model of a platform.
func Pack(q model.WhatIf) ([]byte, error) {
	q.Programs = slices.Clone(q.Programs)
	for i := range q.Programs {
		q.Programs[i].Assumed = nil // may be empty, which comes back as nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(gob.NewEncoder(z).Encode(&q), z.Close()); err != nil {
		return nil, err
	}
	back, err := unpack(b.Bytes())
	if err == nil && !reflect.DeepEqual(&q, back) {
		err = errors.New("a page cannot hold the question")
	}
	return b.Bytes(), err
}

func unpack(data []byte) (*model.WhatIf, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	q := new(model.WhatIf)
	return q, gob.NewDecoder(z).Decode(q)
}
