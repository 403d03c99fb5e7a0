// Package spool keeps rows of vectors in a temporary file, so that a program that
// reads them one row at a time needs no more memory for more rows.
package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// inMemory is how many bytes of a spool have no file.
const inMemory = 1 << 20

const word = 8 // bytes

// File is a table of vectors of float64, which all have the same length. Each row has
// a block with its first columns, at an offset that follows from its number. A row
// with more columns goes on in a further block behind those of all rows. A vector
// that was never put is absent. A File is for one goroutine at a time.
type File struct {
	rows, columns, width int
	blocks               int // in use, with one for each row
	memory               []byte
	file                 *os.File // nil until a block lies beyond the memory
	named                bool     // the system cannot remove the name of an open file
}

// New returns an empty table. columns is the number of columns that most rows have.
func New(rows, columns, width int) *File {
	return &File{rows: rows, columns: columns, width: width, blocks: rows}
}

// A block starts with the number of the next one, or 0. Each vector follows a word that
// is 1 if the vector is there.
func (f *File) slotSize() int  { return word * (1 + f.width) }
func (f *File) blockSize() int { return word + f.columns*f.slotSize() }

// Put sets a vector. nil removes it.
func (f *File) Put(row, column int, vector []float64) error {
	if row < 0 || row >= f.rows || column < 0 || vector != nil && len(vector) != f.width {
		panic(fmt.Sprintf("spool: row %d of %d, column %d, %d values: want %d values", row, f.rows, column, len(vector), f.width))
	}
	block := row
	for ; column >= f.columns; column -= f.columns {
		var next [word]byte
		if err := f.read(next[:], block); err != nil {
			return err
		}
		if binary.LittleEndian.Uint64(next[:]) == 0 {
			if vector == nil {
				return nil
			}
			binary.LittleEndian.PutUint64(next[:], uint64(f.blocks))
			if err := f.write(next[:], block, 0); err != nil {
				return err
			}
			f.blocks++
		}
		block = int(binary.LittleEndian.Uint64(next[:]))
	}
	slot := make([]byte, f.slotSize())
	if vector != nil {
		binary.LittleEndian.PutUint64(slot, 1)
		for i, v := range vector {
			binary.LittleEndian.PutUint64(slot[word*(1+i):], math.Float64bits(v))
		}
	}
	return f.write(slot, block, word+column*len(slot))
}

// Row returns the vectors of a row up to the last one that is there. Absent ones
// before it are nil.
func (f *File) Row(row int) (vectors [][]float64, err error) {
	data, there := make([]byte, f.blockSize()), 0
	for block := row; ; {
		if err := f.read(data, block); err != nil {
			return nil, err
		}
		for slot := data[word:]; len(slot) > 0; slot = slot[f.slotSize():] {
			if binary.LittleEndian.Uint64(slot) == 0 {
				vectors = append(vectors, nil)
				continue
			}
			vector := make([]float64, f.width)
			for i := range vector {
				vector[i] = math.Float64frombits(binary.LittleEndian.Uint64(slot[word*(1+i):]))
			}
			vectors = append(vectors, vector)
			there = len(vectors)
		}
		if block = int(binary.LittleEndian.Uint64(data)); block == 0 {
			return vectors[:there], nil
		}
	}
}

// place returns where a block begins, and whether that is in the file.
func (f *File) place(block int) (at int64, inFile bool) {
	at = int64(block) * int64(f.blockSize())
	return at, at+int64(f.blockSize()) > inMemory
}

func (f *File) write(data []byte, block, offset int) (err error) {
	at, inFile := f.place(block)
	if !inFile {
		if more := int(at) + f.blockSize() - len(f.memory); more > 0 {
			f.memory = append(f.memory, make([]byte, more)...)
		}
		copy(f.memory[int(at)+offset:], data)
		return nil
	}
	if f.file == nil {
		if f.file, err = os.CreateTemp("", "slotwave-"); err != nil {
			return err
		}
		// An open file without a name is gone when the program ends in any way.
		f.named = os.Remove(f.file.Name()) != nil
	}
	_, err = f.file.WriteAt(data, at+int64(offset))
	return err
}

// read reads the beginning of a block. What was never written is 0.
func (f *File) read(data []byte, block int) error {
	clear(data)
	at, inFile := f.place(block)
	switch {
	case !inFile:
		copy(data, f.memory[min(int(at), len(f.memory)):])
	case f.file != nil:
		if _, err := f.file.ReadAt(data, at); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	return nil
}

// Close removes the table.
func (f *File) Close() (err error) {
	if f.file != nil {
		err = f.file.Close()
		if f.named {
			err = errors.Join(err, os.Remove(f.file.Name()))
		}
	}
	f.file, f.memory = nil, nil
	return err
}
