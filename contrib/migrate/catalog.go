package migrate

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// The catalog of PostgreSQL, as one JSON document for each table, with keys like the fields.

type table struct {
	OID                                                                   int64
	Schema, Name, Kind, Identity, Rule, Publication, Owner                string // Identity: the replica identity
	Temporary, Partition, Inherits, Typed, ForcedRLS, Subscription, Owned bool
	Columns                                                               []column
	Indexes                                                               []index
	Foreign, Referring                                                    []foreignKey // from this table, and to it
	Triggers                                                              []trigger
	Checks                                                                []string   // the names of ours
	Functions                                                             []function // ours, in its schema
}

type function struct{ Name, Comment string }

type column struct {
	Num                          int
	Name, Type, Default, Comment string
	Identity, Generated          string
	NotNull, Privileges, Label   bool
	NotNullName                  string     // from PostgreSQL 18 on
	Options                      string     // of statistics, such as n_distinct=-1
	Statistics                   int        // their target; -1: the default
	Sequences                    []sequence // owned by the column, that of an identity first
	Counts                       bool       // the default has such a sequence
	Unowned, UnownedType         string     // the sequence of the default, if the column does not own it
}

type index struct {
	Name, Method, Predicate, Definition, Constraint                  string
	Comment, Remark                                                  string // of the index, and of the constraint
	Columns                                                          []indexColumn
	Keys                                                             int // the first columns; the others are INCLUDEd
	Unique, NotDist, Valid, Clustered, Primary, Deferrable, Excludes bool
	Odd                                                              bool // an operator class that is not the default, storage parameters or a tablespace
}

type indexColumn struct {
	Num        int // 0: an expression
	Option     int
	Definition string
}

type foreignKey struct {
	Name, OnUpdate, OnDelete, Match, Comment string
	Table, To                                int64
	Num, ToNum                               []int
	Valid, Deferrable, Deferred              bool
	Ignored                                  bool // NOT ENFORCED, in PostgreSQL 18
}

// A sequence is one that a column owns.
type sequence struct {
	Name, Type, Comment               string // the name is quoted, with its schema
	User                              string // an object that depends on it, other than the default of the column
	Start, Increment, Min, Max, Cache int64
	Identity, Cycle, Privileges       bool
}

type trigger struct {
	Name, Source string // of the function, and the trigger's definition
	Disabled     bool
}

const foreignJSON = `json_build_object('name', k.conname, 'table', k.conrelid::bigint, 'to', k.confrelid::bigint, 'num', to_json(k.conkey), 'tonum', to_json(k.confkey), 'valid', k.convalidated,
	'onupdate', k.confupdtype, 'ondelete', k.confdeltype, 'match', k.confmatchtype, 'deferrable', k.condeferrable, 'deferred', k.condeferred,
	'ignored', NOT coalesce((to_jsonb(k) ->> 'conenforced')::bool, true), 'comment', coalesce(obj_description(k.oid, 'pg_constraint'), ''))`

