package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// sqlGenerator is a generator of ddl.Generator as it is in the database.
type sqlGenerator struct {
	name    string // of its function
	claim   string // of its worker IDs' records; empty: it has none
	workers []int64
	copied  bool
	fence   time.Time // zero: unknown
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
	if !g.fence.IsZero() {
		detail += ", and a fence at " + timetext.Format(g.fence.UTC())
	}
	if len(lost) > 0 {
		e.report(Fail, name, detail+"; "+list(lost)+" not reserved any more", "an older snowkey workers free did that: drop the generator and create it again")
		return
	}
	e.ok(name, "%s", detail)
}

// sqlGenerator finds the generator of the namespace: any in MariaDB, where its table has a
// comment, and the one with the usual names in PostgreSQL.
func (e *checkup) sqlGenerator(ctx context.Context) (*sqlGenerator, error) {
	switch e.Target.Kind {
	case dsn.MySQL:
		return e.mariadbGenerator(ctx)
	case dsn.Postgres:
		return e.postgresGenerator(ctx)
	}
	return nil, nil //nolint:nilnil // there is none
}

func (e *checkup) mariadbGenerator(ctx context.Context) (*sqlGenerator, error) {
	var table string
	err := e.Target.DB.QueryRowContext(ctx, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_COMMENT = ?", "snowkey generator of namespace "+e.Namespace).Scan(&table)
	if err != nil {
		return nil, none(err)
	}
	prefix := strings.TrimSuffix(table, "generator")
	var quoted [3]string
	for i, name := range []string{"generator", "home", "ready"} {
		if quoted[i], err = ddl.MySQL.Quote(prefix + name); err != nil {
			return nil, err
		}
	}
	g := &sqlGenerator{name: prefix + "next"}
	var workers, claim sql.NullString
	var at sql.NullInt64
	err = e.Target.DB.QueryRowContext(ctx, "SELECT GROUP_CONCAT(worker ORDER BY worker), MIN(claim), COALESCE(MIN(home) <> "+quoted[1]+"() OR MIN(table_id) <> "+
		"(SELECT TABLE_ID FROM information_schema.INNODB_SYS_TABLES WHERE NAME = CONCAT(DATABASE(), '/', ?)), FALSE), "+
		"(SELECT AUTO_INCREMENT - 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?) FROM "+quoted[0], prefix+"ready", prefix+"fence").
		Scan(&workers, &claim, &g.copied, &at)
	if err != nil {
		return nil, err
	}
	g.claim = claim.String
	if at.Int64 > 0 {
		g.fence = time.UnixMilli(at.Int64)
	}
	g.workers, err = integers(workers.String)
	return g, err
}

func (e *checkup) postgresGenerator(ctx context.Context) (*sqlGenerator, error) {
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
