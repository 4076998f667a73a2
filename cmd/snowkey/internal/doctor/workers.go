package doctor

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// expiring is the smallest time to the fence of a sound holder. One that renews has 20
// seconds or more.
const expiring = 10 * time.Second

// farAhead is how far ahead a fence may be. A worker ID is not leased beyond it: the
// defaults of MaxLead and FenceWindow in worker.Config.
const farAhead = 90 * time.Second

// crowded is the part of the worker IDs that may be held.
const crowded = 0.9

// workers checks the worker IDs of the namespace.
func (e *checkup) workers(ctx context.Context) {
	const name = "worker IDs"
	if e.Target.Kind.SQL() {
		switch has, err := e.Target.HasWorkers(ctx); {
		case err != nil:
			e.report(Warn, name, "cannot be read: "+err.Error(), "let this user read the table snow_worker")
			return
		case !has:
			e.ok(name, "none was ever leased; the first lease creates the tables, or snowkey ddl workers")
			e.generators(ctx, nil)
			return
		}
	}
	store, err := e.Target.Store(true)
	var rows []driver.Record
	if err == nil {
		rows, err = store.List(ctx, e.Namespace)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		e.skip(name, "the server does not list them; run doctor on its own store")
		return
	}
	if err != nil {
		advice := "without its store no lease is granted or renewed"
		if e.Target.Kind == dsn.HTTP {
			advice = "check the token and the URL, which ends in /leases for snowkey serve"
		}
		e.report(Fail, name, err.Error(), advice)
		return
	}
	workerIDs := e.layout(ctx)
	e.checkDuplicates(rows, workerIDs)
	e.checkHolders(rows, workerIDs)
	e.generators(ctx, rows)
}

// layout compares the layout of the namespace with the given one, and returns how many worker IDs
// it has: a namespace of one datacenter has only its own.
func (e *checkup) layout(ctx context.Context) (workerIDs int64) {
	const name = "layout of the namespace"
	var stored string
	switch {
	case e.Target.Kind == dsn.Redis:
		stored = e.Target.Redis.HGet(ctx, "snowkey:worker:{"+e.Namespace+"}", "layout").Val()
	case e.Target.Kind.SQL():
		layouts, _ := e.Target.Layouts(ctx)
		stored = layouts[e.Namespace]
	}
	// Package worker appends the datacenter to the fingerprint of a namespace of one.
	have, datacenter, one := strings.Cut(stored, " only-datacenter=")
	switch want := driver.Fingerprint(e.Layout); {
	case stored == "":
	case have != want:
		e.report(Fail, name, fmt.Sprintf("%q is for %s, and the flags are for %s", e.Namespace, have, want), "give the layout's flags, or another --namespace: leases of this layout are refused")
	case one:
		e.ok(name, "%q is for datacenter %s of this layout", e.Namespace, dsn.Printable(datacenter))
		return 1 << e.Layout.WorkerBits
	default:
		e.ok(name, "%q is for this layout", e.Namespace)
	}
	return e.Layout.WorkerIDs()
}

// checkDuplicates finds worker IDs that have several rows, such as after a restore without the
// primary key.
func (e *checkup) checkDuplicates(rows []driver.Record, workerIDs int64) {
	const name = "worker IDs held twice"
	seen := map[int64]bool{}
	var doubled, outside []string
	for _, row := range rows {
		if seen[row.Worker] {
			doubled = append(doubled, fmt.Sprint(row.Worker))
		}
		seen[row.Worker] = true
		if row.Worker < 0 || row.Worker >= workerIDs {
			outside = append(outside, fmt.Sprint(row.Worker))
		}
	}
	e.judge(len(doubled) > 0, Fail, name, fmt.Sprintf("%s in namespace %q", cmp.Or(firstFew(doubled), "none"), e.Namespace), "the table lacks its primary key (space, worker): stop all holders, delete the lower rows of each, and add the key")
	if len(outside) > 0 {
		e.report(Fail, "worker IDs outside the layout", firstFew(outside), fmt.Sprintf("it has %d worker IDs: give the flags of the layout of the namespace", workerIDs))
	}
}

