package pgxtype

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// The savepoints of a chunk, and of a trial in it. Load rolls back to them to send rows
// again, when it searches for the row at fault.
const (
	savepoint      = "snowkey_load"
	trialSavepoint = "snowkey_trial"
)

// request is one statement of a pipeline.
type request struct {
	table  *encoder // nil: none
	sql    string
	values [][]byte
	oids   []uint32
	check  bool // it returns a row that collided under another primary key, which is an error
}

// insertTables sends the rows of some tables in one pipeline.
func (l *loader) insertTables(tables []*encoder) error {
	all := []request{{sql: "savepoint " + savepoint}}
	for _, t := range tables {
		if t.rows > 0 {
			all = append(all, t.insert(0, t.rows))
			if len(t.primary) > 0 {
				all = append(all, t.collisions())
			}
		}
	}
	if len(all) == 1 {
		return nil // no rows
	}
	counts := make([]int64, len(l.tables))
	failed, err := l.pipeline(append(all, request{sql: "release savepoint " + savepoint}), counts)
	switch {
	case err != nil && failed == nil:
		return fmt.Errorf("pgxtype: load: %w", err)
	case err != nil:
		return l.insertFailed(tables, failed, err)
	}
	for i, n := range counts {
		l.count(i, n)
	}
	return nil
}

// pipeline sends the statements. On an error it returns the table of the statement that
// failed, or that the server was executing when the context ended.
func (l *loader) pipeline(all []request, counts []int64) (failed *encoder, err error) {
	p := l.tx.Conn().PgConn().StartPipeline(l.ctx)
	for i := range all {
		r := &all[i]
		var formats []int16
		if len(r.values) > 0 {
			formats = []int16{1}
		}
		p.SendQueryParams(r.sql, r.values, r.oids, formats, nil)
		p.SendFlushRequest()
		r.values = nil // the connection has a copy
	}
	err = p.Sync()
	for i := 0; i < len(all) && err == nil; i++ {
		var n int64
		if n, err = l.result(p, &all[i]); err != nil {
			failed = all[i].table
		} else if counts != nil && all[i].table != nil {
			counts[all[i].table.table] += n
		}
	}
	if closeErr := p.Close(); err == nil {
		err = closeErr
	}
	return failed, err
}

// result reads the answer to one statement.
func (l *loader) result(p *pgconn.Pipeline, r *request) (rows int64, err error) {
	answer, err := p.GetResults()
	if err != nil {
		return 0, err
	}
	reader, ok := answer.(*pgconn.ResultReader)
	if !ok {
		return 0, errors.New("the server does not answer a statement")
	}
	var other *otherKeyError
	if r.check && reader.NextRow() {
		other = r.table.otherKey(reader.Values())
	}
	tag, err := reader.Close()
	switch {
	case err != nil:
		return 0, err
	case other != nil:
		return 0, other
	case r.check:
		return 0, nil
	}
	return tag.RowsAffected(), nil
}

// insert is the statement for some rows. Like COPY, it writes the given keys even into
// an identity column.
func (e *encoder) insert(from, to int) request {
	r := request{table: e}
	r.values, r.oids = e.arrays(from, to, e.all())
	r.sql = "insert into " + e.name.Sanitize() + " (" + quoted(e.columns) + ") overriding system value select * from unnest(" + marks(len(e.columns)) + ")" + e.conflict.sql()
	return r
}

// marks writes n parameters: $1, $2.
func marks(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("$%d", i+1)
	}
	return strings.Join(out, ", ")
}

// insertFailed finds the row that made an INSERT fail, by trial. All of the load
// is to be rolled back anyway.
func (l *loader) insertFailed(tables []*encoder, failed *encoder, err error) error {
	var other *otherKeyError
	if errors.As(err, &other) {
		return l.fail(failed.table, other.row, other.column, err)
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || !ofRow(pg.Code) {
		return l.fail(failed.table, -1, "", err) // no row caused it
	}
	row := l.trials(tables, failed, pg)
	if row < 0 {
		row = failed.rowOfKey(pg)
	}
	return l.fail(failed.table, row, ownColumn(pg, ""), err)
}

// trials inserts the rows of the tables before failed, and then searches failed for the
// row at fault. It returns -1 if it finds none.
func (l *loader) trials(tables []*encoder, failed *encoder, pg *pgconn.PgError) int {
	undo := func(savepoint string) bool {
		_, err := l.tx.Exec(l.ctx, "rollback to savepoint "+savepoint)
		return err == nil
	}
	if !undo(savepoint) {
		return -1
	}
	var before []request
	for _, t := range tables[:slices.Index(tables, failed)] {
		if t.rows > 0 {
			before = append(before, t.insert(0, t.rows))
		}
	}
	if _, err := l.pipeline(append(before, request{sql: "savepoint " + trialSavepoint}), nil); err != nil {
		return -1
	}
	return search(failed.rows, pg, func(from, to int) (fault *pgconn.PgError, ok bool) {
		if _, err := l.pipeline([]request{failed.insert(from, to)}, nil); err != nil && !errors.As(err, &fault) {
			return nil, false
		}
		return fault, undo(trialSavepoint)
	})
}
