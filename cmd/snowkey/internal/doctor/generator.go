package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// sqlGenerator is a generator of ddl.Generator as it is in the database.
type sqlGenerator struct {
	name    string // of its function
	claim   string // of its worker IDs' records; empty: it has none
	workers []int64
	copied  bool
}

// generators checks the worker IDs that generators within the database hold.
func (e *checkup) generators(ctx context.Context, rows []driver.Record) {
	const name = "SQL generator"
	var reserved []string
	claims := map[int64]string{}
	for _, row := range rows {
		claims[row.Worker] = row.ClaimID
		if row.OfGenerator() {
			reserved = append(reserved, fmt.Sprintf("%d of %s", row.Worker, dsn.Printable(row.Owner)))
		}
	}
	g, err := e.sqlGenerator(ctx)
	switch {
	case err != nil && len(reserved) > 0:
		e.skip(name, "%s are reserved; the generator is not visible: %v", list(reserved), err)
		return
	case g == nil && len(reserved) > 0:
		e.report(Warn, name, list(reserved)+" are reserved, and no generator with the usual prefix is in this database", "if it is gone, its worker IDs stay reserved until snowkey ddl drop-generator, run where it is")
		return
	case g == nil || err != nil:
		return
	case g.claim == "":
		e.report(Fail, name, g.name+" has no worker IDs, so inserts that need it fail", "run the script of snowkey ddl generator again")
		return
	case g.copied:
		e.report(Fail, name, g.name+" is a copy, so inserts that need it fail: its worker IDs belong to the original", "run the script of snowkey ddl generator with --worker and other worker IDs")
		return
	}
	var lost, has []string
	for _, id := range g.workers {
		has = append(has, strconv.FormatInt(id, 10))
		if claims[id] != g.claim {
			lost = append(lost, strconv.FormatInt(id, 10))
		}
	}
	detail := fmt.Sprintf("%s has the worker IDs %s", g.name, list(has))
	if len(lost) > 0 {
		e.report(Fail, name, detail+"; "+list(lost)+" not reserved any more", "an older snowkey workers free did that: drop the generator and create it again")
		return
	}
	e.ok(name, "%s", detail)
}

// sqlGenerator finds the generator of the namespace: the one with the usual names, if there is one.
func (e *checkup) sqlGenerator(ctx context.Context) (*sqlGenerator, error) {
	var has bool
	if err := e.Target.DB.QueryRowContext(ctx, "SELECT to_regprocedure('public.snowkey_copied()') IS NOT NULL").Scan(&has); err != nil || !has {
		return nil, err
	}
	g := &sqlGenerator{name: "snowkey_next"}
	var workers string
	err := e.Target.DB.QueryRowContext(ctx, "SELECT array_to_string(workers, ','), token, COALESCE(public.snowkey_copied(), FALSE) FROM public.snowkey_generator WHERE namespace = $1", e.Namespace).
		Scan(&workers, &g.claim, &g.copied)
	if err != nil {
		return nil, none(err)
	}
	g.workers, err = integers(workers)
	return g, err
}

// none is nil for a query without rows.
func none(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
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
