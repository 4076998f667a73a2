package pgxtype

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// column is the type of a column.
type column struct {
	oid    uint32 // its type; that beneath it if it is a domain
	codec  uint32 // the type whose codec encodes its values: text if its binary form is that of text
	array  uint32 // the type of an array of oid; for Unnest only
	family family // of its codec
}

// describe requests the columns of all tables in one round trip, so that a wrong name is found
// before the first row is read.
func (l *loader) describe() error {
	conn := l.tx.Conn()
	p := conn.PgConn().StartPipeline(l.ctx)
	for _, t := range l.tables {
		p.SendPrepare("", "select "+quoted(t.columns)+" from "+t.name.Sanitize(), nil)
		p.SendFlushRequest() // so that a missing answer belongs to the table that is locked
	}
	err := p.Sync()
	for i := 0; i < len(l.tables) && err == nil; i++ {
		var result any
		if result, err = p.GetResults(); err != nil {
			err = l.fail(i, -1, "", err)
			break
		}
		description, ok := result.(*pgconn.StatementDescription)
		if !ok || len(description.Fields) != len(l.tables[i].columns) {
			err = l.fail(i, -1, "", errors.New("the server does not describe its columns"))
			break
		}
		columns := make([]column, len(description.Fields))
		for c, field := range description.Fields {
			columns[c].oid, columns[c].codec = field.DataTypeOID, field.DataTypeOID
		}
		l.tables[i].types = columns
	}
	if closeErr := p.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("pgxtype: load: describe the tables: %w", closeErr)
	}
	if err == nil {
		err = l.findCodecs()
	}
	if err == nil {
		err = l.findArrays(conn)
	}
	if err == nil {
		err = l.findPrimaryKeys()
	}
	return err
}

// findCodecs refuses columns of types for which pgx has no codec: it would send a value in the binary
// form of its Go type, and the server might read another. Types such as enums and citext, which
// the server reads as text, get the codec of text.
func (l *loader) findCodecs() error {
	var ask []string
	for _, t := range l.tables {
		for _, c := range t.types {
			if _, known := l.types.TypeForOID(c.oid); !known {
				ask = append(ask, fmt.Sprint(c.oid))
			}
		}
	}
	asText, names := map[uint32]bool{}, map[uint32]string{}
	if len(ask) > 0 {
		rows, err := l.tx.Query(l.ctx, `select t.oid, pg_catalog.format_type(t.oid, null), p.prosrc in ('textrecv', 'varcharrecv', 'bpcharrecv', 'enum_recv')
			from pg_catalog.pg_type t left join pg_catalog.pg_proc p on p.oid = t.typreceive where t.oid in (`+strings.Join(ask, ", ")+")", pgx.QueryExecModeExec)
		if err == nil {
			var oid uint32
			var name string
			var text *bool
			_, err = pgx.ForEachRow(rows, []any{&oid, &name, &text}, func() error {
				names[oid], asText[oid] = name, text != nil && *text
				return nil
			})
		}
		if err != nil {
			return fmt.Errorf("pgxtype: load: look up the columns' types: %w", err)
		}
	}
	for i, t := range l.tables {
		for k := range t.types {
			c := &t.types[k]
			_, known := l.types.TypeForOID(c.oid)
			if asText[c.oid] {
				c.codec = pgtype.TextOID
			} else if !known {
				return l.fail(i, -1, t.columns[k], fmt.Errorf("pgx has no codec for its type %s: register the type with LoadType and RegisterType of each connection, or make the column text", cmp.Or(names[c.oid], fmt.Sprint(c.oid))))
			}
			c.family = familyOf(l.types, c.codec)
		}
	}
	return nil
}

// findArrays fills in column.array from the connection's types, and for other types from the
// catalog. Tables sent by COPY need none.
func (l *loader) findArrays(conn *pgx.Conn) error {
	arrays := map[uint32]uint32{}
	var ask []string
	for _, t := range l.tables {
		if t.copies() {
			continue
		}
		for _, c := range t.types {
			if _, seen := arrays[c.oid]; !seen {
				arrays[c.oid] = knownArray(conn.TypeMap(), c.oid)
				if arrays[c.oid] == 0 {
					ask = append(ask, fmt.Sprint(c.oid))
				}
			}
		}
	}
	if len(ask) > 0 {
		rows, err := l.tx.Query(l.ctx, "select oid, typarray from pg_catalog.pg_type where typcategory <> 'A' and typtype <> 'c' and oid in ("+strings.Join(ask, ", ")+")", pgx.QueryExecModeExec) // unnamed, as a pooler needs it
		if err == nil {
			var oid, array uint32
			_, err = pgx.ForEachRow(rows, []any{&oid, &array}, func() error { arrays[oid] = array; return nil })
		}
		if err != nil {
			return fmt.Errorf("pgxtype: load: look up the columns' types: %w", err)
		}
	}
	for i, t := range l.tables {
		for c := range t.types {
			if t.types[c].array = arrays[t.types[c].oid]; t.types[c].array == 0 && !t.copies() {
				return l.fail(i, -1, t.columns[c], errNoArray)
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

// appendValue appends a value's length and its binary form, as in COPY and in arrays. Like pgx's
// CopyFrom it encodes a value by way of text if it cannot do so directly, such as a string for
// a timestamp.
func (c column) appendValue(m *pgtype.Map, v any, buf []byte) ([]byte, error) {
	start := len(buf)
	buf = binary.BigEndian.AppendUint32(buf, math.MaxUint32) // -1: NULL
	encoded, err := c.encode(m, v, buf)
	if err != nil {
		var byText bool
		if encoded, byText = encodeByText(m, c.codec, v, buf); !byText {
			return nil, hint(m, c.codec, v, err)
		}
	}
	if encoded == nil {
		return buf, nil
	}
	binary.BigEndian.PutUint32(encoded[start:], uint32(len(encoded)-start-4))
	return encoded, nil
}

func (c column) encode(m *pgtype.Map, v any, buf []byte) ([]byte, error) {
	if p, ok := c.family.direct(v); ok {
		if encoded, err := m.Encode(c.codec, pgtype.BinaryFormatCode, p, buf); err == nil {
			return encoded, nil // otherwise the error is that of the caller's type
		}
	}
	return m.Encode(c.codec, pgtype.BinaryFormatCode, v, buf)
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