// catalog reads one table.
const catalog = `SELECT json_build_object('oid', c.oid::bigint, 'schema', n.nspname, 'name', c.relname, 'kind', c.relkind, 'temporary', c.relpersistence = 't', 'partition', c.relispartition,
	'inherits', EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid OR inhparent = c.oid), 'identity', c.relreplident, 'typed', c.reloftype <> 0,
	'forcedrls', c.relrowsecurity AND (c.relforcerowsecurity OR NOT pg_has_role(c.relowner, 'USAGE')),
	'rule', coalesce((SELECT min(rulename) FROM pg_rewrite WHERE ev_class = c.oid AND rulename <> '_RETURN'), ''),
	'publication', coalesce((SELECT min(p.pubname) FROM pg_publication p WHERE p.puballtables OR EXISTS (SELECT FROM pg_publication_tables t WHERE t.pubname = p.pubname AND t.schemaname = n.nspname AND t.tablename = c.relname)), ''),
	'subscription', EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = c.oid),
	'checks', coalesce((SELECT json_agg(k.conname ORDER BY k.conname) FROM pg_constraint k WHERE k.contype = 'c' AND k.conrelid = c.oid AND k.conname LIKE 'snow\_migrate\_%'), '[]'),
	'functions', coalesce((SELECT json_agg(json_build_object('name', p.proname, 'comment', coalesce(obj_description(p.oid, 'pg_proc'), '')) ORDER BY p.proname) FROM pg_proc p WHERE p.pronamespace = n.oid AND p.pronargs = 0 AND p.proname LIKE 'snow\_migrate\_%'), '[]'),
	'owned', pg_has_role(c.relowner, 'USAGE'), 'owner', pg_get_userbyid(c.relowner),
	'columns', coalesce((SELECT json_agg(json_build_object('num', a.attnum, 'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'notnull', a.attnotnull, 'identity', a.attidentity, 'generated', a.attgenerated,
			'default', coalesce(pg_get_expr(d.adbin, d.adrelid), ''), 'privileges', a.attacl IS NOT NULL, 'comment', coalesce(col_description(c.oid, a.attnum), ''),
			'label', EXISTS (SELECT FROM pg_seclabel l WHERE l.classoid = 'pg_class'::regclass AND l.objoid = c.oid AND l.objsubid = a.attnum),
			'options', coalesce((SELECT string_agg(o, ', ' ORDER BY o) FROM unnest(a.attoptions) o WHERE o LIKE 'n\_distinct%'), ''), 'statistics', coalesce(a.attstattarget, -1),
			'notnullname', coalesce((SELECT min(k.conname) FROM pg_constraint k WHERE k.contype = 'n' AND k.conrelid = c.oid AND k.conkey = ARRAY[a.attnum]), ''),
			'counts', EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_attrdef'::regclass AND e.objid = d.oid AND e.refclassid = 'pg_class'::regclass AND e.refobjid = ANY (s.oids)),
			'unowned', coalesce(u.name, ''), 'unownedtype', coalesce(u.type, ''), 'sequences', coalesce(s.list, '[]')) ORDER BY a.attnum)
		FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		LEFT JOIN LATERAL (SELECT json_agg(json_build_object('name', format('%I.%I', sn.nspname, sc.relname), 'identity', e.deptype = 'i', 'type', format_type(q.seqtypid, NULL), 'start', q.seqstart, 'increment', q.seqincrement,
				'min', q.seqmin, 'max', q.seqmax, 'cache', q.seqcache, 'cycle', q.seqcycle, 'privileges', sc.relacl IS NOT NULL, 'comment', coalesce(obj_description(sc.oid, 'pg_class'), ''),
				'user', coalesce((SELECT min(pg_describe_object(x.classid, x.objid, x.objsubid)) FROM pg_depend x WHERE x.refclassid = 'pg_class'::regclass AND x.refobjid = sc.oid AND x.deptype = 'n'
					AND NOT (x.classid = 'pg_attrdef'::regclass AND x.objid IS NOT DISTINCT FROM d.oid)), '')) ORDER BY e.deptype = 'i' DESC, sc.oid) AS list, array_agg(sc.oid) AS oids
			FROM pg_depend e JOIN pg_class sc ON sc.oid = e.objid AND sc.relkind = 'S' JOIN pg_namespace sn ON sn.oid = sc.relnamespace JOIN pg_sequence q ON q.seqrelid = sc.oid
			WHERE e.classid = 'pg_class'::regclass AND e.refclassid = 'pg_class'::regclass AND e.refobjid = c.oid AND e.refobjsubid = a.attnum AND e.deptype IN ('a', 'i')) s ON true
		LEFT JOIN LATERAL (SELECT q.seqrelid::regclass::text AS name, format_type(q.seqtypid, NULL) AS type FROM pg_depend e JOIN pg_sequence q ON q.seqrelid = e.refobjid
			WHERE e.classid = 'pg_attrdef'::regclass AND e.objid = d.oid AND e.refclassid = 'pg_class'::regclass AND NOT coalesce(q.seqrelid = ANY (s.oids), false) ORDER BY q.seqtypid = 'bigint'::regtype, 1 LIMIT 1) u ON true
		WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '[]'),
	'indexes', coalesce((SELECT json_agg(json_build_object('name', ic.relname, 'keys', i.indnkeyatts, 'method', am.amname, 'unique', i.indisunique, 'notdist', coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::bool, false),
			'valid', i.indisvalid, 'predicate', coalesce(pg_get_expr(i.indpred, i.indrelid), ''), 'definition', pg_get_indexdef(i.indexrelid), 'clustered', i.indisclustered,
			'odd', ic.reloptions IS NOT NULL OR ic.reltablespace <> 0 OR EXISTS (SELECT FROM unnest(i.indclass::oid[]) o JOIN pg_opclass p ON p.oid = o WHERE NOT p.opcdefault),
			'constraint', coalesce(k.conname, ''), 'primary', i.indisprimary, 'deferrable', coalesce(k.condeferrable, false), 'excludes', i.indisexclusion,
			'comment', coalesce(obj_description(i.indexrelid, 'pg_class'), ''), 'remark', coalesce(obj_description(k.oid, 'pg_constraint'), ''),
			'columns', (SELECT json_agg(json_build_object('num', x.num, 'definition', pg_get_indexdef(i.indexrelid, x.i::int, false), 'option', coalesce((i.indoption::int2[])[x.i - 1], 0)) ORDER BY x.i) FROM unnest(i.indkey::int2[]) WITH ORDINALITY x(num, i))) ORDER BY ic.relname)
		FROM pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid JOIN pg_am am ON am.oid = ic.relam LEFT JOIN pg_constraint k ON k.conindid = ic.oid AND k.conrelid = c.oid AND k.contype IN ('p', 'u', 'x') WHERE i.indrelid = c.oid), '[]'),
	'foreign', coalesce((SELECT json_agg(` + foreignJSON + ` ORDER BY k.conname) FROM pg_constraint k WHERE k.contype = 'f' AND k.conrelid = c.oid), '[]'),
	'referring', coalesce((SELECT json_agg(` + foreignJSON + ` ORDER BY rn.nspname, r.relname, k.conname) FROM pg_constraint k JOIN pg_class r ON r.oid = k.conrelid JOIN pg_namespace rn ON rn.oid = r.relnamespace WHERE k.contype = 'f' AND k.confrelid = c.oid), '[]'),
	'triggers', coalesce((SELECT json_agg(json_build_object('name', t.tgname, 'source', p.prosrc || ' ' || pg_get_triggerdef(t.oid), 'disabled', t.tgenabled = 'D') ORDER BY t.tgname) FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE t.tgrelid = c.oid AND NOT t.tgisinternal), '[]'))
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = `

