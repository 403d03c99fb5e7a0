package results

import (
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// pointsParquet is points.csv in another format.
const pointsParquet = "points.parquet"

// parquetColumn is a column with the cell of each simulation; nil if it is empty.
type parquetColumn struct {
	name string
	kind reflect.Type
	cell func(point, replication int) any
}

// parquetColumns are the columns of points.csv. A factor is a number if all its
// values are.
func (p *Points) parquetColumns() []parquetColumn {
	whole, text, number := reflect.TypeFor[int64](), reflect.TypeFor[string](), reflect.TypeFor[*float64]()
	columns := []parquetColumn{
		{"point", whole, func(i, _ int) any { return int64(i + 1) }},
		{"scenario", text, func(i, _ int) any { return Escape(p.List[i].Scenario) }},
	}
	for f, name := range p.Factors {
		numbers := true
		for i := range p.List {
			_, err := strconv.ParseFloat(p.List[i].Levels[f], 64)
			numbers = numbers && err == nil
		}
		if numbers {
			columns = append(columns, parquetColumn{Escape(name), number, func(i, _ int) any {
				v, _ := strconv.ParseFloat(p.List[i].Levels[f], 64)
				return &v
			}})
			continue
		}
		columns = append(columns, parquetColumn{Escape(name), text, func(i, _ int) any { return Escape(p.List[i].Levels[f]) }})
	}
	columns = append(columns,
		parquetColumn{"replication", whole, func(_, r int) any { return int64(r + 1) }},
		parquetColumn{"seed", reflect.TypeFor[uint64](), func(i, r int) any { return p.List[i].Replications[r].Seed }},
	)
	figure := func(name string, of func(*Replication) float64) parquetColumn {
		return parquetColumn{name, number, func(i, r int) any {
			v := of(&p.List[i].Replications[r])
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
		columns = append(columns, figure(Escape(name), func(r *Replication) float64 { return r.Values[m] }))
	}
	for g := range p.Goals {
		columns = append(columns, figure(goalColumn(&p.Goals[g], g, ""), func(r *Replication) float64 { return r.Goals[g] }))
	}
	return columns
}

// writeParquet writes one row per point and replication, compressed with zstd.
func (p *Points) writeParquet(w io.Writer) error {
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
	out := parquet.NewWriter(w, parquet.SchemaOf(row.Interface()), parquet.Compression(&parquet.Zstd), parquet.CreatedBy("slotwave", "", ""))
	for i := range p.List {
		for r := range p.List[i].Replications {
			row.Elem().SetZero()
			for k, c := range columns {
				if v := c.cell(i, r); v != nil {
					row.Elem().Field(k).Set(reflect.ValueOf(v))
				}
			}
			if err := out.Write(row.Interface()); err != nil {
				return err
			}
		}
	}
	return out.Close()
}
