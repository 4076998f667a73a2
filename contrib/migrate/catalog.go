package migrate

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// PostgreSQL's catalog is read as one JSON document for each table, with keys like the fields below. A
// field Odd says why a migration does not handle the object; empty: it does.

type table struct {
	OID                int64
	Schema, Name, Odd  string
	Columns            []column
	Indexes            []index
	Foreign, Referring []foreignKey // from this table, and to this table
	Triggers           []trigger
	Checks             []string // the names of the migration's constraints
}

type column struct {
	Num                          int
	Name, Type, Default, Comment string
	Identity                     string // ALWAYS, BY DEFAULT or nothing
	Odd, Ends                    string // Ends: how ALTER SEQUENCE lets its sequence count beyond an integer
	NotNull                      bool
	NotNullName                  string     // from PostgreSQL 18 on
	Options                      string     // for statistics, such as n_distinct=-1
	Statistics                   int        // the statistics target; -1: the default
	Sequences                    []sequence // owned by the column, the identity's first
}

type index struct {
	Name, Method, Predicate, Constraint string
	Comment, Remark                     string // of the index, and of the constraint
	Odd                                 string
	Columns                             []indexColumn
	Keys                                int   // the first columns; the others are INCLUDEd
	Within                              []int // columns in expressions and in the predicate; 0: the whole row
	Unique, Primary                     bool
}

type indexColumn struct {
	Num        int // 0: an expression
	Option     int
	Definition string
}

type foreignKey struct {
	Name, Comment, Odd string
	Rest               string // the definition after the columns that it refers to
	Table, To          int64
	Num, ToNum         []int
}

// A sequence is a sequence that a column owns.
type sequence struct {
	Name, Type                        string // Name is quoted, with its schema
	Start, Increment, Min, Max, Cache int64
	Identity, Cycle                   bool
}

type trigger struct {
	Name, Source string // Source: the function's source and the trigger's definition
	Enabled      string // O, A (always), R (in replication) or D (disabled)
	Updates      bool   // an UPDATE of the new columns fires it
}

// foreignJSON selects a foreign key k. If it has one column, Rest is the part of its definition after the
// columns that it refers to.
const foreignJSON = `json_build_object('name', k.conname, 'table', k.conrelid::bigint, 'to', k.confrelid::bigint,
	'num', to_json(k.conkey), 'tonum', to_json(k.confkey),
	'rest', (SELECT substr(pg_get_constraintdef(k.oid), 1 + length(format('FOREIGN KEY (%I) REFERENCES %s(%I)',
			f.attname, k.confrelid::regclass, r.attname)))
		FROM pg_attribute f, pg_attribute r WHERE f.attrelid = k.conrelid AND f.attnum = k.conkey[1]
			AND r.attrelid = k.confrelid AND r.attnum = k.confkey[1]),
	'comment', coalesce(obj_description(k.oid, 'pg_constraint'), ''),
	'odd', CASE WHEN NOT coalesce((to_jsonb(k) ->> 'conenforced')::bool, true) THEN 'is not enforced'
		WHEN to_jsonb(k) ->> 'confdelsetcols' IS NOT NULL THEN 'has a list of columns in its action'
		WHEN EXISTS (SELECT FROM pg_trigger t WHERE t.tgconstraint = k.oid AND t.tgenabled <> 'O')
			THEN 'has triggers that are disabled, or always enabled' ELSE '' END)`

// sequenceJSON lists the sequences that a column owns.
const sequenceJSON = `SELECT json_agg(json_build_object('name', format('%I.%I', sn.nspname, sc.relname),
		'identity', e.deptype = 'i', 'type', format_type(q.seqtypid, NULL), 'start', q.seqstart, 'increment', q.seqincrement,
		'min', q.seqmin, 'max', q.seqmax, 'cache', q.seqcache, 'cycle', q.seqcycle) ORDER BY e.deptype = 'i' DESC, sc.oid)
	FROM pg_depend e JOIN pg_sequence q ON q.seqrelid = e.objid
	JOIN pg_class sc ON sc.oid = e.objid JOIN pg_namespace sn ON sn.oid = sc.relnamespace
	WHERE e.classid = 'pg_class'::regclass AND e.refclassid = 'pg_class'::regclass
		AND e.refobjid = c.oid AND e.refobjsubid = a.attnum AND e.deptype IN ('a', 'i')`

