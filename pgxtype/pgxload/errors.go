package pgxload

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// LoadError says which row made [Load] fail. Nothing of the load is in the database.
type LoadError struct {
	Table  string // as in Writer.Table; at COMMIT, as PostgreSQL names it
	Row    int64  // index among the table's rows of this load, from 0; -1 if not known
	Column string // empty if not known
	Err    error  // such as a *pgconn.PgError or an error of sqltype
}

// Error names the table, the row and the column, and adds PostgreSQL's detail, which often quotes the key.
func (e *LoadError) Error() string {
	text := "pgxload: " + e.Table
	if e.Row >= 0 {
		text += fmt.Sprintf(": row %d", e.Row)
	}
	if e.Column != "" {
		text += fmt.Sprintf(": column %q", e.Column)
	}
	text += fmt.Sprintf(": %v", e.Err)
	var pg *pgconn.PgError
	if errors.As(e.Err, &pg) && pg.Detail != "" {
		text += ": " + pg.Detail
	}
	return text
}

// Unwrap returns Err.
func (e *LoadError) Unwrap() error { return e.Err }

// errorOf turns an error of a statement of t into a LoadError, and finds the row at fault.
func (c *chunk) errorOf(t *Table, err error) error {
	// Classes of errors that are not caused by a row: https://www.postgresql.org/docs/current/errcodes-appendix.html
	const others = "08 25 28 2D 3B 3D 40 53 55 57 58 F0 XX"
	var known *LoadError
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &known):
		return err
	case !errors.As(err, &pg) || len(pg.Code) != 5 || strings.Contains(others, pg.Code[:2]):
		return t.errorAt(-1, "", err)
	}
	line, column := copyLine(pg.Where, t.ident[len(t.ident)-1])
	if pg.Where == "" || strings.HasPrefix(pg.Where, "COPY ") { // not from a trigger's function, which may write to another table
		column = cmp.Or(pg.ColumnName, column)
	}
	if line < 1 || line > t.out.count() {
		line = c.search(t, pg)
	}
	if line < 1 {
		return t.errorAt(-1, column, err)
	}
	return t.errorAt(t.out.first+int64(line-1), column, err)
}

// errorAt returns a LoadError; row is -1 if it is not known.
func (t *Table) errorAt(row int64, column string, err error) error {
	return &LoadError{Table: t.name, Row: row, Column: column, Err: err}
}

// copyPlace is what follows the table in a line such as "COPY orders, line 3, column id", in the language
// of the server.
var copyPlace = regexp.MustCompile(`^[^\d,]*(\d{1,9})[^\d,]*(?:, \S+ (.*))?$`)

// copyLine returns the number of the row, from 1, and the column in an error's context; 0 means none. The
// last line that names the table belongs to its COPY: lines of functions that it called come before.
func copyLine(where, relation string) (line int, column string) {
	for text := range strings.SplitSeq(where, "\n") {
		place, ok := strings.CutPrefix(text, "COPY "+relation+", ")
		if m := copyPlace.FindStringSubmatch(place); ok && m != nil {
			line, _ = strconv.Atoi(m[1])
			column = m[2]
		}
	}
	return line, column
}

// search returns the number of the row, from 1, that made a statement fail, or 0 if it is not found. It
// sends parts of the rows again: if the first n rows fail with the same error, and fewer rows do not, it
// is row n. If fewer rows fail with another error, because a row refers to a later one, row n must also
// fail alone.
func (c *chunk) search(t *Table, failed *pgconn.PgError) int {
	const trial = "savepoint snowkey_trial"
	ok := c.number < maxSavepoints
	run := func(sql string) {
		if ok {
			_, err := c.w.tx.Exec(c.w.ctx, sql)
			ok = err == nil
		}
	}
	// For these errors, the detail quotes the whole row, with defaults such as nextval that differ in each
	// trial. It is not compared: INSERT checks row by row. With a trigger, another row could fail in a trial.
	wholeRow := failed.Where == "" && (failed.Code == "23502" || failed.Code == "23514")
	run("rollback to " + savepoint)
	for _, before := range c.tables[:slices.Index(c.tables, t)] {
		ok = ok && (before.out.count() == 0 || before.send(0, before.out.count()) == nil)
	}
	run(trial)
	fails := func(from, to int) (same, other bool) {
		if !ok {
			return false, true
		}
		err := t.send(from, to)
		var pg *pgconn.PgError
		ok = err == nil || errors.As(err, &pg)
		run("rollback to " + trial)
		same = pg != nil && pg.Code == failed.Code && pg.Message == failed.Message &&
			pg.ConstraintName == failed.ConstraintName && (wholeRow || pg.Detail == failed.Detail)
		return same, err != nil && !same
	}
	if same, other := fails(0, 0); same || other {
		return 0 // the statement itself fails
	}
	sure := true
	row := sort.Search(t.out.count()-1, func(i int) bool {
		same, other := fails(0, i+1)
		sure = sure && same || !same && !other
		return same
	})
	if !sure {
		sure, _ = fails(row, row+1)
	}
	if !sure || !ok {
		return 0
	}
	return row + 1
}
