package migrate

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// A member is a column that changes: the key, or a column that refers to it.
type member struct {
	table  *table
	live   *column // the column that programs use
	shadow *column // the column next to it; nil: it is missing
	name   string  // of the shadow
	moves  bool    // the shadow replaces live; otherwise only its foreign keys change
}

// job is the migration of one table's key.
type job struct {
	cfg     Config
	q       querier
	tables  map[int64]*table
	members []*member // the key first, and each member after those that it refers to
}

const (
	prefix = "snow_migrate_"
	suffix = "_migrate"
)

// short returns the name with the prefix, shortened to PostgreSQL's limit.
func short(name string) string {
	name = prefix + name
	if len(name) <= live.MaxName {
		return name
	}
	const digits = 8
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	return strings.ToValidUTF8(name[:live.MaxName-digits-1], "") + "_" + sum[:digits]
}

// The kind in its name keeps an index of the migration apart from a foreign key or a check.
func (i *index) short() string      { return short("index_" + i.Name) }
func (k *foreignKey) short() string { return short("foreign_" + k.Name) }

func isInt(typ string) bool { return typ == "smallint" || typ == "integer" }

// inspectTables reads the catalog. It returns an error for a table that a migration does not handle.
func inspectTables(ctx context.Context, q querier, cfg Config) (*job, error) {
	j := &job{cfg: cfg, q: q, tables: map[int64]*table{}}
	none := live.Error("migrate", "Table", cfg.Table, "there is no such table")
	t, err := j.readTable(ctx, none, "to_regclass($1)", quote(strings.Split(cfg.Table, ".")...))
	if err != nil {
		return nil, err
	}
	key := t.column(cfg.Column)
	switch {
	case cfg.Column == "":
		if key, err = t.primary(); err != nil {
			return nil, err
		}
	case key == nil:
		return nil, live.Error("migrate", "Column", cfg.Column, "%s has no such column", t)
	}
	return j, j.addMember(ctx, t, key, nil)
}

// addMember adds a column and the columns that refer to it. path has the columns before c, from the key on.
func (j *job) addMember(ctx context.Context, t *table, c *column, path []*member) error {
	is := func(m *member) bool { return m.table == t && m.live == c }
	if slices.ContainsFunc(path, is) {
		return refuse(t, "is in a cycle of foreign keys over %s", c.Name)
	}
	j.members = slices.DeleteFunc(j.members, is) // it refers to two columns: it comes after both
	m := &member{table: t, live: c, name: c.Name + suffix}
	m.shadow = t.column(m.name)
	j.members = append(j.members, m)
	for _, k := range t.Referring {
		if !slices.Contains(k.ToNum, c.Num) || strings.HasPrefix(k.Name, prefix) {
			continue
		}
		r, err := j.load(ctx, k.Table)
		if err != nil {
			return err
		}
		if len(k.Num) > 1 {
			return refuse(r, "the foreign key %s of %d columns refers to %s.%s: only one is supported",
				k.Name, len(k.Num), t, c.Name)
		}
		if err := j.addMember(ctx, r, r.byNum(k.Num[0]), append(slices.Clone(path), m)); err != nil {
			return err
		}
	}
	for _, k := range t.Foreign {
		if !slices.Contains(k.Num, c.Num) || strings.HasPrefix(k.Name, prefix) {
			continue
		}
		if len(k.Num) > 1 {
			return refuse(t, "the foreign key %s has %d columns, one of them %s: only one is supported",
				k.Name, len(k.Num), c.Name)
		}
		if _, err := j.load(ctx, k.To); err != nil {
			return err
		}
	}
	return nil
}

// load reads a table once.
func (j *job) load(ctx context.Context, oid int64) (*table, error) {
	if t := j.tables[oid]; t != nil {
		return t, nil
	}
	return j.readTable(ctx, errChanged, "$1", oid)
}

// moving returns the tables with a column that moves, each once.
func (j *job) moving() []*table {
	var tables []*table
	for _, m := range j.members {
		if m.moves && !slices.Contains(tables, m.table) {
			tables = append(tables, m.table)
		}
	}
	return tables
}

// membersOf returns the members of a table that move.
func (j *job) membersOf(t *table) []*member {
	return slices.DeleteFunc(slices.Clone(j.members), func(m *member) bool { return m.table != t || !m.moves })
}

// shadowOf returns the name of the column that replaces another, or an empty string.
func (j *job) shadowOf(t *table, num int) string {
	for _, m := range j.membersOf(t) {
		if m.live.Num == num {
			return m.name
		}
	}
	return ""
}
