package pgxtype

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// column is what PostgreSQL knows of a column.
type column struct {
	oid   uint32 // its type; that beneath it if it is a domain
	array uint32 // the type of an array of oid; for Unnest only
}

// describe asks for the columns of all tables, in one round trip, so that a
// wrong name is found before the first row is read.
func (l *loader[M]) describe() error {
	conn := l.tx.Conn()
	p := conn.PgConn().StartPipeline(l.ctx)
	for i := range l.cfg.Tables {
		t := &l.cfg.Tables[i]
		p.SendPrepare("", "select "+quoted(t.columns)+" from "+t.name.Sanitize(), nil)
	}
	err := p.Sync()
	for i := 0; i < len(l.cfg.Tables) && err == nil; i++ {
		var result any
		if result, err = p.GetResults(); err != nil {
			err = l.fail(i, -1, nil, "", err)
			break
		}
		description, ok := result.(*pgconn.StatementDescription)
		if !ok || len(description.Fields) != len(l.cfg.Tables[i].columns) {
			err = l.fail(i, -1, nil, "", errors.New("the server does not describe its columns"))
			break
		}
		columns := make([]column, len(description.Fields))
		for c, field := range description.Fields {
			columns[c].oid = field.DataTypeOID
		}
		l.columns = append(l.columns, columns)
	}
	if closeErr := p.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("pgxtype: load: describe the tables: %w", closeErr)
	}
	if err == nil && l.cfg.Method == Unnest {
		err = l.findArrays(conn)
	}
	return err
}

// findArrays fills in column.array: from what the connection knows, and for
// types of the database's own from its catalog.
func (l *loader[M]) findArrays(conn *pgx.Conn) error {
	arrays := map[uint32]uint32{}
	var ask []string
	for _, columns := range l.columns {
		for _, c := range columns {
			if _, seen := arrays[c.oid]; !seen {
				arrays[c.oid] = knownArray(conn.TypeMap(), c.oid)
				if arrays[c.oid] == 0 {
					ask = append(ask, fmt.Sprint(c.oid))
				}
			}
		}
	}
	if len(ask) > 0 {
		rows, err := l.tx.Query(l.ctx, "select oid, typarray from pg_catalog.pg_type where typcategory <> 'A' and typtype <> 'c' and oid in ("+strings.Join(ask, ", ")+")")
		if err == nil {
			var oid, array uint32
			_, err = pgx.ForEachRow(rows, []any{&oid, &array}, func() error { arrays[oid] = array; return nil })
		}
		if err != nil {
			return fmt.Errorf("pgxtype: load: look up the columns' types: %w", err)
		}
	}
	for i, columns := range l.columns {
		for c := range columns {
			if columns[c].array = arrays[columns[c].oid]; columns[c].array == 0 {
				return l.fail(i, -1, nil, l.cfg.Tables[i].columns[c], errors.New("is an array, a composite, or of a type that has no arrays; use Copy"))
			}
		}
	}
	return nil
}

// knownArray returns the type of an array of oid as pgx knows it, or 0.
func knownArray(m *pgtype.Map, oid uint32) uint32 {
	t, ok := m.TypeForOID(oid)
	if !ok {
		return 0
	}
	if _, composite := t.Codec.(*pgtype.CompositeCodec); composite {
		return 0 // unnest would make columns of its fields
	}
	array, ok := m.TypeForName("_" + t.Name)
	if !ok {
		return 0
	}
	c, ok := array.Codec.(*pgtype.ArrayCodec)
	if !ok || c.ElementType == nil || c.ElementType.OID != oid {
		return 0
	}
	return array.OID
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = pgx.Identifier{name}.Sanitize()
	}
	return strings.Join(out, ", ")
}

// appendValue appends a value's length and its binary form, as COPY and arrays
// hold it. Like pgx's CopyFrom it goes by way of text where a type cannot be
// encoded directly, such as a string for a timestamp.
func appendValue(m *pgtype.Map, oid uint32, v any, buf []byte) (_ []byte, null bool, err error) {
	start := len(buf)
	buf = binary.BigEndian.AppendUint32(buf, math.MaxUint32) // -1, which stands for NULL
	encoded, err := m.Encode(oid, pgtype.BinaryFormatCode, v, buf)
	if err != nil {
		var byText bool
		if encoded, byText = encodeByText(m, oid, v, buf); !byText {
			return buf[:start], false, hint(m, oid, v, err)
		}
	}
	if encoded == nil {
		return buf, true, nil
	}
	binary.BigEndian.PutUint32(encoded[start:], uint32(len(encoded)-start-4))
	return encoded, false, nil
}

func encodeByText(m *pgtype.Map, oid uint32, v any, buf []byte) ([]byte, bool) {
	text, ok := v.(string)
	if !ok {
		b, err := m.Encode(oid, pgtype.TextFormatCode, v, nil)
		if err != nil {
			return nil, false
		}
		text = string(b)
	}
	var parsed any
	if err := m.Scan(oid, pgtype.TextFormatCode, []byte(text), &parsed); err != nil {
		return nil, false
	}
	encoded, err := m.Encode(oid, pgtype.BinaryFormatCode, parsed, buf)
	return encoded, err == nil
}
