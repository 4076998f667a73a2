package live

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Trigger is the name of the trigger that package migrate adds. It fires last, and always.
const Trigger = "zz_snow_migrate"

// Silence is the statement with which the triggers of a table stay silent in a transaction.
const Silence = "SET LOCAL session_replication_role = replica"

// A Querier is a *sql.DB, a *sql.Conn or a *sql.Tx.
type Querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// A Filled is a table of PostgreSQL, quoted, and the columns that a fill sets.
type Filled struct {
	Table, Name string // quoted, and as errors show it
	Columns     []string
}

// touched returns what an UPDATE of columns would fire: ordinary triggers, and those that fire in a
// transaction with Silence. It also returns the constraints that such a transaction does not check.
const touched = `WITH r AS (SELECT to_regclass($1)::oid AS oid, coalesce((SELECT array_agg(attnum) FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname IN (SELECT json_array_elements_text($2::json))), '{}') AS columns),
	t AS (SELECT tgname, tgenabled FROM pg_trigger, r WHERE tgrelid = r.oid AND NOT tgisinternal AND tgtype & 16 <> 0 AND tgname <> '` + Trigger + `' AND (cardinality(tgattr::int2[]) = 0 OR tgattr::int2[] && r.columns))
	SELECT json_build_object('plain', (SELECT json_agg(tgname ORDER BY tgname) FROM t WHERE tgenabled IN ('O', 'A')), 'silent', (SELECT json_agg(tgname ORDER BY tgname) FROM t WHERE tgenabled IN ('R', 'A')),
		'unchecked', (SELECT json_agg(conname ORDER BY conname) FROM pg_constraint k, r WHERE (contype = 'f' OR contype IN ('p', 'u', 'x') AND condeferrable) AND (conrelid = r.oid AND conkey && r.columns OR confrelid = r.oid AND confkey && r.columns)))`

// Silent decides how to fill tables of PostgreSQL, so that their own triggers do not fire: they set
// the times of rows, or write to other tables. It returns the triggers that must be silenced, each
// with its table; the transactions of the fill begin with Silence if there are any. If they cannot
// be silenced, the error names them, unless they may fire.
//
// In a transaction with Silence the server checks no foreign key. No row can dangle nevertheless:
// such a transaction sets the new columns alone, and is refused if a constraint is on them. Foreign
// keys of columns that it leaves alone have nothing to check. Transactions of programs check them,
// and wait for a row that the fill has locked, as for any UPDATE.
func Silent(ctx context.Context, q Querier, pkg string, fire bool, tables []Filled) (triggers []string, err error) {
	if fire {
		return nil, nil
	}
	refuse := func(reason string, args ...any) ([]string, error) {
		return nil, Error(pkg, "FireTriggers", false, "the UPDATE trigger %s would fire for each row that is filled. "+reason+". Disable it, or let it fire", append([]any{strings.Join(triggers, ", ")}, args...)...)
	}
	var always, unchecked []string
	for _, t := range tables {
		columns, err := json.Marshal(t.Columns)
		if err != nil {
			return nil, err
		}
		var text string
		if err := q.QueryRowContext(ctx, touched, t.Table, string(columns)).Scan(&text); err != nil {
			return nil, fmt.Errorf("%s: look for triggers of %s: %w", pkg, t.Name, err)
		}
		var found struct{ Plain, Silent, Unchecked []string }
		if err := json.Unmarshal([]byte(text), &found); err != nil {
			return nil, err
		}
		for _, f := range []struct {
			to   *[]string
			from []string
		}{{&triggers, found.Plain}, {&always, found.Silent}, {&unchecked, found.Unchecked}} {
			for _, name := range f.from {
				if name += " of " + t.Name; !slices.Contains(*f.to, name) { // of a table that has two columns to fill
					*f.to = append(*f.to, name)
				}
			}
		}
	}
	switch {
	case len(triggers) == 0:
		return nil, nil
	case len(always) > 0:
		triggers = slices.Compact(slices.Sorted(slices.Values(append(triggers, always...))))
		return refuse("It cannot be silenced, because of ENABLE ALWAYS or ENABLE REPLICA (%s)", strings.Join(always, ", "))
	case len(unchecked) > 0:
		return refuse("While it is silent, nothing checks the constraint %s: drop that for the time of the fill", strings.Join(unchecked, ", "))
	}
	var is string
	err = q.QueryRowContext(ctx, "SELECT set_config('session_replication_role', 'replica', true)").Scan(&is) // until the end of this statement
	switch {
	case SQLState(err) == "42501":
		return refuse("Only a role that may set session_replication_role can silence it: a superuser or, from PostgreSQL 15 on, after GRANT SET ON PARAMETER session_replication_role")
	case err != nil:
		return nil, fmt.Errorf("%s: look for the right to silence triggers: %w", pkg, err)
	}
	return triggers, nil
}
