package workload

import (
	"fmt"
	"strconv"
	"strings"
)

// Schema is what the first field of a file that slotwave wrote states, as
// "slotwave/summary/1": the kind of the file and the version of its layout. A
// version rises when what an earlier program would read there is no longer true.
type Schema struct {
	Kind    string
	Oldest  int // that this program reads
	Version int // that this program writes, the newest that it reads
}

func (s Schema) String() string { return s.of(s.Version) }

func (s Schema) of(version int) string { return fmt.Sprintf("slotwave/%s/%d", s.Kind, version) }

// SummarySchema is that of the summary of a run.
var SummarySchema = Schema{"summary", 1, 1}

// ManifestSchema is that of the list of the files of a result.
var ManifestSchema = Schema{"manifest", 1, 1}

// Reads reports whether a file with the stated schema is of this kind. The error
// refuses a version that this program does not read; by names the program that
// wrote the file, if the file says so.
func (s Schema) Reads(stated, by string) (bool, error) {
	text, is := strings.CutPrefix(stated, "slotwave/"+s.Kind+"/")
	version, err := strconv.Atoi(text)
	if !is || err != nil {
		return false, nil
	}
	if by != "" {
		by = " " + by
	}
	switch {
	case version > s.Version:
		return true, fmt.Errorf("schema: got %q: want at most %q: use the slotwave%s that wrote the file, or a newer one", stated, s, by)
	case version < s.Oldest:
		return true, fmt.Errorf("schema: got %q: want at least %q: use the slotwave%s that wrote the file, or write it anew", stated, s.of(s.Oldest), by)
	}
	return true, nil
}
