package backfill

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// A row without an id.
type row struct {
	key  any // as the driver returns it, and takes it as an argument
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
	rows, err := query(ctx, j.db, func(rows *sql.Rows) (row, error) {
		var r row
		var text sql.NullString
		if err := rows.Scan(&r.key, &text); err != nil {
			return r, err
		}
		r.key = j.plain(r.key)
		made, err := j.times.parse(text.String)
		switch {
		case err != nil:
			return r, &RowError{j.table.String(), j.cfg.CreatedAt, keyText(r.key), fields.Quote(text.String), err.Error()}
		case made.Before(j.cfg.Layout.Epoch):
			return r, &RowError{j.table.String(), j.cfg.CreatedAt, keyText(r.key), show(made), "is before the layout's epoch, " + show(j.cfg.Layout.Epoch)}
		}
		r.made = made
		return r, nil
	}, "SELECT "+j.db.quote(j.key.name)+", "+j.times.expr+" FROM "+j.table.of(j.db)+" WHERE "+j.unset(j.into)+
		" ORDER BY "+strings.Join(order, ", ")+fmt.Sprintf(" LIMIT %d", limit))
	var bad *RowError
	if err != nil && !errors.As(err, &bad) {
		err = fmt.Errorf("backfill: read rows of %s: %w", j.table, err)
	}
	return rows, err
}

// plain makes a key an argument: some drivers return texts as bytes, and take bytes as binary.
func (j *job) plain(key any) any {
	b, ok := key.([]byte)
	if !ok {
		return key
	}
	if strings.Contains(j.key.typ, "binary") || strings.Contains(j.key.typ, "blob") || j.key.typ == "bytea" {
		return slices.Clone(b) // the driver may reuse it
	}
	return string(b)
}

func keyText(key any) string {
	if b, ok := key.([]byte); ok {
		return fmt.Sprintf("%#x", b)
	}
	return fields.Quote(key)
}

// perStatement is how many rows one UPDATE changes. Its CASE is searched from the beginning for
// each of them.
const perStatement = 250

// write sets the ids of rows, and of the columns that refer to them.
func (j *job) write(ctx context.Context, tx *sql.Tx, rows []row) (own, referring int64, err error) {
	for chunk := range slices.Chunk(rows, perStatement) {
		n, err := j.update(ctx, tx, j.into, chunk)
		if err != nil {
			return 0, 0, fmt.Errorf("backfill: write ids to %s: %w", j.table, err)
		}
		own += n
		for _, ref := range j.refs {
			if !ref.indexed { // each statement would read the whole table
				continue
			}
			n, err := j.update(ctx, tx, ref, chunk)
			if err != nil {
				return 0, 0, fmt.Errorf("backfill: write ids to %s: %w", ref.table, err)
			}
			referring += n
		}
	}
	return own, referring, nil
}

// update sets the ids of a chunk in one column, where none is set.
func (j *job) update(ctx context.Context, tx *sql.Tx, t target, chunk []row) (int64, error) {
	db := j.db
	from := db.quote(t.from)
	var cases, keys strings.Builder
	args := make([]any, 0, 3*len(chunk))
	for _, r := range chunk {
		cases.WriteString(" WHEN ? THEN CAST(? AS " + integer(db.dialect) + ")")
		args = append(args, r.key, r.id)
	}
	for i, r := range chunk {
		if i > 0 {
			keys.WriteString(", ")
		}
		keys.WriteString("?")
		args = append(args, r.key)
	}
	return db.change(ctx, tx, "UPDATE "+t.table.of(db)+" SET "+db.quote(t.to)+" = CASE "+from+cases.String()+" END"+j.untouched(t.table, "")+
		" WHERE "+from+" IN ("+keys.String()+") AND "+j.unset(t), args...)
}

// integer is the type of CAST for ids.
func integer(d ddl.Dialect) string {
	if d == ddl.MySQL {
		return "SIGNED"
	}
	return "bigint"
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

// sweep sets the ids in a referring column that has no index, and of rows that were written after
// the rows they refer to had ids.
func (j *job) sweep(ctx context.Context, ref target) (n int64, err error) {
	db := j.db
	parent, child := j.table.of(db), ref.table.of(db)
	key, id, from, to := db.quote(j.key.name), db.quote(j.into.to), db.quote(ref.from), db.quote(ref.to)
	text := "UPDATE " + child + " SET " + to + " = (SELECT p." + id + " FROM " + parent + " p WHERE p." + key + " = " + child + "." + from + ")" +
		" WHERE " + j.unset(ref) + " AND EXISTS (SELECT 1 FROM " + parent + " p WHERE p." + key + " = " + child + "." + from + " AND p." + id + " <> 0)"
	if db.dialect == ddl.MySQL { // which takes no subquery of the table that is updated
		text = "UPDATE " + child + " c JOIN " + parent + " p ON p." + key + " = c." + from + " SET c." + to + " = p." + id + j.untouched(ref.table, "c.") +
			" WHERE (c." + to + " IS NULL OR c." + to + " = 0) AND p." + id + " <> 0"
	}
	err = db.transact(ctx, func(tx *sql.Tx) (err error) {
		n, err = db.change(ctx, tx, text)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("backfill: write ids to %s: %w", ref.table, err)
	}
	return n, nil
}
