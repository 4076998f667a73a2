package graph

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

const (
	// maxBytes limits the length of the values of one INSERT. MySQL and MariaDB refuse a packet
	// longer than max_allowed_packet, which is 4 MiB or more by default. The values take up to
	// half of it, because a client that writes them into the statement may double their length.
	maxBytes    = 2 << 20
	scalarBytes = 20   // of a number or a time, written as text
	unsureRows  = 1000 // of an INSERT whose length cannot be measured
	spare       = 64   // parameters for the clauses of an upsert
)

// limits returns how many parameters a statement may have, and how many are fast. With more,
// MariaDB is slower at every latency, and each prepared statement takes megabytes in PostgreSQL.
// SQLite has no round trips to save, and its driver in pure Go binds parameters in time that grows
// with the square of their number. SQL Server takes 1,000 rows.
func limits(dialect string) (parameters, fast, rows int) {
	switch dialect {
	case "postgres", "mysql":
		return 65535, 16384, math.MaxInt
	case "sqlite":
		return 32766, 500, math.MaxInt
	case "sqlserver":
		return 2100, 2100, 1000
	}
	return 32766, 32766, 1000
}

// chunks divides rows into one list for each INSERT.
func (w *writer) chunks(gr *group, list []*node) (chunks [][]*node) {
	columns := max(1, len(gr.model.schema.DBNames))
	parameters, fast, most := limits(w.db.Name())
	limit := max(1, (parameters-spare)/columns)
	if gr.model.sizes.unsure || gr.model.before { // a hook may change the values
		most = min(most, unsureRows)
	}
	rows := cmp.Or(w.cfg.BatchSize, max(0, w.db.CreateBatchSize), min(most, max(1, fast/columns)))
	rows = min(rows, limit)
	from, total := 0, 0
	for i, n := range list {
		size := gr.model.sizes.of(n.row)
		if i > from && (i-from == rows || total+size > maxBytes) {
			chunks = append(chunks, list[from:i:i])
			from, total = i, 0
		}
		total += size
	}
	if from < len(list) {
		chunks = append(chunks, list[from:])
	}
	return chunks
}

// sizes estimates the length of a row's values.
type sizes struct {
	columns  int
	measured []*schema.Field // texts
	unsure   bool            // the length of other values is not known
}

func sizesOf(s *schema.Schema) sizes {
	sz := sizes{columns: len(s.DBNames)}
	for _, name := range s.DBNames {
		f := s.FieldsByDBName[name]
		t := f.IndirectFieldType
		known := slices.Contains([]schema.DataType{schema.Bool, schema.Int, schema.Uint, schema.Float, schema.Time, "bigint"}, f.DataType)
		switch {
		case f.Serializer != nil:
			sz.unsure = true
		case t.Kind() == reflect.String || t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
			sz.measured = append(sz.measured, f)
		case t.Kind() > reflect.Float64 && !known:
			sz.unsure = true
		}
	}
	return sz
}

func (sz *sizes) of(row reflect.Value) int {
	total := scalarBytes * sz.columns
	for _, f := range sz.measured {
		if v := rows.Indirect(rows.Field(row, f.StructField.Index)); v.IsValid() {
			total += v.Len()
		}
	}
	return total
}

// explain adds the length of an INSERT to the error that MySQL and MariaDB give if it is too long.
func (w *writer) explain(err error, m *model, list []*node) error {
	total := 0
	for _, n := range list {
		total += m.sizes.of(n.row)
	}
	text := err.Error()
	if w.db.Name() != "mysql" || total < 1<<20 || !strings.Contains(text, "packet") && !strings.Contains(text, "invalid connection") {
		return err
	}
	return fmt.Errorf("%w (the INSERT of %d rows has about %d bytes: compare max_allowed_packet)", err, len(list), total)
}