// readTable reads a table from the catalog; nil: there is none.
func readTable(ctx context.Context, q live.Querier, condition string, arg any) (*table, error) {
	var text string
	err := q.QueryRowContext(ctx, catalog+condition, arg).Scan(&text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("migrate: look at the table %v: %w", arg, err)
	}
	t := new(table)
	return t, json.Unmarshal([]byte(text), t)
}

func (t *table) String() string { return t.Schema + "." + t.Name }

func (t *table) sql() string { return quote(t.Schema, t.Name) }

// find returns the first element that matches, or nil.
func find[T any](list []T, match func(T) bool) *T {
	if i := slices.IndexFunc(list, match); i >= 0 {
		return &list[i]
	}
	return nil
}

func (t *table) column(name string) *column {
	return find(t.Columns, func(c column) bool { return c.Name == name })
}

func (t *table) byNum(num int) *column {
	return find(t.Columns, func(c column) bool { return c.Num == num })
}

func (t *table) index(name string) *index {
	return find(t.Indexes, func(x index) bool { return x.Name == name })
}

// trigger returns the trigger of a migration, or nil.
func (t *table) trigger() *trigger {
	return find(t.Triggers, func(g trigger) bool { return g.Name == live.Trigger })
}

// function returns the function of a migration that has begun, or nil.
func (t *table) function() *function {
	return find(t.Functions, func(f function) bool { return f.Name == short(t.Name) })
}

const (
	versionMark = "snowkey migrate, version " // before the version, in comments on what a migration leaves
	version     = "1"                         // of what a migration leaves in the database
)

// refuseVersion returns an error for a comment of another version.
func (t *table) refuseVersion(comment string) error {
	text, ours := strings.CutPrefix(comment, versionMark)
	if v, _, _ := strings.Cut(text, ":"); ours && v != version {
		return refuse(t, "is in a migration of version %s, and this is for version %s: use the snowkey that began it", v, version)
	}
	return nil
}

// primaryIndex returns the primary key, or nil.
func (t *table) primaryIndex() *index {
	return find(t.Indexes, func(i index) bool { return i.Primary })
}

// primary returns the only column of the primary key.
func (t *table) primary() (*column, error) {
	switch i := t.primaryIndex(); {
	case i == nil:
		return nil, refuse(t, "has no primary key")
	case i.Keys > 1:
		return nil, refuse(t, "has a primary key of %d columns: name one of them", i.Keys)
	default:
		return t.byNum(i.Columns[0].Num), nil
	}
}

// refuse is the error for what a migration does not handle.
func refuse(t fmt.Stringer, reason string, args ...any) error {
	return live.Error("migrate", "Table", t.String(), reason, args...)
}

// quote quotes names for PostgreSQL, as it does itself if they are plain. Names of the catalog may
// contain anything.
func quote(names ...string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return strings.Join(quoted, ".")
}

func literal(text string) string {
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	if strings.Contains(text, `\`) {
		return "E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}
