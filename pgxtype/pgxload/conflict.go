package pgxload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Conflict says what happens to a row whose key exists in the table. Key is required. PostgreSQL
// refuses a row that collides in another unique index (23505, unique_violation). If Key is not the
// primary key, it may also refuse a row that another connection inserts at the same time: then load
// again.
type Conflict struct {
	Key    []string // the columns of the primary key, or of a unique index without expressions and WHERE
	Update []string // columns that take the new row's values; empty: the existing row does not change
}

// OnConflict adds ON CONFLICT to the table's INSERT, and returns the table: a row whose Key exists is
// skipped, or updates the existing row. Call it before the first row.
//
// If Key is not the primary key, the existing row may have another primary key than the new row, to
// which the new children refer. Load then fails with a [LoadError] that quotes both keys: look up such
// keys first. If other tables follow, whose rows may refer to this one's, Load also fails if a row is
// not in the table afterwards, or if the load does not write the primary key, or if a view hides it:
// name such a table last.
//
// The existing row is not locked when a row is skipped: if another connection deletes it, a foreign key
// refuses the new children. If a load has a Key twice, the second row is skipped. With Update, the second
// row updates the first, but PostgreSQL refuses it if both are in one chunk.
func (t *Table) OnConflict(c Conflict) *Table {
	var wrong fields.Errors
	if len(c.Key) == 0 {
		wrong.Add("Key", nil, "is required")
	}
	for i, name := range slices.Concat(c.Key, c.Update) {
		if !slices.Contains(t.columns, name) {
			field := "Key"
			if i >= len(c.Key) {
				field = "Update"
			}
			wrong.Add(field, name, "is not a column of the table")
		}
	}
	if t.types != nil {
		wrong.Add("OnConflict", t.name, "must be called before the first row")
	}
	if t.w.keep(wrong.Err("pgxload: Conflict")) {
		t.conflict = &Conflict{Key: slices.Clone(c.Key), Update: slices.Clone(c.Update)}
	}
	return t
}

// sql returns the ON CONFLICT clause, which is empty for a nil Conflict.
func (c *Conflict) sql() string {
	if c == nil {
		return ""
	}
	clause := " on conflict (" + quoteAll(c.Key) + ") do "
	if len(c.Update) == 0 {
		return clause + "nothing"
	}
	return clause + "update set " + list(c.Update, ", ", func(name string) string { return quote(name) + " = excluded." + quote(name) })
}

// findPrimary sets t.primary, and checks OnConflict against it.
func (t *Table) findPrimary(all []found) error {
	whole := true
	for _, f := range all {
		if f.InPrimary {
			if t.conflict != nil && slices.Contains(t.conflict.Update, f.Column) {
				err := errors.New("is part of the primary key, which Conflict.Update must not change: rows may refer to the old one")
				return t.errorAt(-1, f.Column, err)
			}
			t.primary = append(t.primary, f.Column)
			whole = whole && slices.Contains(t.columns, f.Column)
		}
	}
	if !whole {
		t.primary = nil
	}
	if t.conflict != nil && t.primary == nil {
		err := errors.New("OnConflict needs its whole primary key among the columns, or to be named last:" +
			" rows of later tables may refer to a row that is skipped")
		t.missing = t.errorAt(-1, "", err)
	}
	return nil
}

// collisions returns an error if the Key of a row is in the table under another primary key. It sets
// t.missing if a row is not in the table under its primary key. A row whose Key the database has changed is
// stored, and so is not a collision.
func (t *Table) collisions() error {
	key := t.primary
	if t.conflict != nil {
		key = t.conflict.Key
	}
	names := slices.Compact(slices.Sorted(slices.Values(slices.Concat(key, t.primary))))
	equal := func(names []string) string {
		return list(names, " and ", func(name string) string { return "t." + quote(name) + " = s." + quote(name) })
	}
	text := func(row string, names []string) string {
		texts := list(names, ", ", func(name string) string { return "coalesce(" + row + quote(name) + "::text, 'null')" })
		return "concat_ws(', ', " + texts + ")"
	}
	table := t.ident.Sanitize()
	reader := t.query(
		"select s.snowkey_row, "+text("s.", key)+", "+text("s.", t.primary)+", o.key from ",
		" with ordinality as s("+quoteAll(names)+", snowkey_row)"+
			" left join lateral (select "+text("t.", t.primary)+" as key from "+table+" t"+
			" where "+equal(key)+" and not ("+equal(t.primary)+") limit 1) o on true"+
			" where o.key is not null or not exists (select from "+table+" t where "+equal(t.primary)+")"+
			" order by o.key is null, 1 limit 1",
		0, t.out.count(), names)
	var err error
	if reader.NextRow() {
		err = t.collision(key, reader.Values())
	}
	_, failed := reader.Close()
	return cmp.Or(failed, err)
}

// collision judges a row that collisions has found: its number, its Key and its primary key, and the primary
// key under which the table has its Key, or nil if the row is not in the table.
func (t *Table) collision(key []string, found [][]byte) error {
	row, _ := strconv.ParseInt(string(found[0]), 10, 64) // of our own statement
	row += t.out.first - 1
	given := fmt.Sprintf("(%s)=(%s)", strings.Join(key, ", "), found[1])
	own := fmt.Sprintf("(%s)=(%s)", strings.Join(t.primary, ", "), found[2])
	if existing := found[3]; existing != nil {
		return t.errorAt(row, key[0], fmt.Errorf("%s is in the table under the primary key (%s), not under %s: "+
			"load it and its children under the existing key", given, existing, own))
	}
	t.missing = t.errorAt(row, key[0], fmt.Errorf("%s is not in the table under %s after it was sent", given, own))
	return nil
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

func quoteAll(names []string) string { return list(names, ", ", quote) }

func list(names []string, separator string, each func(name string) string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = each(name)
	}
	return strings.Join(all, separator)
}
