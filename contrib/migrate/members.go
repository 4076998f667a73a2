package migrate

import (
	"context"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// A member is a column that changes: the key, or one that refers to it.
type member struct {
	table  *table
	live   *column // the column that programs use
	shadow *column // the one beside it; nil: it is missing
	name   string  // of the shadow
	moves  bool    // the shadow takes the place of live; otherwise only its foreign keys change
}

// job is a migration of a table of PostgreSQL.
type job struct {
	cfg     Config
	q       live.Querier
	tables  map[int64]*table
	members []*member // the key first, and each after one that it refers to
}

const (
	prefix     = "snow_migrate_"
	suffix     = "_migrate"
	uuidSuffix = "_snowkey" // as in package backfill
)

// short makes a name with the prefix that is short enough for PostgreSQL.
func short(name string) string {
	name = prefix + name
	if len(name) <= live.MaxName {
		return name
	}
	const digits = 8
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	return strings.ToValidUTF8(name[:live.MaxName-digits-1], "") + "_" + sum[:digits]
}

func isInt(typ string) bool { return typ == "smallint" || typ == "integer" }

// inspectTables reads the catalog, and refuses what a migration does not handle.
func inspectTables(ctx context.Context, q live.Querier, cfg Config) (*job, error) {
	j := &job{cfg: cfg, q: q, tables: map[int64]*table{}}
	schema, name := live.SplitTable(cfg.Table)
	text := quote(name)
	if schema != "" {
		text = quote(schema, name)
	}
	t, err := readTable(ctx, q, "to_regclass($1)", text)
	switch {
	case err != nil:
		return nil, err
	case t == nil:
		return nil, live.Error("migrate", "Table", cfg.Table, "there is no such table")
	}
	j.tables[t.OID] = t
	if err := t.refuse(); err != nil {
		return nil, err
	}
	key := t.column(cfg.Column)
	if cfg.Column == "" {
		if key = t.swappedKey(); key == nil {
			if key, err = t.primary(); err != nil {
				return nil, err
			}
		}
	} else if key == nil {
		return nil, live.Error("migrate", "Column", cfg.Column, "%s has no such column", t)
	}
	if err := j.addMember(ctx, t, key, nil); err != nil {
		return nil, err
	}
	return j, nil
}

// shadowName names the column beside another one.
func (j *job) shadowName(name string, key bool) string {
	switch {
	case j.cfg.Kind != UUID:
		return name + suffix
	case key && j.cfg.Backfill.Column != "":
		return j.cfg.Backfill.Column
	}
	return name + uuidSuffix
}

// addMember adds a column and the columns that refer to it. path has the columns that it refers to.
func (j *job) addMember(ctx context.Context, t *table, c *column, path []*member) error {
	for _, m := range path {
		if m.table == t && m.live == c {
			return refuse(t, "is in a cycle of foreign keys over %s", c.Name)
		}
	}
	if i := slices.IndexFunc(j.members, func(m *member) bool { return m.table == t && m.live == c }); i >= 0 {
		j.members = slices.Delete(j.members, i, i+1) // it refers to two columns: it comes after both
	}
	m := &member{table: t, live: c, name: j.shadowName(c.Name, len(path) == 0)}
	m.shadow = t.column(m.name)
	j.members = append(j.members, m)
	if j.cfg.Kind == UUID && t.swappedKey() == c && m.shadow != nil {
		return j.addSwapped(ctx, m)
	}
	for _, k := range t.Referring {
		i := slices.Index(k.ToNum, c.Num)
		if i < 0 || strings.HasPrefix(k.Name, prefix) {
			continue
		}
		r, err := j.load(ctx, k.Table)
		if err != nil {
			return err
		}
		if len(k.Num) > 1 {
			return refuse(r, "the foreign key %s of %d columns refers to %s.%s: only one is supported", k.Name, len(k.Num), t, c.Name)
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
			return refuse(t, "the foreign key %s has %d columns, one of them %s: only one is supported", k.Name, len(k.Num), c.Name)
		}
		if _, err := j.load(ctx, k.To); err != nil {
			return err
		}
	}
	return nil
}

// addSwapped adds the columns whose shadows refer to the shadow of a UUID.
func (j *job) addSwapped(ctx context.Context, key *member) error {
	for _, k := range key.table.Referring {
		if !slices.Equal(k.ToNum, []int{key.shadow.Num}) || strings.HasPrefix(k.Name, prefix) {
			continue
		}
		r, err := j.load(ctx, k.Table)
		if err != nil {
			return err
		}
		shadow := r.byNum(k.Num[0])
		name, ours := strings.CutSuffix(shadow.Name, uuidSuffix)
		live := r.column(name)
		switch {
		case ours && live != nil && r.trigger() != nil:
			j.members = append(j.members, &member{table: r, live: live, shadow: shadow, name: shadow.Name})
		case j.cfg.Undo:
			return refuse(r, "%s has no UUID beside it any more: there is no way back", shadow.Name)
		}
	}
	return nil
}

// load returns a table that is neither partitioned nor odd otherwise.
func (j *job) load(ctx context.Context, oid int64) (*table, error) {
	if t := j.tables[oid]; t != nil {
		return t, nil
	}
	t, err := readTable(ctx, j.q, "$1", oid)
	switch {
	case err != nil:
		return nil, err
	case t == nil:
		return nil, errChanged
	}
	j.tables[oid] = t
	return t, t.refuse()
}

// refuse returns an error for a table on which this has not been tried.
func (t *table) refuse() error {
	if f := t.function(); f != nil {
		if err := t.refuseVersion(f.Comment); err != nil {
			return err
		}
	}
	switch {
	case strings.Contains(t.Schema+t.Name, "."):
		return refuse(t, "has a dot in its name, or in that of its schema")
	case t.Kind == "p" || t.Partition:
		return refuse(t, "is partitioned, or a partition: migrate does not support that")
	case t.Kind != "r":
		return refuse(t, "is no ordinary table, but a %s", map[string]string{"v": "view", "m": "materialized view", "f": "foreign table"}[t.Kind])
	case t.Temporary:
		return refuse(t, "is a temporary table")
	case t.Inherits:
		return refuse(t, "inherits from a table, or a table from it")
	case t.Typed:
		return refuse(t, "is a table of a type")
	case t.Rule != "":
		return refuse(t, "has the rule %s", t.Rule)
	case t.Publication != "":
		return refuse(t, "is in the publication %s: a subscriber would not have the new columns", t.Publication)
	case t.Subscription:
		return refuse(t, "is written by a subscription, whose triggers do not fire")
	case t.Identity != "d":
		return refuse(t, "has a replica identity of its own")
	case !t.Owned:
		return refuse(t, "belongs to a role that this user is no member of")
	case t.ForcedRLS:
		return refuse(t, "has row-level security, which would hide rows from the migration")
	}
	return nil
}

// refuseMembers returns an error for a column on which this has not been tried.
func (j *job) refuseMembers(ctx context.Context) error {
	if err := j.refuseDependents(ctx); err != nil {
		return err
	}
	for _, m := range j.members {
		t, c := m.table, m.live
		if g := t.trigger(); g != nil && g.Disabled {
			return refuse(t, "the trigger %s, which keeps the columns equal, is disabled: enable it", g.Name)
		}
		word := regexp.MustCompile(`(?i)(^|\W)` + regexp.QuoteMeta(c.Name) + `($|\W)`)
		for _, g := range t.Triggers {
			if g.Name != live.Trigger && word.MatchString(g.Source) {
				return refuse(t, "the trigger %s mentions %s", g.Name, c.Name)
			}
		}
		if err := m.refuseColumn(); err != nil {
			return err
		}
		for _, i := range t.Indexes {
			if err := t.refuseIndex(&i, c, word); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *member) refuseColumn() error {
	t, c := m.table, m.live
	switch {
	case c.Generated != "":
		return refuse(t, "%s is a generated column", c.Name)
	case c.Unowned != "" && c.UnownedType != "bigint" && isInt(c.Type):
		return refuse(t, "%s has its default from the sequence %s, which ends with the integers, and is not the one that belongs to the column: ALTER SEQUENCE … AS bigint first", c.Name, c.Unowned)
	case c.Privileges:
		return refuse(t, "%s has privileges of its own, which the new column would not have", c.Name)
	case c.Label:
		return refuse(t, "%s has a security label, which the new column would not have", c.Name)
	case len(m.name) > live.MaxName:
		return refuse(t, "%s has a name of %d bytes: the new column's would be too long", c.Name, len(c.Name))
	case badName(c.Name) != "":
		return refuse(t, "%q %s", c.Name, badName(c.Name))
	}
	for _, k := range t.Foreign {
		if k.Ignored && slices.Contains(k.Num, c.Num) {
			return refuse(t, "the foreign key %s is not enforced", k.Name)
		}
	}
	return t.refuseIdentity(c)
}

func (t *table) refuseIndex(i *index, c *column, word *regexp.Regexp) error {
	expression := false
	has := false
	for _, x := range i.Columns {
		has = has || x.Num == c.Num
		expression = expression || x.Num == 0 && word.MatchString(x.Definition)
	}
	switch {
	case !has || strings.HasPrefix(i.Name, prefix):
		return nil
	case !i.Valid:
		return refuse(t, "the index %s is invalid: drop it", i.Name)
	case expression || word.MatchString(i.Predicate):
		return refuse(t, "the index %s has an expression or a condition over %s", i.Name, c.Name)
	case i.Odd || strings.Contains(i.Definition, " COLLATE "):
		return refuse(t, "the index %s has an operator class, a collation, storage parameters or a tablespace", i.Name)
	case short(i.Name) == short("swap") || short(i.Name) == t.uuidKey():
		return refuse(t, "the index %s has a name that the migration needs: rename it", i.Name)
	case i.Excludes:
		return refuse(t, "the constraint %s excludes, or is WITHOUT OVERLAPS", i.Constraint)
	case i.Deferrable:
		return refuse(t, "the constraint %s is deferrable", i.Constraint)
	case i.Clustered:
		return refuse(t, "is clustered by the index %s", i.Name)
	case i.NotDist:
		return refuse(t, "the index %s has NULLS NOT DISTINCT", i.Name)
	}
	return nil
}
