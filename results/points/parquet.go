package points

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/slotwave/slotwave/results/text"
)

// ParquetName is points.csv in another format.
const ParquetName = "points.parquet"

// parquetColumn is a column with the cell of each simulation; nil if it is empty.
type parquetColumn struct {
	name string
	kind reflect.Type
	cell func(parquetRow) any
}

// parquetRow is one simulation of a point.
type parquetRow struct {
	Point
	*Replication
	point, replication int
}

// rowsInGroup is how many rows a group of the file has. The writer keeps one group in
// memory.
const rowsInGroup = 1 << 14

// parquetColumns are the columns of points.csv. A factor is a number if all its
// values are.
func (p *Points) parquetColumns() []parquetColumn {
	whole, stringType, number := reflect.TypeFor[int64](), reflect.TypeFor[string](), reflect.TypeFor[*float64]()
	columns := []parquetColumn{
		{"point", whole, func(at parquetRow) any { return int64(at.point + 1) }},
		{"scenario", stringType, func(at parquetRow) any { return text.Escape(at.Scenario) }},
	}
	for f, factor := range p.Factors {
		name := text.Escape(factor.Key)
		if factor.numbers() {
			columns = append(columns, parquetColumn{name, number, func(at parquetRow) any {
				v := factor.number(at.Levels[f])
				return &v
			}})
			continue
		}
		columns = append(columns, parquetColumn{name, stringType, func(at parquetRow) any { return text.Escape(factor.Value(at.Levels[f])) }})
	}
	columns = append(columns,
		parquetColumn{"replication", whole, func(at parquetRow) any { return int64(at.replication + 1) }},
		parquetColumn{"seed", reflect.TypeFor[uint64](), func(at parquetRow) any { return at.Seed }},
	)
	figure := func(name string, of func(*Replication) float64) parquetColumn {
		return parquetColumn{name, number, func(at parquetRow) any {
			v := of(at.Replication)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil
			}
			if isTime(name) {
				v = math.Round(v)
			}
			return &v
		}}
	}
	for m, name := range p.Metrics.Names() {
		columns = append(columns, figure(text.Escape(name), func(r *Replication) float64 { return r.Values[m] }))
	}
	for g := range p.Goals {
		columns = append(columns, figure(GoalColumn(&p.Goals[g], g, ""), func(r *Replication) float64 { return r.Goals[g] }))
	}
	return columns
}

// WriteParquet writes one row per point and replication, compressed with zstd.
func (p *Points) WriteParquet(w io.Writer) error {
	columns := p.parquetColumns()
	var fields []reflect.StructField
	for i, c := range columns {
		name := strings.NewReplacer(",", ";", "`", "'").Replace(c.name) // what a tag cannot hold
		tag := name
		if c.kind.Kind() == reflect.Pointer {
			tag += ",optional"
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("C%d", i), Type: c.kind, Tag: reflect.StructTag("parquet:" + strconv.Quote(tag))})
	}
	row := reflect.New(reflect.StructOf(fields))
	out := parquet.NewWriter(w, parquet.SchemaOf(row.Interface()), parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowsInGroup), parquet.CreatedBy("slotwave", "", ""))
	for i := range p.List.Len() {
		point, runs := p.List.Point(i), p.runs(i)
		for r := range runs {
			row.Elem().SetZero()
			for k, c := range columns {
				if v := c.cell(parquetRow{point, &runs[r], i, r}); v != nil {
					row.Elem().Field(k).Set(reflect.ValueOf(v))
				}
			}
			if err := out.Write(row.Interface()); err != nil {
				return err
			}
		}
	}
	return cmp.Or(p.err, out.Close())
}
