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
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// expiring is the smallest time to the fence of a sound holder that has the default FenceWindow. It
// renews with 20 seconds or more left.
const expiring = 10 * time.Second

// crowded is the part of the worker IDs that may be held.
const crowded = 0.9

// workers checks the worker IDs of the namespace.
func (e *checkup) workers(ctx context.Context) {
	const name = "worker IDs"
	switch has, err := e.Target.HasLeases(ctx); {
	case err != nil:
		e.report(Warn, name, "cannot be read: "+err.Error(), "let this user read the table snow_lease")
		return
	case !has:
		e.ok(name, "none was ever leased; the first lease creates the tables, or snowkey ddl workers")
		e.generators(ctx, nil)
		return
	}
	store, err := e.Target.Store()
	if err == nil {
		e.state, err = store.List(ctx, e.Namespace)
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
	e.store = store
	e.namespaces(ctx)
	if !e.state.Missing {
		e.incarnation(ctx)
		e.floor()
	}
	workerIDs := e.workerIDs()
	e.checkDuplicates(workerIDs)
	e.checkHolders(workerIDs)
	e.generators(ctx, e.state.Records)
}

// namespaces names all of a database: programs whose namespaces differ, such as order and orders, may
// make the same ids.
func (e *checkup) namespaces(ctx context.Context) {
	names, err := e.Target.Namespaces(ctx)
	if err != nil || len(names) == 0 {
		return
	}
	for i, name := range names {
		names[i] = strconv.Quote(name)
	}
	e.judge(e.state.Missing, Warn, "namespaces", firstFew(names), fmt.Sprintf("%q is not among them: give --namespace", e.Namespace))
}

// length is a number of milliseconds as a duration.
func length(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// incarnation reports which server has granted the last claims.
func (e *checkup) incarnation(ctx context.Context) {
	const name = "incarnation"
	ns, s := e.state.Namespace, e.state
	detail := fmt.Sprintf("%s, since %s", dsn.Printable(ns.Incarnation), timetext.FormatMilli(ns.Since))
	const next = "the next claim raises the floor, and ids then begin ahead of the clock; run snowkey workers list to see the floor"
	switch {
	case ns.Incarnation != s.Server:
		e.report(Warn, name, fmt.Sprintf("%s; now it is %s", detail, dsn.Printable(s.Server)), "the server was restarted, succeeded or restored: "+next)
	case s.Forgot():
		e.report(Warn, name, fmt.Sprintf("%s; %d of %d records of worker IDs are missing", detail, ns.Seen-s.Count, ns.Seen), "records were deleted, or the server was restored: "+next)
	default:
		if sql, ok := e.store.(*sqlstore.Store); ok {
			if _, parts, err := sql.Incarnation(ctx); err == nil {
				detail += ", of " + strings.Join(parts, ", ")
			}
		}
		e.ok(name, "%s", detail)
	}
}

// floor reports where claims begin.
func (e *checkup) floor() {
	ns, step := e.state.Namespace, e.state.Namespace.FenceWindow+e.state.Namespace.MaxSkew
	detail := timetext.FormatMilli(ns.Floor)
	switch ahead := ns.Floor - e.state.Now; {
	case ns.Floor == 0:
		detail = "none"
	case ahead > 0:
		detail += fmt.Sprintf(", %s ahead of the clock: claims begin there", timetext.Length(length(ahead)))
	}
	e.judge(ns.Floor-e.state.Now > 2*step, Warn, "floor", detail,
		fmt.Sprintf("if the server is restarted or succeeded before it is %v ahead, claims are refused until then, or until you run snowkey workers floor --namespace %s", length(step), e.Namespace))
}

// workerIDs compares the layout of the namespace with the given one, and returns how many worker IDs
// it has: a namespace of one datacenter has only its own.
func (e *checkup) workerIDs() int64 {
	const name = "layout of the namespace"
	have, datacenter, one := CutDatacenter(e.state.Namespace.Layout)
	switch want := driver.Fingerprint(e.Layout); {
	case have == "":
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

// CutDatacenter splits what driver.OfDatacenter has joined.
func CutDatacenter(fingerprint string) (layout, datacenter string, one bool) {
	return strings.Cut(fingerprint, " only-datacenter=")
}

// checkDuplicates finds worker IDs that have several rows, such as after a restore without the
// primary key.
func (e *checkup) checkDuplicates(workerIDs int64) {
	const name = "worker IDs held twice"
	seen := map[int64]bool{}
	var doubled, outside []string
	for _, rec := range e.state.Records {
		if seen[rec.Worker] {
			doubled = append(doubled, fmt.Sprint(rec.Worker))
		}
		seen[rec.Worker] = true
		if rec.Worker < 0 || rec.Worker >= workerIDs {
			outside = append(outside, fmt.Sprint(rec.Worker))
		}
	}
	e.judge(len(doubled) > 0, Fail, name, fmt.Sprintf("%s in namespace %q", cmp.Or(firstFew(doubled), "none"), e.Namespace), "the table lacks its primary key (namespace, worker_id): stop all holders, delete the lower rows of each, and add the key")
	if len(outside) > 0 {
		e.report(Fail, "worker IDs outside the layout", firstFew(outside), fmt.Sprintf("it has %d worker IDs: give the flags of the layout of the namespace", workerIDs))
	}
}

// checkHolders checks the holders and the time they have left.
func (e *checkup) checkHolders(workerIDs int64) {
	ns, now := e.state.Namespace, e.state.Now
	highest := max(now, ns.Floor) + ns.FenceWindow + ns.MaxSkew // no sound fence is beyond
	held, leased := 0, 0
	var gone, ending, ahead []string
	for _, rec := range e.state.Records {
		if rec.OfGenerator() { // its fence is the end of the layout
			held++
			continue
		}
		if rec.Fence > highest {
			ahead = append(ahead, fmt.Sprintf("%d (to %s)", rec.Worker, timetext.FormatMilli(rec.Fence)))
		}
		holder := fmt.Sprintf("%d of %s", rec.Worker, dsn.Printable(rec.Owner))
		if !rec.IsHeld(now, ns.MaxSkew) {
			if rec.Status == driver.Held {
				gone = append(gone, holder)
			}
			continue
		}
		held, leased = held+1, leased+1
		switch left := length(rec.Fence - now); {
		case left < 0:
			ending = append(ending, fmt.Sprintf("%s: past its fence, it issues no ids", holder))
		case left < min(expiring, length(ns.FenceWindow)/3):
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
		e.report(Warn, "fences far ahead", firstFew(ahead), "a clock was fast: the worker IDs cannot be claimed until then. If claims are refused, run snowkey workers floor --namespace "+e.Namespace+": ids then begin above these fences")
	}
}

// checkFence compares an id with the fence of its worker ID, and reports whether it is above.
func (e *checkup) checkFence(ctx context.Context, name string, id int64, parts core.Parts) bool {
	if e.store == nil {
		return false
	}
	for range 2 { // the fence rises while the ids are read
		layout, datacenter, one := CutDatacenter(e.state.Namespace.Layout)
		worker := parts.Datacenter<<e.Layout.WorkerBits | parts.Worker
		if one {
			worker = parts.Worker
		}
		i := slices.IndexFunc(e.state.Records, func(rec driver.Record) bool { return rec.Worker == worker })
		at := parts.Time.UnixMilli()
		if layout != driver.Fingerprint(e.Layout) || one && datacenter != strconv.FormatInt(parts.Datacenter, 10) || i < 0 ||
			at < e.state.Records[i].Fence || at < e.state.Namespace.Floor { // below the floor, no later claim repeats it
			return false
		}
		if again, err := e.store.List(ctx, e.Namespace); err == nil {
			e.state = again
		}
	}
	e.report(Fail, name, fmt.Sprintf("%d of %s is above the fence of its worker ID in namespace %q", id, timetext.Format(parts.Time), e.Namespace),
		fmt.Sprintf("the store was put back to an earlier state without noticing it: run snowkey workers floor --namespace %s. Or another namespace has made the id: give --namespace", e.Namespace))
	return true
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
		FROM (SELECT 'snowkey_' || unnest('{generator,marker,raised,lock,cursor,floor,checked,next(text),refill(text),check(),copied(),incarnation(),flush(),ahead_hint(float8),workers(),home(),release(),"claim(bigint[],int)","recover(text,bigint)"}'::text[])) names (part)) parts`
)

// lostSequence finds a sequence among the missing parts. Without it, the issued ids are not known.
var lostSequence = regexp.MustCompile(`_(cursor|floor|checked)\b`)

// generators checks the generator within the database, and the worker IDs that it holds.
func (e *checkup) generators(ctx context.Context, records []driver.Record) {
	const name = "SQL generator"
	if e.Target.Kind != dsn.Postgres {
		return // no other database has one
	}
	var reserved []string
	claims := map[int64]string{}
	for _, rec := range records {
		claims[rec.Worker] = rec.ClaimID
		if rec.OfGenerator() {
			reserved = append(reserved, fmt.Sprintf("%d of %s", rec.Worker, dsn.Printable(rec.Owner)))
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
	err := db.QueryRowContext(ctx, "SELECT namespace, workers, claim_id, version FROM public.snowkey_generator").Scan(&g.namespace, pgtype.NewMap().SQLScanner(&g.workers), &g.claim, &g.version)
	if err == nil && g.missing == "" && g.version == generatorVersion {
		err = db.QueryRowContext(ctx, "SELECT public.snowkey_copied()").Scan(&g.copied)
	}
	if errors.Is(err, sql.ErrNoRows) || err != nil && dsn.NoTable(err) {
		err = nil
	}
	return g, err
}
