package pgxtype

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Conflict configures what happens to a row whose key exists in the table. Key is required.
//
// PostgreSQL looks for the conflict in the index of Key only. If another connection inserts the
// same row with the same primary key at the same moment, and Key is not the primary key, the load
// may fail with unique_violation (23505) of the primary key. Load it again.
type Conflict struct {
	Key    []string // the columns of the primary key, or of a unique index without expressions
	Update []string // columns that take the new row's values; empty: the existing row does not change
}

// OnConflict returns the table with an ON CONFLICT clause: a row whose Key exists in the
// table is skipped, or updates the existing row. The rows of such a table are sent by
// INSERT, whatever the Method. [Loaded] does not count skipped rows.
//
// Children of an existing row are loaded like all others. They refer to its primary key, so that
// must be the one they were given. If Key is not the primary key, Load checks it: if a Key exists
// under another primary key, or tables follow and a row is not in the table, the load fails with a
// [LoadError] that quotes both keys. Look such keys up first, and load under the existing primary keys.
//
// A skipped row is not locked. Only a foreign key prevents others from deleting it
// before its children are loaded.
//
// If one load has the same Key twice, the first row stays. With Update, PostgreSQL
// refuses the second row if both are in one chunk.
func (t Table[P]) OnConflict(c Conflict) Table[P] {
	t.conflict = &Conflict{Key: slices.Clone(c.Key), Update: slices.Clone(c.Update)}
	return t
}

func (c *Conflict) check(table string, columns []string, wrong *fields.Errors) {
	if len(c.Key) == 0 {
		wrong.Add(table+".Conflict.Key", nil, "is required")
	}
	for _, list := range []struct {
		field   string
		columns []string
	}{{"Key", c.Key}, {"Update", c.Update}} {
		for n, name := range list.columns {
			field := table + ".Conflict." + list.field
			switch {
			case !slices.Contains(columns, name):
				wrong.Add(field, name, "is not a column of the table")
			case slices.Index(list.columns, name) < n:
				wrong.Add(field, name, "must be unique")
			case list.field == "Update" && slices.Contains(c.Key, name):
				wrong.Add(field, name, "must not be in Key")
			}
		}
	}
}

// sql is the clause. A nil Conflict has none.
func (c *Conflict) sql() string {
	if c == nil {
		return ""
	}
	clause := " on conflict (" + quoted(c.Key) + ") do "
	if len(c.Update) == 0 {
		return clause + "nothing"
	}
	sets := make([]string, len(c.Update))
	for i, name := range c.Update {
		name = pgx.Identifier{name}.Sanitize()
		sets[i] = name + " = excluded." + name
	}
	return clause + "update set " + strings.Join(sets, ", ")
}

// findPrimaryKeys looks up the columns to compare if Key is not the primary key. There
// are none if the primary key is not loaded, because then no child can refer to it.
func (l *loader) findPrimaryKeys() error {
	for i, t := range l.tables {
		if t.conflict == nil {
			continue
		}
		rows, err := l.tx.Query(l.ctx, `select a.attname::text from pg_catalog.pg_index i join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = any ((i.indkey::int2[])[0:i.indnkeyatts - 1])
			where i.indrelid = $1::text::regclass and i.indisprimary`, pgx.QueryExecModeExec, t.name.Sanitize())
		var names []string
		if err == nil {
			names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil {
			return l.fail(i, -1, "", fmt.Errorf("look up the primary key: %w", err))
		}
		same := len(names) == len(t.conflict.Key)
		for _, name := range names {
			if slices.Contains(t.conflict.Update, name) {
				return l.fail(i, -1, name, errUpdatesPrimaryKey)
			}
			same = same && slices.Contains(t.conflict.Key, name)
			t.primary = append(t.primary, slices.Index(t.columns, name))
		}
		if same || slices.Contains(t.primary, -1) {
			t.primary = nil
		}
	}
	return nil
}

var (
	errUpdatesPrimaryKey = errors.New("is part of the primary key, which Conflict.Update must not change: rows may refer to the old one")
)

// collisions runs after all rows were inserted. It selects the first row whose Key exists under
// another primary key, with its index and that key; and, if tables follow that may refer to it, the
// first whose primary key does not exist. A Key that the database has changed, such as a rounded
// time, is not found, and the row counts as stored.
func (e *encoder) collisions() request {
	var columns []int
	var names []string
	match := func(places []int) string {
		list := make([]string, len(places))
		for i, c := range places {
			name := pgx.Identifier{e.columns[c]}.Sanitize()
			if !slices.Contains(columns, c) {
				columns, names = append(columns, c), append(names, name)
			}
			list[i] = "t." + name + " = s." + name // by its index
		}
		return strings.Join(list, " and ")
	}
	primary, key := match(e.primary), match(e.keyPlaces())
	found := make([]string, len(e.primary))
	for i, c := range e.primary {
		found[i] = "coalesce(t." + pgx.Identifier{e.columns[c]}.Sanitize() + "::text, 'null')"
	}
	r := request{table: e, check: true}
	r.values, r.oids = e.arrays(0, e.rows, columns)
	table := e.name.Sanitize()
	missing := "o.key is not null"
	if e.table < len(e.load.tables)-1 {
		missing += " or not exists (select from " + table + " t where " + primary + ")"
	}
	r.sql = "select s.snowkey_row, o.key from unnest(" + marks(len(columns)) + ") with ordinality as s(" + strings.Join(names, ", ") + ", snowkey_row)" +
		" left join lateral (select concat_ws(', ', " + strings.Join(found, ", ") + ") as key from " + table + " t where " + key + " and not (" + primary + ") limit 1) o on true" +
		" where " + missing + " order by 1 limit 1"
	return r
}

// keyPlaces are the places of the columns of Key.
func (e *encoder) keyPlaces() []int {
	places := make([]int, len(e.conflict.Key))
	for i, name := range e.conflict.Key {
		places[i] = slices.Index(e.columns, name)
	}
	return places
}

// otherKeyError is about a row whose Key exists under another primary key.
type otherKeyError struct {
	row           int
	column        string
	key, own, its string
}

func (e *otherKeyError) Error() string {
	if e.its == "" {
		return fmt.Sprintf("%s is not in the table under %s after ON CONFLICT", e.key, e.own)
	}
	return fmt.Sprintf("%s is in the table under the primary key (%s), not under %s: load it and its children under the existing key", e.key, e.its, e.own)
}

// otherKey makes an error of the answer to collisions.
func (e *encoder) otherKey(values [][]byte) *otherKeyError {
	n, err := strconv.Atoi(string(values[0]))
	if err != nil || n < 1 || n > e.rows {
		n = 0 // for fail, the row is then not known
	}
	other := &otherKeyError{row: n - 1, column: e.conflict.Key[0], its: string(values[1])}
	if n == 0 {
		return other
	}
	fields := make([][]byte, len(e.columns))
	e.each(n-1, n, func(_, c int, b []byte) { fields[c] = b })
	show := func(places []int) string {
		_, text := e.keyText(fields, places)
		names := make([]string, len(places))
		for i, c := range places {
			names[i] = e.columns[c]
		}
		return "(" + strings.Join(names, ", ") + ")=(" + text + ")"
	}
	other.key, other.own = show(e.keyPlaces()), show(e.primary)
	return other
}
