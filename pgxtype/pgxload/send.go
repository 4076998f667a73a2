package pgxload

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// chunk is a part of the load that is being sent.
type chunk struct {
	w      *Writer
	tables []*Table
	number int // from 0
}

// Load rolls back to a chunk's savepoint to search for the row at fault. Only the first chunks have a
// savepoint, and each releases the previous one: PostgreSQL is slower with more than 64
// subtransactions, and with nested ones.
const (
	savepoint     = "savepoint snowkey_load"
	maxSavepoints = 60
)

// send sends the rows, table by table.
func (c *chunk) send() error {
	if c.w.tx.Conn().PgConn().TxStatus() == 'I' { // otherwise the rows would stay
		return fmt.Errorf("pgxload: %w", errEnded)
	}
	if c.number < maxSavepoints {
		sql := savepoint
		if c.number > 0 {
			sql = "release " + savepoint + "; " + savepoint
		}
		if _, err := c.w.tx.Exec(c.w.ctx, sql); err != nil {
			return fmt.Errorf("pgxload: %w", err)
		}
	}
	for _, t := range c.tables {
		before, n := t.loaded, t.out.count()
		if n == 0 {
			continue
		}
		err := t.send(0, n)
		dropped := t.loaded-before < int64(n) // by a trigger, or skipped
		if err == nil && t.primary != nil && (t.conflict != nil || dropped) {
			err = t.collisions()
		}
		if t != c.tables[len(c.tables)-1] {
			err = cmp.Or(err, t.missing)
		}
		if err != nil {
			return c.errorOf(t, err)
		}
	}
	return nil
}

// send sends and counts some rows. Like COPY, the INSERT writes given keys even into an identity column.
func (t *Table) send(from, to int) (err error) {
	var tag pgconn.CommandTag
	into := t.ident.Sanitize() + " (" + quoteAll(t.columns) + ")"
	if t.copies() {
		data := t.out.buf // the rows themselves do not change
		if from > 0 || to < t.out.count() {
			data = append([]byte(copyHead), t.out.part(from, to)...)
		}
		tag, err = t.w.tx.Conn().PgConn().CopyFrom(t.w.ctx, bytes.NewReader(append(data, copyEnd...)), "copy "+into+" from stdin binary")
	} else {
		tag, err = t.query("insert into "+into+" overriding system value select * from ", t.conflict.sql(), from, to, t.columns).Close()
	}
	t.loaded += tag.RowsAffected()
	return err
}

// query executes a statement that consists of before, some columns of some rows as unnest(…), and after.
func (t *Table) query(before, after string, from, to int, columns []string) *pgconn.ResultReader {
	n := 0
	marks := list(columns, ", ", func(string) string { n++; return fmt.Sprintf("$%d", n) })
	values, oids := t.arrays(from, to, columns)
	sql := before + "unnest(" + marks + ")" + after
	return t.w.tx.Conn().PgConn().ExecParams(t.w.ctx, sql, values, oids, []int16{pgtype.BinaryFormatCode}, nil)
}

// arrays returns some columns of some rows, each column as an array in the binary format of array_recv.
func (t *Table) arrays(from, to int, columns []string) (values [][]byte, oids []uint32) {
	const head = 20
	part, arrays, nulls := t.out.part(from, to), make([][]byte, len(t.columns)), make([]byte, len(t.columns))
	for _, name := range columns {
		arrays[slices.Index(t.columns, name)] = make([]byte, head, head+len(part)/len(columns))
	}
	for len(part) > 0 {
		part = part[2:]
		for c := range arrays {
			size := 4 + max(0, int(int32(binary.BigEndian.Uint32(part))))
			if arrays[c] != nil {
				arrays[c] = append(arrays[c], part[:size]...)
				nulls[c] |= part[0] >> 7 // a length of -1
			}
			part = part[size:]
		}
	}
	for _, name := range columns {
		c := slices.Index(t.columns, name)
		// Dimensions (none if empty), whether there are NULLs, the elements' type, number and first index.
		a, fields := arrays[c], []uint32{1, uint32(nulls[c]), t.types[c].OID, uint32(to - from), 1}
		if from == to {
			a, fields = a[:12], []uint32{0, 0, t.types[c].OID}
		}
		for i, f := range fields {
			binary.BigEndian.PutUint32(a[4*i:], f)
		}
		values, oids = append(values, a), append(oids, t.types[c].Array)
	}
	return values, oids
}
