package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// sqlGenerator is a generator of ddl.Generator as it is in the database.
type sqlGenerator struct {
	missing   []string // of its objects
	namespace string   // empty: it has no worker IDs
	version   int
	claim     string // of its worker IDs' records
	workers   []int64
	copied    bool
}

// generatorName is the usual name, which every object of a generator has without its prefix.
const generatorName = "snowkey_next"

// generators checks the generator within the database, and the worker IDs that it holds.
func (e *checkup) generators(ctx context.Context, rows []driver.Record) {
	const name = "SQL generator"
	if e.Target.Kind != dsn.Postgres {
		return // no other database has one
	}
	var reserved []string
	claims := map[int64]string{}
	for _, row := range rows {
		claims[row.Worker] = row.ClaimID
		if row.OfGenerator() {
			reserved = append(reserved, fmt.Sprintf("%d of %s", row.Worker, dsn.Printable(row.Owner)))
		}
	}
	const again = "run the script of snowkey ddl generator again"
	g, err := e.sqlGenerator(ctx)
	switch {
	case err != nil:
		e.skip(name, "it is not visible: %v", err)
	case g != nil && g.version > ddlVersion:
		e.skip(name, "%s is of version %d: use the snowkey that created it", generatorName, g.version)
	case g != nil && len(g.missing) > 0:
		advice := again
		if strings.Contains(strings.Join(g.missing, " "), "sequence") {
			advice = "run the script of snowkey ddl drop-generator, and then that of snowkey ddl generator"
		}
		e.report(Fail, name, generatorName+" is incomplete, so inserts that need it fail; missing: "+list(g.missing), advice)
	case g != nil && g.namespace == "":
		e.report(Fail, name, generatorName+" has no worker IDs, so inserts that need it fail", again)
	case g == nil || g.namespace != e.Namespace:
		if len(reserved) > 0 {
			e.report(Warn, name, list(reserved)+" are reserved, and no generator with the usual prefix is in this database", "if it is gone, its worker IDs stay reserved until snowkey ddl drop-generator, run where it is")
		}
	case g.copied:
		e.report(Fail, name, generatorName+" is a copy, so inserts that need it fail: its worker IDs belong to the original", "run the script of snowkey ddl generator with --worker and other worker IDs")
	default:
		var lost, has []string
		for _, id := range g.workers {
			has = append(has, strconv.FormatInt(id, 10))
			if claims[id] != g.claim {
				lost = append(lost, strconv.FormatInt(id, 10))
			}
		}
		detail := fmt.Sprintf("%s has the worker IDs %s", generatorName, list(has))
		if len(lost) > 0 {
			e.report(Fail, name, detail+"; "+list(lost)+" not reserved any more", again)
			return
		}
		e.ok(name, "%s", detail)
	}
}

// ddlVersion is that of the generators of package ddl.
const ddlVersion = 1

// generatorObjects are what package ddl creates, without the prefix.
const generatorObjects = "table generator,table marker,view lock,sequence cursor,sequence fence,sequence fence_lsn,sequence safe," +
	"function next,function claim,function release,function refill,function ahead_hint,function check,function copied,function nudge,function flushed,function workers,function home"

// sqlGenerator finds the generator with the usual names, of any namespace. It is nil if there is
// none of its objects.
func (e *checkup) sqlGenerator(ctx context.Context) (*sqlGenerator, error) {
	const objects = `SELECT count(*) FILTER (WHERE has), coalesce(string_agg(what || ' ' || name, ',') FILTER (WHERE NOT has), '') FROM (
		SELECT what, name, CASE what WHEN 'function' THEN EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace = n.oid AND p.proname = o.name)
			ELSE EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relnamespace = n.oid AND c.relname = o.name) END AS has
		FROM (SELECT split_part(w, ' ', 1) AS what, 'snowkey_' || split_part(w, ' ', 2) AS name FROM unnest(string_to_array($1, ',')) w) o,
			(SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'public') n) f`
	var found int
	var missing string
	if err := e.Target.DB.QueryRowContext(ctx, objects, generatorObjects).Scan(&found, &missing); err != nil || found == 0 {
		return nil, err
	}
	g := &sqlGenerator{}
	if missing != "" {
		g.missing = strings.Split(missing, ",")
	}
	if slices.Contains(g.missing, "table snowkey_generator") {
		return g, nil
	}
	err := e.Target.DB.QueryRowContext(ctx, "SELECT version FROM public.snowkey_generator").Scan(&g.version)
	if errors.Is(err, sql.ErrNoRows) {
		return g, nil
	}
	if err != nil || g.version > ddlVersion || len(g.missing) > 0 {
		return g, err
	}
	var workers string
	err = e.Target.DB.QueryRowContext(ctx, "SELECT namespace, array_to_string(workers, ','), token, public.snowkey_copied() FROM public.snowkey_generator").
		Scan(&g.namespace, &workers, &g.claim, &g.copied)
	if err != nil {
		return nil, err
	}
	g.workers, err = integers(workers)
	return g, err
}

// integers parses a list with commas.
func integers(text string) (all []int64, err error) {
	for one := range strings.SplitSeq(text, ",") {
		if one == "" {
			continue
		}
		n, err := strconv.ParseInt(one, 10, 64)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}