// checkHolders checks the holders and the time they have left.
func (e *checkup) checkHolders(rows []driver.Record, workerIDs int64) {
	now := e.Now().Add(e.ahead)
	held, leased := 0, 0
	var gone, ending, ahead []string
	for _, row := range rows {
		if row.OfGenerator() { // its fence is the end of the layout
			held++
			continue
		}
		fence := time.UnixMilli(row.Fence)
		if fence.Sub(now) > farAhead {
			ahead = append(ahead, fmt.Sprintf("%d (to %s)", row.Worker, fence.UTC().Format(time.RFC3339)))
		}
		if row.ClaimID == "" {
			continue
		}
		holder := fmt.Sprintf("%d of %s", row.Worker, dsn.Printable(row.Owner))
		if row.Free(now.UnixMilli()) {
			gone = append(gone, holder)
			continue
		}
		held, leased = held+1, leased+1
		switch left := fence.Sub(now); {
		case left < 0:
			ending = append(ending, fmt.Sprintf("%s: past its fence, it issues no ids", holder))
		case left < expiring:
			ending = append(ending, fmt.Sprintf("%s: %s left", holder, left.Round(100*time.Millisecond)))
		}
	}
	detail := fmt.Sprintf("%d of %d in namespace %q are held", held, workerIDs, e.Namespace)
	e.judge(float64(held) > crowded*float64(workerIDs), Warn, "worker IDs", detail, "nearly all are held: new processes will soon find none")
	if leased > 0 {
		e.judge(len(ending) > 0, Warn, "leases about to expire", cmp.Or(firstFew(ending), "none"), "the holder does not renew: check that it runs and reaches the server; if it is gone, snowkey workers free")
	}
	if len(gone) > 0 {
		e.report(Warn, "expired leases", firstFew(gone), "no action is required: the holder crashed or lost the server, and the worker ID can be claimed")
	}
	if len(ahead) > 0 {
		e.report(Warn, "fences far ahead", firstFew(ahead), "a holder's clock was fast: the worker ID cannot be leased until then")
	}
}

// firstFew joins the first few.
func firstFew(all []string) string {
	const limit = 5
	slices.Sort(all)
	if len(all) > limit {
		return strings.Join(all[:limit], ", ") + fmt.Sprintf(" and %d more", len(all)-limit)
	}
	return strings.Join(all, ", ")
}

// sqlGenerator is a generator of ddl.Generator as it is in the database.
type sqlGenerator struct {
	missing   string // names of its parts
	namespace string
	version   int
	claim     string  // of its worker IDs' records
	workers   []int64 // none: its row is lost
	copied    bool
}

const (
	// generatorName is the usual name. The names of a generator's other objects have the same prefix.
	generatorName = "snowkey_next"
	// generatorVersion is the version whose parts these are.
	generatorVersion = 1
	generatorParts   = `SELECT count(*) FILTER (WHERE has), coalesce(string_agg(part, ', ') FILTER (WHERE NOT has), '') FROM (
		SELECT part, CASE WHEN part LIKE '%)' THEN to_regprocedure('public.' || part) IS NOT NULL ELSE to_regclass('public.' || part) IS NOT NULL END AS has
		FROM (SELECT 'snowkey_' || unnest('{generator,marker,lock,cursor,fence,fence_lsn,safe,next(text),refill(text),check(),copied(),flushed(pg_lsn),nudge(),ahead_hint(float8),workers(),home(),release(),"claim(bigint[],int)"}'::text[])) names (part)) parts`
)

// lostSequence finds a sequence among the missing parts. Without it, the issued ids are not known.
var lostSequence = regexp.MustCompile(`_(cursor|fence|fence_lsn|safe)\b`)

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
		e.report(Warn, name, "cannot be read: "+err.Error(), "let this user read it")
	case g != nil && g.version > generatorVersion:
		e.skip(name, "%s is of version %d: use the doctor of the snowkey that created it", generatorName, g.version)
	case g != nil && g.missing != "":
		advice := again
		if lostSequence.MatchString(g.missing) {
			advice = "run the script of snowkey ddl drop-generator, and then that of snowkey ddl generator"
		}
		e.report(Fail, name, generatorName+" is incomplete, so inserts that need it fail; missing: "+g.missing, advice)
	case g != nil && len(g.workers) == 0:
		e.report(Fail, name, generatorName+" has no worker IDs, so inserts that need it fail", again)
	case g == nil || g.namespace != e.Namespace:
		if len(reserved) > 0 {
			e.report(Warn, name, firstFew(reserved)+" are reserved, and no generator with the usual prefix is in this database", "if it is gone, its worker IDs stay reserved until snowkey ddl drop-generator, run where it is")
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
		detail := fmt.Sprintf("%s has the worker IDs %s", generatorName, firstFew(has))
		if len(lost) > 0 {
			e.report(Fail, name, detail+"; "+firstFew(lost)+" not reserved any more", again)
			return
		}
		e.ok(name, "%s", detail)
	}
}

// sqlGenerator reads the generator with the usual names, of any namespace. It is nil if there is none.
func (e *checkup) sqlGenerator(ctx context.Context) (*sqlGenerator, error) {
	g, found, db := &sqlGenerator{}, 0, e.Target.DB
	if err := db.QueryRowContext(ctx, generatorParts).Scan(&found, &g.missing); err != nil || found == 0 {
		return nil, err
	}
	err := db.QueryRowContext(ctx, "SELECT namespace, workers, token, version FROM public.snowkey_generator").Scan(&g.namespace, pgtype.NewMap().SQLScanner(&g.workers), &g.claim, &g.version)
	if err == nil && g.missing == "" && g.version == generatorVersion {
		err = db.QueryRowContext(ctx, "SELECT public.snowkey_copied()").Scan(&g.copied)
	}
	if errors.Is(err, sql.ErrNoRows) || err != nil && dsn.NoTable(err) {
		err = nil
	}
	return g, err
}