// columnOdd selects Odd for a column a of a table c with a NOT NULL constraint nn. The sequence of an
// identity column is made anew, so it must not have privileges, comments or dependents.
const columnOdd = `CASE WHEN a.attgenerated <> '' THEN 'is a generated column'
	WHEN a.attacl IS NOT NULL THEN 'has privileges, which the new column would not have'
	WHEN EXISTS (SELECT FROM pg_seclabel l WHERE l.classoid = 'pg_class'::regclass AND l.objoid = c.oid
		AND l.objsubid = a.attnum) THEN 'has a security label, which the new column would not have'
	WHEN nn.connoinherit OR NOT nn.convalidated OR obj_description(nn.oid, 'pg_constraint') IS NOT NULL
		THEN format('has the constraint %s, which is NOT VALID or NO INHERIT, or has a comment', nn.conname)
	WHEN a.attidentity <> '' THEN coalesce((SELECT CASE
			WHEN sc.relacl IS NOT NULL OR obj_description(sc.oid, 'pg_class') IS NOT NULL
			THEN format('has the identity sequence %s with privileges or a comment, which would be lost', sc.oid::regclass)
			ELSE (SELECT format('has an identity sequence on which this depends: %s',
					min(pg_describe_object(x.classid, x.objid, x.objsubid)))
				FROM pg_depend x WHERE x.refclassid = 'pg_class'::regclass AND x.refobjid = sc.oid AND x.deptype = 'n'
				HAVING count(*) > 0) END
		FROM pg_depend e JOIN pg_class sc ON sc.oid = e.objid WHERE e.classid = 'pg_class'::regclass AND e.deptype = 'i'
			AND e.refclassid = 'pg_class'::regclass AND e.refobjid = c.oid AND e.refobjsubid = a.attnum), '')
	ELSE '' END`

// columnEnds finds a sequence that the default takes values from, or that the column owns, with a limit that
// the migration would not raise. The migration runs ALTER SEQUENCE … AS bigint for a sequence that the
// column owns, which raises a limit only if it is the limit of the old type.
const columnEnds = `SELECT min(format('%I.%I AS bigint NO %s', sn.nspname, sc.relname,
		CASE WHEN q.seqincrement > 0 THEN 'MAXVALUE' ELSE 'MINVALUE' END))
	FROM pg_sequence q JOIN pg_class sc ON sc.oid = q.seqrelid JOIN pg_namespace sn ON sn.oid = sc.relnamespace,
	LATERAL (SELECT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_class'::regclass AND e.objid = q.seqrelid
			AND e.refclassid = 'pg_class'::regclass AND e.refobjid = c.oid AND e.refobjsubid = a.attnum
			AND e.deptype IN ('a', 'i')) AS owned,
		CASE WHEN q.seqincrement > 0 THEN q.seqmax ELSE -(q.seqmin + 1) END AS last,
		CASE q.seqtypid WHEN 'smallint'::regtype THEN 32767 WHEN 'integer'::regtype THEN 2147483647
			ELSE 9223372036854775807 END AS highest) l
	WHERE (l.owned OR EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_attrdef'::regclass AND e.objid = d.oid
			AND e.refclassid = 'pg_class'::regclass AND e.refobjid = q.seqrelid))
		AND l.last <> CASE WHEN l.owned THEN l.highest ELSE 9223372036854775807 END`

