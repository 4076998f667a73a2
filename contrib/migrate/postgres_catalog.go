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

// The catalog of PostgreSQL, as one document for each table.

type pgTable struct {
	OID          int64       `json:"oid"`
	Schema       string      `json:"schema"`
	Name         string      `json:"name"`
	Kind         string      `json:"kind"`
	Temporary    bool        `json:"temporary"`
	Partition    bool        `json:"partition"`
	Inherits     bool        `json:"inherits"`
	Identity     string      `json:"replica_identity"`
	Typed        bool        `json:"typed"`
	ForcedRLS    bool        `json:"forced_rls"`
	Rule         string      `json:"rule"`
	Publication  string      `json:"publication"`
	Subscription bool        `json:"subscription"`
	Owned        bool        `json:"owned"`
	Owner        string      `json:"owner"`
	Columns      []pgColumn  `json:"columns"`
	Indexes      []pgIndex   `json:"indexes"`
	Foreign      []pgForeign `json:"foreign"`   // from this table
	Referring    []pgForeign `json:"referring"` // to this table
	Triggers     []pgTrigger `json:"triggers"`
	Checks       []string    `json:"checks"`    // the names of ours
	Functions    []string    `json:"functions"` // and those in its schema
}

type pgColumn struct {
	Num         int          `json:"num"`
	Name        string       `json:"name"`
	Type        string       `json:"type"`
	NotNull     bool         `json:"not_null"`
	NotNullName string       `json:"not_null_name"` // from PostgreSQL 18 on
	Identity    string       `json:"identity"`
	Generated   string       `json:"generated"`
	Default     string       `json:"default"`
	Sequences   []pgSequence `json:"sequences"`    // owned by the column, that of an identity first
	Counts      bool         `json:"counts"`       // the default has such a sequence
	Unowned     string       `json:"unowned"`      // the sequence of the default, if the column does not own it
	UnownedType string       `json:"unowned_type"` // its type
	Privileges  bool         `json:"privileges"`
	Label       bool         `json:"label"`
	Options     string       `json:"options"`    // of statistics, such as n_distinct=-1
	Statistics  int          `json:"statistics"` // their target; -1: the default
	Comment     string       `json:"comment"`
}

type pgIndex struct {
	Name       string          `json:"name"`
	Columns    []pgIndexColumn `json:"columns"`
	Keys       int             `json:"keys"` // the first columns; the others are INCLUDEd
	Method     string          `json:"method"`
	Unique     bool            `json:"unique"`
	NotDist    bool            `json:"nulls_not_distinct"`
	Valid      bool            `json:"valid"`
	Predicate  string          `json:"predicate"`
	Definition string          `json:"definition"`
	Odd        bool            `json:"odd"` // an operator class that is not the default, storage parameters or a tablespace
	Clustered  bool            `json:"clustered"`
	Constraint string          `json:"constraint"`
	Primary    bool            `json:"primary"`
	Deferrable bool            `json:"deferrable"`
	Excludes   bool            `json:"excludes"`
	Comment    string          `json:"comment"`
	Remark     string          `json:"remark"` // the comment of the constraint
}

type pgIndexColumn struct {
	Num        int    `json:"num"` // 0: an expression
	Definition string `json:"definition"`
	Option     int    `json:"option"`
}

type pgForeign struct {
	Name     string `json:"name"`
	Table    int64  `json:"table"`
	To       int64  `json:"to"`
	Num      []int  `json:"num"`
	ToNum    []int  `json:"to_num"`
	Valid    bool   `json:"valid"`
	OnUpdate string `json:"on_update"`
	OnDelete string `json:"on_delete"`
	Match    string `json:"match"`
	Deferr   bool   `json:"deferrable"`
	Deferred bool   `json:"deferred"`
	Ignored  bool   `json:"ignored"` // NOT ENFORCED, in PostgreSQL 18
	Comment  string `json:"comment"`
}

// A pgSequence is one that a column owns.
type pgSequence struct {
	Name       string `json:"name"`     // quoted, with its schema
	Identity   bool   `json:"identity"` // of an identity column
	Type       string `json:"type"`
	Start      int64  `json:"start"`
	Increment  int64  `json:"increment"`
	Min        int64  `json:"min"`
	Max        int64  `json:"max"`
	Cache      int64  `json:"cache"`
	Cycle      bool   `json:"cycle"`
	Privileges bool   `json:"privileges"`
	Comment    string `json:"comment"`
	User       string `json:"user"` // an object that depends on it, other than the default of the column
}

