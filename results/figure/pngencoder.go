package figure

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"io"
)

// encodePNG writes an opaque image as PNG. Package image/png tries five filters on each
// line, which takes longer than to draw a picture. Here only a line that is equal to the
// line above is stored as the difference from it.
func encodePNG(w io.Writer, img *image.RGBA) error {
	var packed bytes.Buffer
	z, err := zlib.NewWriterLevel(&packed, zlib.BestSpeed)
	if err != nil {
		return err
	}
	size := img.Rect.Size()
	const unfiltered, filterUp = 0, 2
	changed, same := make([]byte, 1+3*size.X), make([]byte, 1+3*size.X)
	changed[0], same[0] = unfiltered, filterUp
	var above []byte
	for y := range size.Y {
		line := img.Pix[y*img.Stride:][:4*size.X]
		stored := same
		if !bytes.Equal(line, above) {
			stored = changed
			withoutAlpha(stored[1:], line)
		}
		if _, err := z.Write(stored); err != nil {
			return err
		}
		above = line
	}
	if err := z.Close(); err != nil {
		return err
	}
	const bits, trueColour = 8, 2
	header := binary.BigEndian.AppendUint32(nil, uint32(size.X))
	header = binary.BigEndian.AppendUint32(header, uint32(size.Y))
	file := []byte("\x89PNG\r\n\x1a\n")
	file = appendChunk(file, "IHDR", append(header, bits, trueColour, 0, 0, 0))
	file = appendChunk(file, "IDAT", packed.Bytes())
	_, err = w.Write(appendChunk(file, "IEND", nil))
	return err
}

// withoutAlpha copies the red, green and blue of each pixel.
func withoutAlpha(to, line []byte) {
	for len(line) >= 4 && len(to) >= 3 {
		to[0], to[1], to[2] = line[0], line[1], line[2]
		to, line = to[3:], line[4:]
	}
}

func appendChunk(file []byte, name string, content []byte) []byte {
	file = binary.BigEndian.AppendUint32(file, uint32(len(content)))
	start := len(file)
	file = append(append(file, name...), content...)
	return binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(file[start:]))
}
