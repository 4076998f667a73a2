package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// myUUID is a migration from a UUID to a second key of ids, in MariaDB. Nothing is renamed:
// programs that know the UUID and programs that know the id work before and after the swap. No
// table is copied by the migration: the server rebuilds them while programs read and write.
type myUUID struct {
	cfg     Config
	db      mysql
	members []*myMember // the key first
	swapped bool
}

// A myMember is a column of UUIDs: the key, or one that refers to it.
type myMember struct {
	table   *myTable
	live    *myColumn // of UUIDs
	name    string    // of the column of ids beside it
	foreign []myForeign
}

const (
	uuidTrigger = "snow_uuid_" // and its purpose; the other kinds refuse tables with foreign triggers

	// uuidMark is the comment of a column of this migration. Another one is neither filled nor dropped.
	uuidMark = "added by snowkey migrate"
)

func (m *myMember) shadow() *myColumn { return m.table.column(m.name) }

// uuidKey names the unique index that the UUID has after the swap, and idKey the one of the ids
// before it.
func (t *myTable) uuidKey() string { return short("key_" + t.name) }
func (t *myTable) idKey() string   { return short("id_" + t.name) }

func (e *myEngine) planUUID(ctx context.Context, q querier) (Plan, error) {
	db, err := e.look(ctx, q)
	if err != nil {
		return Plan{}, err
	}
	j := &myUUID{cfg: e.cfg, db: db}
	schema, table := splitTable(e.cfg.Table)
	t, err := db.read(ctx, schema, table)
	if err != nil {
		return Plan{}, err
	}
	if !db.maria {
		return Plan{}, refuse(t, "is in MySQL, which has no generator in SQL, and did not check foreign keys after a change of the primary key: use snowkey backfill, see docs/backfill.md")
	}
	key, err := j.key(t)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Kind: UUID, Table: t.String(), Column: key.live.name}
	if plainType(key.live.typ) == "bigint" { // there is nothing to do
		p.Columns = []string{t.String() + "." + key.live.name}
		return p, nil
	}
	if err := j.find(ctx, key); err != nil {
		return Plan{}, err
	}
	for _, m := range j.members {
		p.Columns = append(p.Columns, m.table.String()+"."+m.live.name)
		if err := j.refuse(m); err != nil {
			return Plan{}, err
		}
	}
	j.plan(&p)
	return p, nil
}

// key returns the key. After the swap it is the UUID still.
func (j *myUUID) key(t *myTable) (*myMember, error) {
	if len(t.primary) != 1 {
		return nil, refuse(t, "has a primary key of %d columns, and needs one of one", len(t.primary))
	}
	live := t.column(t.primary[0])
	key := &myMember{table: t, live: live, name: live.name + uuidSuffix}
	if j.cfg.Backfill.Column != "" {
		key.name = j.cfg.Backfill.Column
	}
	if unique := t.index(t.uuidKey()); unique != nil && plainType(live.typ) == "bigint" {
		key.name, key.live, j.swapped = live.name, t.column(unique.columns[0].column), true
	}
	if j.cfg.Column != "" && !strings.EqualFold(j.cfg.Column, key.live.name) {
		return nil, refuse(t, "%s is not its primary key", j.cfg.Column)
	}
	return key, nil
}

// find adds the columns that refer to the key. After the swap, those whose ids do.
func (j *myUUID) find(ctx context.Context, key *myMember) error {
	j.members = []*myMember{key}
	t := key.table
	refer, err := j.db.foreign(ctx, "k.REFERENCED_TABLE_SCHEMA = ? AND k.REFERENCED_TABLE_NAME = ?", []any{t.schema, t.name})
	if err != nil {
		return fmt.Errorf("migrate: look for foreign keys to %s: %w", t, err)
	}
	tables := map[string]*myTable{t.String(): t}
	for _, k := range refer {
		switch ours := strings.EqualFold(k.toColumn, key.name); {
		case k.columns > 1:
			return refuse(t, "the foreign key %s of %s.%s has %d columns: only one is supported", k.name, k.schema, k.table, k.columns)
		case ours != j.swapped || !ours && !strings.EqualFold(k.toColumn, key.live.name):
			continue
		}
		r := tables[k.schema+"."+k.table]
		if r == nil {
			if r, err = j.db.read(ctx, k.schema, k.table); err != nil {
				return err
			}
			tables[r.String()] = r
		}
		column, _ := strings.CutSuffix(k.column, uuidSuffix)
		if !j.swapped {
			column = k.column
		}
		live := r.column(column)
		i := slices.IndexFunc(j.members, func(m *myMember) bool { return m.table == r && m.live == live })
		switch {
		case i > 0:
			j.members[i].foreign = append(j.members[i].foreign, k)
		case j.swapped && (live == nil || column == k.column): // its UUIDs are gone, or it never had one
			if j.cfg.Undo {
				return refuse(r, "%s has no UUID beside it any more: there is no way back", k.column)
			}
		default:
			j.members = append(j.members, &myMember{r, live, live.name + uuidSuffix, []myForeign{k}})
		}
	}
	return nil
}