type pgTrigger struct {
	Name     string `json:"name"`
	Source   string `json:"source"` // of the function, and the trigger's definition
	Disabled bool   `json:"disabled"`
}

const pgForeignJSON = `json_build_object('name', k.conname, 'table', k.conrelid::bigint, 'to', k.confrelid::bigint, 'num', to_json(k.conkey), 'to_num', to_json(k.confkey), 'valid', k.convalidated,
	'on_update', k.confupdtype, 'on_delete', k.confdeltype, 'match', k.confmatchtype, 'deferrable', k.condeferrable, 'deferred', k.condeferred,
	'ignored', NOT coalesce((to_jsonb(k) ->> 'conenforced')::bool, true), 'comment', coalesce(obj_description(k.oid, 'pg_constraint'), ''))`

// pgCatalog reads one table.
const pgCatalog = `SELECT json_build_object('oid', c.oid::bigint, 'schema', n.nspname, 'name', c.relname, 'kind', c.relkind, 'temporary', c.relpersistence = 't', 'partition', c.relispartition,
	'inherits', EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid OR inhparent = c.oid), 'replica_identity', c.relreplident, 'typed', c.reloftype <> 0,
	'forced_rls', c.relrowsecurity AND (c.relforcerowsecurity OR NOT pg_has_role(c.relowner, 'USAGE')),
	'rule', coalesce((SELECT min(rulename) FROM pg_rewrite WHERE ev_class = c.oid AND rulename <> '_RETURN'), ''),
	'publication', coalesce((SELECT min(p.pubname) FROM pg_publication p WHERE p.puballtables OR EXISTS (SELECT FROM pg_publication_tables t WHERE t.pubname = p.pubname AND t.schemaname = n.nspname AND t.tablename = c.relname)), ''),
	'subscription', EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = c.oid),
	'checks', coalesce((SELECT json_agg(k.conname ORDER BY k.conname) FROM pg_constraint k WHERE k.contype = 'c' AND k.conrelid = c.oid AND k.conname LIKE 'snow\_migrate\_%'), '[]'),
	'functions', coalesce((SELECT json_agg(p.proname ORDER BY p.proname) FROM pg_proc p WHERE p.pronamespace = n.oid AND p.pronargs = 0 AND p.proname LIKE 'snow\_migrate\_%'), '[]'),
	'owned', pg_has_role(c.relowner, 'USAGE'), 'owner', pg_get_userbyid(c.relowner),
	'columns', coalesce((SELECT json_agg(json_build_object('num', a.attnum, 'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'not_null', a.attnotnull, 'identity', a.attidentity, 'generated', a.attgenerated,
			'default', coalesce(pg_get_expr(d.adbin, d.adrelid), ''), 'privileges', a.attacl IS NOT NULL, 'comment', coalesce(col_description(c.oid, a.attnum), ''),
			'label', EXISTS (SELECT FROM pg_seclabel l WHERE l.classoid = 'pg_class'::regclass AND l.objoid = c.oid AND l.objsubid = a.attnum),
			'options', coalesce((SELECT string_agg(o, ', ' ORDER BY o) FROM unnest(a.attoptions) o WHERE o LIKE 'n\_distinct%'), ''), 'statistics', coalesce(a.attstattarget, -1),
			'not_null_name', coalesce((SELECT min(k.conname) FROM pg_constraint k WHERE k.contype = 'n' AND k.conrelid = c.oid AND k.conkey = ARRAY[a.attnum]), ''),
			'counts', EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_attrdef'::regclass AND e.objid = d.oid AND e.refclassid = 'pg_class'::regclass AND e.refobjid = ANY (s.oids)),
			'unowned', coalesce(u.name, ''), 'unowned_type', coalesce(u.type, ''), 'sequences', coalesce(s.list, '[]')) ORDER BY a.attnum)
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
	'indexes', coalesce((SELECT json_agg(json_build_object('name', ic.relname, 'keys', i.indnkeyatts, 'method', am.amname, 'unique', i.indisunique, 'nulls_not_distinct', coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::bool, false),
			'valid', i.indisvalid, 'predicate', coalesce(pg_get_expr(i.indpred, i.indrelid), ''), 'definition', pg_get_indexdef(i.indexrelid), 'clustered', i.indisclustered,
			'odd', ic.reloptions IS NOT NULL OR ic.reltablespace <> 0 OR EXISTS (SELECT FROM unnest(i.indclass::oid[]) o JOIN pg_opclass p ON p.oid = o WHERE NOT p.opcdefault),
			'constraint', coalesce(k.conname, ''), 'primary', i.indisprimary, 'deferrable', coalesce(k.condeferrable, false), 'excludes', i.indisexclusion,
			'comment', coalesce(obj_description(i.indexrelid, 'pg_class'), ''), 'remark', coalesce(obj_description(k.oid, 'pg_constraint'), ''),
			'columns', (SELECT json_agg(json_build_object('num', x.num, 'definition', pg_get_indexdef(i.indexrelid, x.i::int, false), 'option', coalesce((i.indoption::int2[])[x.i - 1], 0)) ORDER BY x.i) FROM unnest(i.indkey::int2[]) WITH ORDINALITY x(num, i))) ORDER BY ic.relname)
		FROM pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid JOIN pg_am am ON am.oid = ic.relam LEFT JOIN pg_constraint k ON k.conindid = ic.oid AND k.conrelid = c.oid AND k.contype IN ('p', 'u', 'x') WHERE i.indrelid = c.oid), '[]'),
	'foreign', coalesce((SELECT json_agg(` + pgForeignJSON + ` ORDER BY k.conname) FROM pg_constraint k WHERE k.contype = 'f' AND k.conrelid = c.oid), '[]'),
	'referring', coalesce((SELECT json_agg(` + pgForeignJSON + ` ORDER BY rn.nspname, r.relname, k.conname) FROM pg_constraint k JOIN pg_class r ON r.oid = k.conrelid JOIN pg_namespace rn ON rn.oid = r.relnamespace WHERE k.contype = 'f' AND k.confrelid = c.oid), '[]'),
	'triggers', coalesce((SELECT json_agg(json_build_object('name', t.tgname, 'source', p.prosrc || ' ' || pg_get_triggerdef(t.oid), 'disabled', t.tgenabled = 'D') ORDER BY t.tgname) FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE t.tgrelid = c.oid AND NOT t.tgisinternal), '[]'))
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = `

