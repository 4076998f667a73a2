package pgxtype

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// copyChunk sends the chunk's rows with one COPY for each table that has any.
func (l *loader[M]) copyChunk() error {
	for i := range l.cfg.Tables {
		if err := l.copyTable(i); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader[M]) copyTable(i int) (err error) {
	t := &l.cfg.Tables[i]
	src := newSource(l.ctx, t, l.chunk)
	l.watch(i, src)
	defer src.end()
	first := &ahead[M]{source: src}
	if !first.peek() {
		if src.err != nil {
			return l.sourceFailed(i, src)
		}
		return nil // no rows, no statement
	}
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	src.stop = cancel
	n, err := l.tx.CopyFrom(ctx, t.name, t.columns, first)
	if err == nil {
		l.count(i, n)
		l.rows[i] += int64(src.n)
		return nil
	}
	if src.err != nil {
		return l.sourceFailed(i, src)
	}
	return l.copyFailed(i, src, err)
}

// sourceFailed is for rows that ended early: nothing is wrong with PostgreSQL.
func (l *loader[M]) sourceFailed(i int, src *source[M]) error {
	if errors.Is(src.err, l.ctx.Err()) {
		return l.fail(i, -1, nil, "", src.err)
	}
	var other *otherRowError
	if errors.As(src.err, &other) {
		return l.fail(i, -1, nil, other.column, src.err)
	}
	return l.fail(i, src.n-1, src, "", src.err)
}

// copyFailed finds the row that made COPY fail.
func (l *loader[M]) copyFailed(i int, src *source[M], err error) error {
	var pg *pgconn.PgError
	isPg := errors.As(err, &pg)
	if !isPg || pg.Code == copyRefused {
		// pgx could not encode a value: it tells so to the server, and the server's
		// answer is all that comes back. The value is still there.
		if c, encodeErr := unencodable(l.tx.Conn().TypeMap(), l.columns[i], src.row); encodeErr != nil {
			return l.fail(i, src.n-1, src, l.cfg.Tables[i].columns[c], encodeErr)
		}
	}
	if !isPg {
		return l.fail(i, -1, nil, "", err)
	}
	if !ofRow(pg.Code) {
		return l.fail(i, -1, nil, "", err) // the row of its context is where it happened to be
	}
	name := l.cfg.Tables[i].name
	own := ownColumn(pg, name[len(name)-1])
	if line, columnName := copyLine(pg.Where, name[len(name)-1]); line > 0 && line <= src.n {
		if own != "" {
			columnName = own
		}
		return l.fail(i, line-1, src, columnName, err)
	}
	return l.fail(i, l.rowOfKey(i, pg), src, own, err)
}

// ofRow reports whether an error can be a row's fault. Those classes cannot that
// are about connections, transactions, privileges, resources, locks, operators
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

// ownColumn is the column that an error names, unless it comes from within a
// function: that of a trigger may have written to another table.
func ownColumn(pg *pgconn.PgError, relation string) string {
	if pg.Where == "" || strings.HasPrefix(pg.Where, "COPY "+relation+", ") {
		return pg.ColumnName
	}
	return ""
}

// copyRefused is query_canceled: what a server answers when the client breaks
// off a COPY, and when an administrator or a timeout does.
const copyRefused = "57014"

// unencodable returns the first value of a row that cannot be encoded.
func unencodable(m *pgtype.Map, columns []column, row []any) (int, error) {
	for i, v := range row {
		if i < len(columns) {
			if _, _, err := appendValue(m, columns[i].oid, v, nil); err != nil {
				return i, err
			}
		}
	}
	return 0, nil
}

// copyPlace is what follows "COPY table, " in a context line: "line 3" or "line
// 3, column c", in the language of the server.
var copyPlace = regexp.MustCompile(`^[^\d,]*(\d+)[^\d,]*(?:, \S+ (.*))?$`)

// copyLine takes the line, counted from 1, and the column from the context of an
// error; 0 is none. The context of functions that were called comes before it.
func copyLine(where, relation string) (line int, columnName string) {
	for text := range strings.SplitSeq(where, "\n") {
		place, ok := strings.CutPrefix(text, "COPY "+relation+", ")
		if !ok {
			continue
		}
		if m := copyPlace.FindStringSubmatch(place); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				line, columnName = n, m[2]
			}
		}
	}
	return line, columnName
}

// keyDetail begins the key in a detail such as: Key (order_id)=(7) is not present
// in table "orders". The parentheses are the same in every language.
var keyDetail = regexp.MustCompile(`\((.+?)\)=\(`)

// rowOfKey looks through the chunk for the row that has the key which an error
// names, or -1. It is for foreign keys, which are checked when COPY has ended. An
// error with a context comes from within a trigger's function, and its key may be
// another table's.
func (l *loader[M]) rowOfKey(i int, pg *pgconn.PgError) (row int) {
	m := keyDetail.FindStringSubmatchIndex(pg.Detail)
	if m == nil || pg.Where != "" {
		return -1
	}
	var places []int
	for name := range strings.SplitSeq(pg.Detail[m[2]:m[3]], ", ") {
		place := -1
		for c, columnName := range l.cfg.Tables[i].columns {
			if name == columnName || name == (pgx.Identifier{columnName}).Sanitize() {
				place = c
			}
		}
		if place < 0 {
			return -1
		}
		places = append(places, place)
	}
	src := newSource(context.WithoutCancel(l.ctx), &l.cfg.Tables[i], l.chunk)
	defer src.cursor.close()
	types := l.tx.Conn().TypeMap()
	row = -1
	var found []string
	for src.Next() {
		// Where the key ends cannot be seen, as a value may have parentheses and
		// commas: if keys that differ look like it, none is named.
		key, text := keyText(types, l.columns[i], src.row, places)
		switch {
		case key == nil || !strings.HasPrefix(pg.Detail[m[1]:], text+")"):
		case row < 0:
			row, found = src.n-1, key
		case !slices.Equal(found, key):
			return -1
		}
	}
	return row
}

// keyText writes some values of a row as PostgreSQL's messages do. The key tells
// NULL from a text.
func keyText(m *pgtype.Map, columns []column, row []any, places []int) (key []string, text string) {
	texts := make([]string, len(places))
	for i, place := range places {
		b, err := m.Encode(columns[place].oid, pgtype.TextFormatCode, row[place], nil)
		if err != nil {
			return nil, ""
		}
		if texts[i] = string(b); b == nil {
			texts[i] = "null"
			key = append(key, "")
		}
		key = append(key, texts[i])
	}
	return key, strings.Join(texts, ", ")
}

// ahead is a source whose first row has been asked for already.
type ahead[M any] struct {
	*source[M]
	waiting bool
}

func (a *ahead[M]) peek() bool { a.waiting = a.source.Next(); return a.waiting }

// Next goes to the next row.
func (a *ahead[M]) Next() bool {
	if a.waiting {
		a.waiting = false
		return true
	}
	return a.source.Next()
}
