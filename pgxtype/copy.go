package pgxtype

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// copyTable sends a table's rows with one COPY, if there are any.
func (l *loader) copyTable(t *encoder) (err error) {
	if t.rows == 0 {
		return nil
	}
	ctx, conn := l.ctx, l.tx.Conn()
	var tag pgconn.CommandTag
	if tracer, ok := conn.Config().Tracer.(pgx.CopyFromTracer); ok {
		ctx = tracer.TraceCopyFromStart(ctx, conn, pgx.TraceCopyFromStartData{TableName: t.name, ColumnNames: t.columns})
		defer func() { tracer.TraceCopyFromEnd(ctx, conn, pgx.TraceCopyFromEndData{CommandTag: tag, Err: err}) }()
	}
	t.buf = append(t.buf, 0xff, 0xff) // the end
	tag, err = conn.PgConn().CopyFrom(ctx, bytes.NewReader(t.buf), "copy "+t.name.Sanitize()+" ("+quoted(t.columns)+") from stdin binary")
	if err != nil {
		return l.copyFailed(t, err)
	}
	l.count(t.table, tag.RowsAffected())
	return nil
}

// copyFailed finds the row that made COPY fail.
func (l *loader) copyFailed(t *encoder, err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || !ofRow(pg.Code) {
		return l.fail(t.table, -1, "", err) // the row in its context did not cause it
	}
	relation := t.name[len(t.name)-1]
	own := ownColumn(pg, relation)
	if line, columnName := copyLine(pg.Where, relation); line > 0 && line <= t.rows {
		if own != "" {
			columnName = own
		}
		return l.fail(t.table, line-1, columnName, err)
	}
	return l.fail(t.table, t.rowOfKey(pg), own, err)
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