const columnJSON = `json_build_object('num', a.attnum, 'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
	'notnull', a.attnotnull, 'identity', CASE a.attidentity WHEN 'a' THEN 'ALWAYS' WHEN 'd' THEN 'BY DEFAULT' ELSE '' END,
	'default', coalesce(pg_get_expr(d.adbin, d.adrelid), ''), 'comment', coalesce(col_description(c.oid, a.attnum), ''),
	'options', coalesce((SELECT string_agg(o, ', ' ORDER BY o) FROM unnest(a.attoptions) o), ''),
	'statistics', coalesce(a.attstattarget, -1), 'notnullname', coalesce(nn.conname, ''),
	'odd', ` + columnOdd + `, 'ends', coalesce((` + columnEnds + `), ''),
	'sequences', coalesce((` + sequenceJSON + `), '[]'))`

// indexOdd selects Odd for an index i with the class ic and the constraint k.
const indexOdd = `CASE WHEN NOT i.indisvalid OR i.indisexclusion OR k.condeferrable OR i.indisclustered
		OR coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::bool, false)
		OR ic.reloptions IS NOT NULL OR ic.reltablespace <> 0
		OR EXISTS (SELECT FROM unnest(i.indclass::oid[]) o JOIN pg_opclass p ON p.oid = o WHERE NOT p.opcdefault)
		OR pg_get_indexdef(i.indexrelid) LIKE '% COLLATE %'
		OR NOT EXISTS (SELECT FROM pg_opclass p
			WHERE p.opcmethod = ic.relam AND p.opcintype = 'bigint'::regtype AND p.opcdefault)
		OR EXISTS (SELECT FROM pg_attribute x WHERE x.attrelid = ic.oid AND x.attstattarget >= 0)
		OR EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_class'::regclass AND e.objid = ic.oid AND e.deptype = 'x')
	THEN 'is invalid, deferrable, clustered, of an exclusion constraint, of an extension or of a kind without bigint, '
		|| 'or has NULLS NOT DISTINCT, storage parameters, a tablespace, an operator class, a collation or SET STATISTICS'
	ELSE '' END`

const indexJSON = `json_build_object('name', ic.relname, 'keys', i.indnkeyatts, 'method', am.amname,
	'unique', i.indisunique, 'primary', i.indisprimary, 'constraint', coalesce(k.conname, ''),
	'predicate', coalesce(pg_get_expr(i.indpred, i.indrelid), ''),
	'comment', coalesce(obj_description(i.indexrelid, 'pg_class'), ''),
	'remark', coalesce(obj_description(k.oid, 'pg_constraint'), ''), 'odd', ` + indexOdd + `,
	'within', ARRAY(SELECT (regexp_matches(concat(i.indexprs, i.indpred), ':varattno (\d+) ', 'g'))[1]::int),
	'columns', (SELECT json_agg(json_build_object('num', x.num, 'option', coalesce((i.indoption::int2[])[x.i - 1], 0),
			'definition', pg_get_indexdef(i.indexrelid, x.i::int, false)) ORDER BY x.i)
		FROM unnest(i.indkey::int2[]) WITH ORDINALITY x(num, i)))`

const tableOdd = `CASE WHEN n.nspname || c.relname LIKE '%.%' THEN 'has a dot in its name, or in that of its schema'
	WHEN c.relkind <> 'r' OR c.relispartition OR c.relpersistence = 't' OR c.reloftype <> 0
		OR EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid OR inhparent = c.oid)
		OR EXISTS (SELECT FROM pg_rewrite WHERE ev_class = c.oid)
		THEN 'is no ordinary table: it is a view, foreign, partitioned, a partition, temporary, inherited, of a type, '
			|| 'or has a rule'
	WHEN EXISTS (SELECT FROM pg_publication p WHERE p.puballtables OR EXISTS (SELECT FROM pg_publication_tables t
		WHERE t.pubname = p.pubname AND t.schemaname = n.nspname AND t.tablename = c.relname))
		THEN 'is in a publication: a subscriber would not have the new columns'
	WHEN EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = c.oid)
		THEN 'is written by a subscription, whose triggers do not fire'
	WHEN c.relreplident <> 'd' THEN 'has a replica identity that is not the default'
	WHEN NOT pg_has_role(c.relowner, 'USAGE') THEN 'belongs to a role that this user is no member of'
	WHEN c.relrowsecurity AND c.relforcerowsecurity THEN 'has row-level security, which would hide rows from the migration'
	ELSE '' END`