// postgres reads the catalog.
type postgres struct{ q live.Querier }

var errNoTable = errors.New("there is no such table")

func (p postgres) table(ctx context.Context, condition string, arg any) (*pgTable, error) {
	var text string
	err := p.q.QueryRowContext(ctx, pgCatalog+condition, arg).Scan(&text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, errNoTable
	case err != nil:
		return nil, err
	}
	t := new(pgTable)
	return t, json.Unmarshal([]byte(text), t)
}

func (t *pgTable) String() string { return t.Schema + "." + t.Name }

func (t *pgTable) sql() string { return quote(t.Schema, t.Name) }

func (t *pgTable) column(name string) *pgColumn {
	if i := slices.IndexFunc(t.Columns, func(c pgColumn) bool { return c.Name == name }); i >= 0 {
		return &t.Columns[i]
	}
	return nil
}

func (t *pgTable) byNum(num int) *pgColumn {
	return &t.Columns[slices.IndexFunc(t.Columns, func(c pgColumn) bool { return c.Num == num })]
}

// begun reports whether the function of a migration is there.
func (t *pgTable) begun() bool { return slices.Contains(t.Functions, short(t.Name)) }

func (t *pgTable) index(name string) *pgIndex {
	if i := slices.IndexFunc(t.Indexes, func(x pgIndex) bool { return x.Name == name }); i >= 0 {
		return &t.Indexes[i]
	}
	return nil
}

// primary returns the only column of the primary key.
func (t *pgTable) primary() (*pgColumn, error) {
	for _, i := range t.Indexes {
		if !i.Primary {
			continue
		}
		if i.Keys > 1 {
			return nil, refuse(t, "has a primary key of %d columns: name one of them", i.Keys)
		}
		return t.byNum(i.Columns[0].Num), nil
	}
	return nil, refuse(t, "has no primary key")
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
