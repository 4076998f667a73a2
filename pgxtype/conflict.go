package pgxtype

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Conflict says what becomes of a row whose key the table has already. Key must
// be set.
type Conflict struct {
	Key    []string // the columns of the primary key, or of a unique index of columns alone
	Update []string // columns that take the new row's values; empty: the row that is there stays as it is
}

// OnConflict returns the table with an ON CONFLICT clause: rows whose Key is in the
// table already are skipped, or update the row that is there. Such rows are sent by
// INSERT, whatever the Method, and those that were skipped are not counted in
// [Loaded].
//
// Children of a row that was there are loaded like any others, and refer to it: it
// has the primary key that they were given. Where Key is not the primary key, Load
// makes sure of that: a row whose Key is there under another primary key ends the
// load with a [LoadError] that quotes both. Nothing is written then, and no child
// refers to a row that is not there, or to another's. Look such keys up first, and
// load under the ones that are there. (A row that was skipped is not locked: it is a
// foreign key that keeps others from deleting it before the children are in.)
//
// If one load has the same Key twice, the first row is the one that stays; with
// Update, PostgreSQL refuses the second if both are in one chunk.
func (t Table[M]) OnConflict(c Conflict) Table[M] {
	t.conflict = &Conflict{Key: slices.Clone(c.Key), Update: slices.Clone(c.Update)}
	return t
}

func (c *Conflict) check(i int, columns []string, f *faults) {
	if len(c.Key) == 0 {
		f.add("Tables[%d]: Conflict.Key is empty", i)
	}
	for _, list := range [][]string{c.Key, c.Update} {
		for n, name := range list {
			switch {
			case !slices.Contains(columns, name):
				f.add("Tables[%d]: Conflict: %q is not a column of the table's", i, name)
			case slices.Index(list, name) < n:
				f.add("Tables[%d]: Conflict: column %q is there twice", i, name)
			}
		}
	}
	for _, name := range c.Update {
		if slices.Contains(c.Key, name) {
			f.add("Tables[%d]: Conflict: column %q is in Key and in Update", i, name)
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

// findPrimaryKeys looks up which columns have to be compared where Key is not the
// primary key. None, if the primary key is not loaded: then no child can know it.
func (l *loader) findPrimaryKeys() error {
	for i, t := range l.tables {
		if t.conflict == nil {
			continue
		}
		rows, err := l.tx.Query(l.ctx, `select a.attname::text from pg_catalog.pg_index i join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = any ((i.indkey::int2[])[0:i.indnkeyatts - 1])
			where i.indrelid = $1::text::regclass and i.indisprimary`, t.name.Sanitize())
		var names []string
		if err == nil {
			names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil {
			return l.fail(i, -1, "", fmt.Errorf("look up the primary key: %w", err))
		}
		if len(names) == 0 {
			return l.fail(i, -1, "", errNoPrimaryKey)
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

const (
	errNoPrimaryKey      = constError("has no primary key, which OnConflict needs to tell whether a row that is there is the same")
	errUpdatesPrimaryKey = constError("is of the primary key, and Conflict.Update must not change it: rows may refer to the old one")
)

// collisions asks for the first row that is not in the table under both its keys,
// after all were inserted: its index, and the primary key under which its Key is.
func (e *encoder) collisions() request {
	var columns []int
	var names, both, other, found []string
	add := func(c int, list *[]string) {
		name := pgx.Identifier{e.columns[c]}.Sanitize()
		if i := slices.Index(columns, c); i < 0 {
			columns = append(columns, c)
			names = append(names, name)
			both = append(both, "t."+name+" is not distinct from s."+name)
		}
		if list != nil {
			*list = append(*list, "t."+name+" is not distinct from s."+name)
		}
	}
	for _, c := range e.primary {
		add(c, nil)
		both[len(both)-1] = "t." + names[len(names)-1] + " = s." + names[len(names)-1] // by its index
		found = append(found, "coalesce(t."+names[len(names)-1]+"::text, 'null')")
	}
	for _, name := range e.conflict.Key {
		add(slices.Index(e.columns, name), &other)
	}
	r := request{table: e, check: true}
	r.values, r.oids = e.arrays(0, e.rows, columns)
	table := e.name.Sanitize()
	r.sql = "select s.snowkey_row, (select concat_ws(', ', " + strings.Join(found, ", ") + ") from " + table + " t where " + strings.Join(other, " and ") + " limit 1)" +
		" from unnest(" + marks(len(columns)) + ") with ordinality as s(" + strings.Join(names, ", ") + ", snowkey_row)" +
		" where not exists (select from " + table + " t where " + strings.Join(both, " and ") + ") order by 1 limit 1"
	return r
}

// otherKeyError is a row whose Key is in the table under another primary key.
type otherKeyError struct {
	row           int
	column        string
	key, own, its string
}

func (e *otherKeyError) Error() string {
	if e.its == "" {
		return fmt.Sprintf("%s is not in the table under %s after ON CONFLICT", e.key, e.own)
	}
	return fmt.Sprintf("%s is in the table under the primary key (%s), not under %s: load it and its children under the key that is there", e.key, e.its, e.own)
}

// otherKey takes the answer of collisions.
func (e *encoder) otherKey(values [][]byte) *otherKeyError {
	n, err := strconv.Atoi(string(values[0]))
	if err != nil || n < 1 || n > e.rows {
		n = 0 // which fail takes for a row that is not known
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
	places := make([]int, len(e.conflict.Key))
	for i, name := range e.conflict.Key {
		places[i] = slices.Index(e.columns, name)
	}
	other.key, other.own = show(places), show(e.primary)
	return other
}
