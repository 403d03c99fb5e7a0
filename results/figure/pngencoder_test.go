package figure

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
)

// TestEncodePNG reads images back with package image/png: lines that differ from the one
// above, lines that do not, and a first line of zeros.
func TestEncodePNG(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {7, 5}, {300, 40}} {
		img := image.NewRGBA(image.Rectangle{Max: size})
		for y := range size.Y {
			for x := range size.X {
				img.SetRGBA(x, y, color.RGBA{uint8(x * (y / 3)), uint8(y / 4), uint8(y / 5 * 50), 255})
			}
		}
		var b bytes.Buffer
		if err := encodePNG(&b, img); err != nil {
			t.Fatal(err)
		}
		got, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		if got.Bounds() != img.Bounds() {
			t.Fatalf("got %v: want %v", got.Bounds(), img.Bounds())
		}
		for y := range size.Y {
			for x := range size.X {
				if got, want := color.RGBAModel.Convert(got.At(x, y)), img.At(x, y); got != want {
					t.Fatalf("%v: pixel %d, %d: got %v: want %v", size, x, y, got, want)
				}
			}
		}
	}
}
