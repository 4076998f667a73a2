package backfill

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// A row without an id.
type row struct {
	key  any // as the driver takes it as an argument
	text string
	made time.Time
	id   int64
}

// page returns rows without an id, the oldest first, or the newest.
func (j *job) page(ctx context.Context, limit int, newest bool) ([]row, error) {
	order := append(slices.Clone(j.times.order), j.db.quote(j.key.name))
	if newest {
		for i := range order {
			order[i] += " DESC"
		}
	}
	rows, err := j.rows(ctx, j.unset(j.into, "")+" ORDER BY "+strings.Join(order, ", ")+fmt.Sprintf(" LIMIT %d", limit))
	if err != nil {
		return nil, fmt.Errorf("backfill: read rows of %s: %w", j.table, err)
	}
	for i := range rows {
		r := &rows[i]
		r.made, err = j.times.parse(r.text)
		switch {
		case err != nil:
			return nil, &RowError{j.table.String(), j.cfg.CreatedAt, keyText(r.key), live.Quote(r.text), err.Error()}
		case r.made.Before(j.cfg.Layout.Epoch):
			return nil, &RowError{
				j.table.String(), j.cfg.CreatedAt, keyText(r.key), show(r.made),
				"before the layout's epoch, " + show(j.cfg.Layout.Epoch),
			}
		}
	}
	return rows, nil
}

// referredTo returns rows with ids, in the order of their keys and after those of the last batch, to which
// rows without an id refer.
func (j *job) referredTo(ctx context.Context, ref *target, last []row) ([]row, error) {
	key := "p." + j.db.quote(j.key.name)
	where := j.hasID() + " AND EXISTS (SELECT 1 FROM " + ref.table.of(j.db) + " c WHERE " + key + " = c." +
		j.db.quote(ref.from) + " AND " + j.unset(ref, "c.") + ")"
	var args []any
	if len(last) > 0 {
		where += " AND " + key + " > " + j.keyArg()
		args = []any{last[len(last)-1].key}
	}
	rows, err := j.rows(ctx, where+fmt.Sprintf(" ORDER BY %s LIMIT %d", key, j.cfg.BatchSize), args...)
	if err != nil {
		return nil, fmt.Errorf("backfill: look for rows of %s without ids: %w", ref.table, err)
	}
	return rows, nil
}

// rows returns rows of the table p with their keys, and their times as strings.
func (j *job) rows(ctx context.Context, where string, args ...any) ([]row, error) {
	key := j.db.quote(j.key.name)
	binary := "0 = 1"
	switch typ := j.key.typ; {
	case j.db.dialect == ddl.SQLite: // where a column may hold anything
		binary = "typeof(" + key + ") = 'blob'"
		key = "+" + key // without its type: drivers read a string in a date column as a time, and write that in another form
	case strings.Contains(typ, "binary") || strings.Contains(typ, "blob") || typ == "bytea":
		binary = "0 = 0"
	}
	return query(ctx, j.db, func(rows *sql.Rows) (row, error) {
		var r row
		var text sql.NullString
		var binary bool
		err := rows.Scan(&r.key, &text, &binary)
		if b, ok := r.key.([]byte); ok && !binary { // some drivers return texts as bytes, and take bytes as binary
			r.key = string(b)
		}
		r.text = text.String
		return r, err
	}, "SELECT "+key+", "+j.times.expr+", "+binary+" FROM "+j.table.of(j.db)+" p WHERE "+where, args...)
}

func keyText(key any) string {
	switch key := key.(type) {
	case nil:
		return "NULL"
	case []byte:
		return fmt.Sprintf("%#x", key)
	}
	return live.Quote(key)
}

// perStatement is how many rows one UPDATE changes. Its CASE is searched from the beginning for
// each of them.
const perStatement = 250

// write sets the ids of rows, and of the columns that refer to them.
func (j *job) write(ctx context.Context, tx *sql.Tx, rows []row) (own, referring int64, err error) {
	for chunk := range slices.Chunk(rows, perStatement) {
		n, err := j.update(ctx, tx, chunk)
		if err != nil {
			return 0, 0, fmt.Errorf("backfill: write ids to %s: %w", j.table, err)
		}
		own += n
		for _, ref := range j.refs {
			if !ref.indexed { // each statement would read the whole table
				continue
			}
			n, err := j.setReferring(ctx, tx, ref, chunk)
			if err != nil {
				return 0, 0, err
			}
			referring += n
		}
	}
	return own, referring, nil
}

