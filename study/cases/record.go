// Package cases simulates the recorded cases of a real JobTracker or ResourceManager and
// says which attempts, jobs and containers are the same.
package cases

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// folderOf returns the folder with the record of a run of a case, beside its case.json.
func folderOf(file string, run int) string {
	return filepath.Join(filepath.Dir(file), "run"+strconv.Itoa(run))
}

// Recorded reports whether a run of a case is recorded.
func Recorded(file string, run int) bool {
	_, err := os.Stat(folderOf(file, run))
	return err == nil
}

// readRows reads a recorded table, packed or not, with its header.
func readRows(file string) ([][]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	rows, err := csv.NewReader(r).ReadAll()
	if err == nil && len(rows) == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return rows, nil
}
