package model

import (
	"fmt"
	"strings"
)

// Codec holds the CPU cost and the compression ratio of a codec.
type Codec struct {
	Name       string   // name in platforms and programs
	Classes    []string // Hadoop classes, without their packages
	Compress   float64  // ns of a core of Speed 1 per uncompressed byte
	Decompress float64  // ns of a core of Speed 1 per uncompressed byte
	Ratio      float64  // compressed/uncompressed, unless the program gives it
}

// Codecs are the codecs of Hadoop. Speeds and ratios are those of lzbench 1.8
// (Silesia corpus, one core of a Core i7-8700K, clang 9): zlib 1.2.11 at level 6
// for DefaultCodec and gzip, lzo1x 2.10 at level 1, lz4 1.9.2, snappy
// 2019-09-30, bzip2 1.0.8 at level 9. Assumed: native libraries throughout.
var Codecs = []Codec{
	{"none", nil, 0, 0, 1},
	{"default", []string{"DefaultCodec"}, perMB(35), perMB(407), 0.3219},
	{"gzip", []string{"GzipCodec"}, perMB(35), perMB(407), 0.3219},
	{"lzo", []string{"LzoCodec", "LzopCodec"}, perMB(680), perMB(868), 0.4745},
	{"lz4", []string{"Lz4Codec"}, perMB(737), perMB(4448), 0.4760},
	{"snappy", []string{"SnappyCodec"}, perMB(591), perMB(1868), 0.4819},
	{"bzip2", []string{"BZip2Codec"}, perMB(15), perMB(41), 0.2575},
}

// perMB converts MB/s to ns per byte.
func perMB(rate float64) float64 { return 1e3 / rate }

// CodecNames lists the codecs by name.
func CodecNames() []string {
	var names []string
	for _, c := range Codecs {
		names = append(names, c.Name)
	}
	return names
}

// FindCodec finds a codec by its class or its name.
func FindCodec(class string) (Codec, error) {
	short := class[strings.LastIndexByte(class, '.')+1:]
	for _, c := range Codecs {
		if c.Name == class {
			return c, nil
		}
		for _, name := range c.Classes {
			if name == short {
				return c, nil
			}
		}
	}
	return Codec{}, fmt.Errorf("unknown codec %q: want the class of one of %s", class, strings.Join(CodecNames(), ", "))
}