// update sets the ids of a chunk, where none is set.
func (j *job) update(ctx context.Context, tx *sql.Tx, chunk []row) (int64, error) {
	db := j.db
	key := db.quote(j.key.name)
	number := "bigint"
	if db.dialect == ddl.MySQL {
		number = "SIGNED"
	}
	args := make([]any, 0, 3*len(chunk))
	for _, r := range chunk {
		args = append(args, r.key, r.id)
	}
	in, keys := j.oneOf(chunk)
	return db.change(ctx, tx, "UPDATE "+j.table.of(db)+" SET "+db.quote(j.into.to)+
		" = CASE "+key+strings.Repeat(" WHEN "+j.keyArg()+" THEN CAST(? AS "+number+")", len(chunk))+
		" END"+j.untouched(j.table, "")+
		" WHERE "+key+in+" AND "+j.unset(j.into, ""), append(args, keys...)...)
}

// oneOf is the condition for the keys of a chunk.
func (j *job) oneOf(chunk []row) (in string, keys []any) {
	for _, r := range chunk {
		keys = append(keys, r.key)
	}
	return " IN (" + j.keyArg() + strings.Repeat(", "+j.keyArg(), len(keys)-1) + ")", keys
}

// keyArg returns the placeholder of a key in a statement. The driver passes a decimal as a string, and MySQL
// compares a decimal with a string as floating-point numbers: without the CAST, neighbours could be equal.
func (j *job) keyArg() string {
	if typ, _, _ := strings.Cut(j.key.typ, " "); j.db.dialect == ddl.MySQL && strings.HasPrefix(typ, "decimal") {
		return "CAST(? AS " + typ + ")"
	}
	return "?"
}

// untouched keeps the values of columns that the database would set to the present.
func (j *job) untouched(t *table, alias string) string {
	var text strings.Builder
	for _, c := range t.columns {
		if c.onUpdate {
			name := alias + j.db.quote(c.name)
			text.WriteString(", " + name + " = " + name)
		}
	}
	return text.String()
}

// referred selects the id of the row that a row c refers to.
func (j *job) referred(ref *target) string {
	id := "NULL"
	if !j.into.adds {
		id = "p." + j.db.quote(j.into.to)
	}
	return "SELECT " + id + " FROM " + j.table.of(j.db) + " p WHERE p." + j.db.quote(j.key.name) +
		" = c." + j.db.quote(ref.from)
}

// hasID is the condition for rows p with an id.
func (j *job) hasID() string { return "p." + j.db.quote(j.into.to) + " <> 0" }

// countReferring counts the rows without an id that refer to a row.
func (j *job) countReferring(ctx context.Context, ref *target) (int64, error) {
	return j.db.count(ctx, "count the rows of "+ref.table.String(),
		"SELECT count(*) FROM "+ref.table.of(j.db)+" c WHERE "+j.unset(ref, "c.")+" AND EXISTS ("+j.referred(ref)+")")
}

// setReferring sets the ids in a referring column where none is set. It reads them from the rows referred
// to, so they need not be ids of this job. With a chunk, it writes only rows that refer to it.
func (j *job) setReferring(ctx context.Context, tx *sql.Tx, ref *target, chunk []row) (int64, error) {
	db := j.db
	child, to := ref.table.of(db)+" AS c", db.quote(ref.to)
	where := " WHERE " + j.unset(ref, "c.")
	var args []any
	if len(chunk) > 0 {
		in, keys := j.oneOf(chunk)
		where += " AND c." + db.quote(ref.from) + in
		args = keys
	}
	id := j.referred(ref)
	text := "UPDATE " + child + " SET " + to + " = (" + id + ")" + where + " AND EXISTS (" + id + " AND " + j.hasID() + ")"
	if db.dialect == ddl.MySQL { // which takes no subquery of the table that is updated
		text = "UPDATE " + child + " JOIN " + j.table.of(db) + " p ON p." + db.quote(j.key.name) +
			" = c." + db.quote(ref.from) + " SET c." + to + " = p." + db.quote(j.into.to) + j.untouched(ref.table, "c.") +
			where + " AND " + j.hasID()
	}
	n, err := db.change(ctx, tx, text, args...)
	if err != nil {
		return 0, fmt.Errorf("backfill: write ids to %s: %w", ref.table, err)
	}
	return n, nil
}

// checkStale counts the rows whose id differs from the id of the row that they refer to.
func (j *job) checkStale(ctx context.Context, ref *target) error {
	n, err := j.db.count(ctx, "check the ids in "+ref.table.String(),
		"SELECT count(*) FROM "+ref.table.of(j.db)+" c WHERE NOT "+j.unset(ref, "c.")+
			" AND NOT EXISTS ("+j.referred(ref)+" AND p."+j.db.quote(j.into.to)+" = c."+j.db.quote(ref.to)+")")
	if n > 0 {
		return &ReferenceError{ref.table.String(), ref.from, ref.to, n}
	}
	return err
}
