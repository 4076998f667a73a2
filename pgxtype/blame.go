package pgxtype

import (
	"encoding/binary"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// ofRow reports whether a row can cause an error with this code. The classes listed
// here are about connections, transactions, privileges, resources, locks, operators
// and the server itself: https://www.postgresql.org/docs/current/errcodes-appendix.html
func ofRow(code string) bool {
	if len(code) != 5 {
		return false
	}
	switch code[:2] {
	case "08", "25", "28", "2D", "3B", "3D", "40", "53", "55", "57", "58", "F0", "XX":
		return false
	}
	return true
}

// ownColumn is the column that an error names. It is empty if the error comes from
// within a function: a trigger's function may have written to another table.
func ownColumn(pg *pgconn.PgError, relation string) string {
	if pg.Where == "" || strings.HasPrefix(pg.Where, "COPY "+relation+", ") {
		return pg.ColumnName
	}
	return ""
}

// keyDetail finds the beginning of the key in a detail such as: Key (order_id)=(7) is not
// present in table "orders". The parentheses are the same in every language.
var keyDetail = regexp.MustCompile(`\((.+?)\)=\(`)

// rowOfKey returns the row with the key that an error names, or -1. If the key must be
// unique, it is the second row with it. It is for keys that PostgreSQL checks after all
// rows. It returns -1 for an error with a context: that comes from within a trigger's
// function, and its key may belong to another table.
func (e *encoder) rowOfKey(pg *pgconn.PgError) (row int) {
	m := keyDetail.FindStringSubmatchIndex(pg.Detail)
	if m == nil || pg.Where != "" {
		return -1
	}
	var places []int
	for name := range strings.SplitSeq(pg.Detail[m[2]:m[3]], ", ") {
		place := slices.IndexFunc(e.columns, func(c string) bool { return name == c || name == (pgx.Identifier{c}).Sanitize() })
		if place < 0 {
			return -1
		}
		places = append(places, place)
	}
	row = -1
	var found []string
	again, ambiguous := -1, false
	fields := make([][]byte, len(e.columns))
	e.each(0, e.rows, func(n, c int, b []byte) {
		fields[c] = b
		if c < len(e.columns)-1 || ambiguous {
			return
		}
		// The end of the key is not known, because a value may contain parentheses
		// and commas. If different keys match, no row is named.
		key, text := e.keyText(fields, places)
		switch {
		case key == nil || !strings.HasPrefix(pg.Detail[m[1]:], text+")"):
		case row < 0:
			row, found = n, key
		case !slices.Equal(found, key):
			ambiguous = true
		case again < 0:
			again = n
		}
	})
	switch {
	case ambiguous:
		return -1
	case pg.Code == "23505" && again >= 0:
		return again
	}
	return row
}

// keyText writes some fields of a row as PostgreSQL's messages do. The key tells
// NULL from a text.
func (e *encoder) keyText(fields [][]byte, places []int) (key []string, text string) {
	texts := make([]string, len(places))
	for i, place := range places {
		b := fields[place]
		if int32(binary.BigEndian.Uint32(b)) < 0 {
			texts[i] = "null"
			key = append(key, "", "null")
			continue
		}
		var ok bool
		if texts[i], ok = textOf(e.load.types, e.types[place].oid, b[4:]); !ok {
			return nil, ""
		}
		key = append(key, texts[i])
	}
	return key, strings.Join(texts, ", ")
}

// textOf turns a value's binary form into its text.
func textOf(m *pgtype.Map, oid uint32, b []byte) (string, bool) {
	t, known := m.TypeForOID(oid)
	if !known {
		return string(b), true // such as an enum
	}
	v, err := t.Codec.DecodeValue(m, oid, pgtype.BinaryFormatCode, b)
	if err != nil {
		return "", false
	}
	text, err := m.Encode(oid, pgtype.TextFormatCode, v, nil)
	return string(text), err == nil
}

// search finds the row that made an INSERT of all rows fail. It searches for the
// shortest beginning of the rows that fails in the same way, and returns the last row of
// it. try inserts a part of the rows, undoes that, and returns the error of the INSERT.
// ok is false if it could not do so.
//
// If an earlier row refers to a later one, a shorter part may fail in another way. Then
// search returns the row only if it also fails alone in the same way, and else -1.
func search(rows int, failed *pgconn.PgError, try func(from, to int) (*pgconn.PgError, bool)) int {
	if none, ok := try(0, 0); !ok || none != nil {
		return -1 // the statement itself fails
	}
	good, bad, sure := 0, rows, true
	for bad-good > 1 {
		middle := good + (bad-good)/2
		switch err, ok := try(0, middle); {
		case !ok:
			return -1
		case err != nil && sameFault(err, failed):
			bad = middle
		default:
			good, sure = middle, err == nil
		}
	}
	if !sure {
		if err, ok := try(bad-1, bad); !ok || err == nil || !sameFault(err, failed) {
			return -1
		}
	}
	return bad - 1
}

func sameFault(a, b *pgconn.PgError) bool {
	return a.Code == b.Code && a.Message == b.Message && a.Detail == b.Detail && a.TableName == b.TableName && a.ConstraintName == b.ConstraintName
}