// catalog is the query for one table.
const catalog = `SELECT json_build_object('oid', c.oid::bigint, 'schema', n.nspname, 'name', c.relname,
	'odd', ` + tableOdd + `,
	'checks', ARRAY(SELECT k.conname FROM pg_constraint k
		WHERE k.contype = 'c' AND k.conrelid = c.oid AND k.conname LIKE 'snow\_migrate\_%' ORDER BY 1),
	'columns', coalesce((SELECT json_agg(` + columnJSON + ` ORDER BY a.attnum) FROM pg_attribute a
		LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		LEFT JOIN pg_constraint nn ON nn.contype = 'n' AND nn.conrelid = c.oid AND nn.conkey = ARRAY[a.attnum]
		WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '[]'),
	'indexes', coalesce((SELECT json_agg(` + indexJSON + ` ORDER BY ic.relname)
		FROM pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid JOIN pg_am am ON am.oid = ic.relam
		LEFT JOIN pg_constraint k ON k.conindid = ic.oid AND k.conrelid = c.oid AND k.contype IN ('p', 'u', 'x')
		WHERE i.indrelid = c.oid), '[]'),
	'foreign', coalesce((SELECT json_agg(` + foreignJSON + ` ORDER BY k.conname)
		FROM pg_constraint k WHERE k.contype = 'f' AND k.conrelid = c.oid), '[]'),
	'referring', coalesce((SELECT json_agg(` + foreignJSON + ` ORDER BY rn.nspname, r.relname, k.conname)
		FROM pg_constraint k JOIN pg_class r ON r.oid = k.conrelid JOIN pg_namespace rn ON rn.oid = r.relnamespace
		WHERE k.contype = 'f' AND k.confrelid = c.oid), '[]'),
	'triggers', coalesce((SELECT json_agg(json_build_object('name', t.tgname, 'enabled', t.tgenabled,
			'updates', t.tgtype & 16 <> 0 AND (cardinality(t.tgattr::int2[]) = 0 OR EXISTS (SELECT FROM pg_attribute a
				WHERE a.attrelid = c.oid AND a.attnum = ANY (t.tgattr::int2[]) AND a.attname LIKE '%\_migrate')),
			'source', p.prosrc || ' ' || pg_get_triggerdef(t.oid)) ORDER BY t.tgname)
		FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE t.tgrelid = c.oid AND NOT t.tgisinternal), '[]'))
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = `

// readTable reads a table from the catalog. If there is no such table, it returns the error none. It returns
// an error for a table that a migration does not handle.
func (j *job) readTable(ctx context.Context, none error, condition string, arg any) (*table, error) {
	var text string
	err := j.q.QueryRowContext(ctx, catalog+condition, arg).Scan(&text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, none
	case err != nil:
		return nil, fmt.Errorf("migrate: look at the table %v: %w", arg, err)
	}
	t := new(table)
	if err := json.Unmarshal([]byte(text), t); err != nil {
		return nil, err
	}
	if t.Odd != "" {
		return nil, refuse(t, "%s", t.Odd)
	}
	j.tables[t.OID] = t
	return t, nil
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

// trigger returns the trigger of a migration, or nil.
func (t *table) trigger() *trigger {
	return find(t.Triggers, func(g trigger) bool { return g.Name == ourTrigger })
}

// primary returns the only column of the primary key.
func (t *table) primary() (*column, error) {
	switch i := find(t.Indexes, func(i index) bool { return i.Primary }); {
	case i == nil:
		return nil, refuse(t, "has no primary key")
	case i.Keys > 1:
		return nil, refuse(t, "has a primary key of %d columns: name one of them", i.Keys)
	default:
		return t.byNum(i.Columns[0].Num), nil
	}
}

// quote quotes names for PostgreSQL. Names in the catalog may contain any character.
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