func (j *myUUID) refuse(m *myMember) error {
	t, c := m.table, m.live
	switch {
	case !slices.Contains([]string{"uuid", "char", "varchar", "binary", "varbinary"}, plainType(c.typ)):
		return refuse(t, "%s has the type %s: must be a UUID, a text or binary", c.name, c.typ)
	case badName(c.name) != "":
		return refuse(t, "%q %s", c.name, badName(c.name))
	case len(m.name) > maxName:
		return refuse(t, "%s has a name of %d bytes: the new column's would be too long", c.name, len(c.name))
	case m.shadow() != nil && !j.swapped && m.shadow().comment != uuidMark:
		return refuse(t, "has a column %s that is not of this migration: drop it, or choose another name", m.name)
	}
	for _, g := range t.triggers {
		if !strings.HasPrefix(g.name, uuidTrigger) && g.name != t.keyTrigger(j.members[0].name) {
			return refuse(t, "has the trigger %s, next to which this was not tried", g.name)
		}
	}
	if m == j.members[0] {
		return nil
	}
	for _, k := range t.foreign { // not those of ours, which are like them
		if k.column == c.name && !slices.Contains([]string{"RESTRICT", "NO ACTION"}, k.onUpdate) || k.column == c.name && !slices.Contains([]string{"RESTRICT", "NO ACTION", "CASCADE"}, k.onDelete) {
			return refuse(t, "the foreign key %s has an action that changes %s and fires no trigger", k.name, c.name)
		}
	}
	if slices.Contains(t.primary, c.name) {
		return refuse(t, "%s is in the primary key: programs that use it to find a row would fail", c.name)
	}
	for _, i := range t.indexes {
		if !i.has(c.name) || strings.HasPrefix(i.name, prefix) {
			continue
		}
		odd := slices.ContainsFunc(i.columns, func(p myPart) bool { return p.column == "" })
		switch {
		case i.unique && t != j.members[0].table:
			return refuse(t, "%s is in the unique index %s: programs that use it in ON DUPLICATE KEY would fail", c.name, i.name)
		case i.unique || i.kind != "BTREE" || odd:
			return refuse(t, "the index %s over %s is unique, has an expression or is of the kind %s", i.name, c.name, i.kind)
		}
	}
	return nil
}

func (j *myUUID) started() bool {
	return slices.ContainsFunc(j.members, func(m *myMember) bool { return m.shadow() != nil })
}

func (j *myUUID) plan(p *Plan) {
	key := j.members[0]
	switch {
	case j.cfg.Undo && j.swapped:
		p.Steps = append([]Step{j.swap(key.live.name)}, j.remove()...)
	case j.cfg.Undo && j.started():
		p.Steps = j.remove()
	case j.cfg.Undo:
	case j.swapped:
		p.Steps = j.finish()
	default:
		steps := append(j.addColumns(), j.addIndex(key.table, key.table.idKey(), tick(key.name)))
		steps = append(steps, j.setDefault())
		steps = append(steps, j.keepEqual()...)
		steps = append(steps, j.fill())
		steps = append(steps, j.indexes()...)
		steps = append(steps, j.addIndex(key.table, key.table.uuidKey(), tick(key.live.name)))
		p.Steps = slices.Concat(steps, j.foreignKeys(), []Step{j.swap(key.name)}, j.finish())
		p.Notes = j.notes()
	}
}

func (j *myUUID) notes() []string {
	key := j.members[0]
	notes := []string{
		"The swap rebuilds " + key.table.String() + ", and the step finish each table that refers to it, while programs read and write. The server needs the space of a table again for that, and a replica lags for as long.",
		"A transaction that waits for a step, or updates several rows during the fill, can be the victim of a deadlock (error 1213): try it again, as always.",
		"At the moment when the triggers are made, an INSERT can fail once with error 1305 or 1146, as if the generator or its tables did not exist: run it again.",
		"An INSERT without a list of columns fails as soon as the new column is there.",
		"Foreign keys and indexes of the new columns have other names.",
		"The UUID stays in " + key.table.String() + ", and unique, also after the step finish: drop it when it has no more use.",
	}
	return append(notes, "Programs may insert rows with "+key.live.name+" alone at any time. After the swap, an INSERT of several rows with SELECT gets ids, too.")
}
