package results

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

func whole[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

func ns(d time.Duration) string { return whole(int64(d)) }

// instant returns an empty cell if the event never happened.
func instant(t time.Duration) string {
	if t < 0 {
		return ""
	}
	return ns(t)
}

// rowColumns are the columns of a table of rows: their fields by their names in JSON.
func rowColumns(row reflect.Type) (columns []string) {
	for _, f := range reflect.VisibleFields(row) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			columns = append(columns, name)
		}
	}
	return columns
}

// writeRows writes a table of rows. A field without a value leaves its cell empty.
func writeRows[T any](rows []T) func(io.Writer) error {
	columns := rowColumns(reflect.TypeFor[T]())
	return func(w io.Writer) error {
		return workload.WriteCSV(w, columns, func(write func(...string)) {
			for i := range rows {
				cells := make([]string, len(columns)) // of the first fields
				for k := range cells {
					if v := reflect.Indirect(reflect.ValueOf(rows[i]).Field(k)); v.IsValid() {
						cells[k] = fmt.Sprint(v.Interface())
					}
				}
				write(cells...)
			}
		})
	}
}
