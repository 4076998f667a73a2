package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// runningOut is how little a holder's span may have left. One that renews as it
// should has 20 seconds or more.
const runningOut = 10 * time.Second

// farAhead is how far ahead a bound may lie. A number beyond is not given until then:
// worker.Config's MaxLead and Window by default.
const farAhead = 90 * time.Second

// crowded is which part of the numbers may be held.
const crowded = 0.9

// numbers looks at the worker numbers of the space.
func (e *examination) numbers(ctx context.Context) {
	const name = "worker numbers"
	if e.Target.Kind.SQL() {
		there, err := e.hasTable(ctx)
		if err != nil {
			e.tell(Warn, name, "cannot be read: "+err.Error(), "let this user read the table snow_worker")
			return
		}
		if !there {
			e.ok(name, "none was ever leased; the first lease makes its tables, or snowkey ddl workers")
			return
		}
	}
	store, err := e.Target.Store(dsn.StoreOptions{NoCreate: true, AllowLossy: true})
	var rows []driver.Record
	if err == nil {
		rows, err = store.List(ctx, e.Space)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		e.skip(name, "the server does not list them; run doctor on its own database")
		return
	}
	if err != nil {
		advice := "without its store no lease is granted or renewed"
		if e.Target.Kind == dsn.HTTP {
			advice = "see whether the token is right, and the URL, which for a snowkey serve ends in /leases"
		}
		e.tell(Fail, name, err.Error(), advice)
		return
	}
	e.layout(ctx)
	e.twice(rows)
	e.holders(rows)
}

// layout compares the layout of the space with the one that was given.
func (e *examination) layout(ctx context.Context) {
	const name = "layout of the space"
	var have string
	switch e.Target.Kind {
	case dsn.Redis:
		have, _ = e.Target.Redis.HGet(ctx, "snowkey:worker:{"+e.Space+"}", "layout").Result()
	case dsn.Postgres:
		_ = e.Target.DB.QueryRowContext(ctx, "SELECT layout FROM snow_worker_space WHERE space = $1", e.Space).Scan(&have)
	case dsn.MySQL, dsn.SQLite:
		_ = e.Target.DB.QueryRowContext(ctx, "SELECT layout FROM snow_worker_space WHERE space = ?", e.Space).Scan(&have)
	}
	switch want := driver.Fingerprint(e.Layout); {
	case have == "":
	case have != want:
		e.tell(Fail, name, fmt.Sprintf("%q is for %s, and this is %s", e.Space, have, want), "give the layout's flags, or another --space: leases of this layout are refused")
	default:
		e.ok(name, "%q is for this layout", e.Space)
	}
}

// twice looks for numbers that stand in the table more than once, as after a restore
// without its key.
func (e *examination) twice(rows []driver.Record) {
	const name = "numbers held twice"
	seen := map[int64]bool{}
	var doubled, outside []string
	for _, row := range rows {
		if seen[row.Worker] {
			doubled = append(doubled, fmt.Sprint(row.Worker))
		}
		seen[row.Worker] = true
		if row.Worker < 0 || row.Worker >= e.Layout.WorkerIDs() {
			outside = append(outside, fmt.Sprint(row.Worker))
		}
	}
	if len(doubled) > 0 {
		e.tell(Fail, name, fmt.Sprintf("%s in space %q", list(doubled), e.Space), "the table lacks its primary key (space, worker): end all holders, remove the lower rows of each, and add the key")
	} else {
		e.ok(name, "none in space %q", e.Space)
	}
	if len(outside) > 0 {
		e.tell(Fail, "numbers outside the layout", list(outside), fmt.Sprintf("it has %d numbers: give the flags of the layout the space is for", e.Layout.WorkerIDs()))
	}
}

// holders looks at who holds what, and for how long still.
func (e *examination) holders(rows []driver.Record) {
	now := e.Now().Add(e.ahead)
	held := 0
	var gone, ending, ahead []string
	for _, row := range rows {
		until := time.UnixMilli(row.Fence)
		if until.Sub(now) > farAhead {
			ahead = append(ahead, fmt.Sprintf("%d (to %s)", row.Worker, until.UTC().Format(time.RFC3339)))
		}
		if row.ClaimID == "" {
			continue
		}
		who := fmt.Sprintf("%d of %s", row.Worker, clean(row.Owner))
		switch left := until.Sub(now); {
		case row.Free(now.UnixMilli()):
			gone = append(gone, who)
		case left < 0:
			held++
			ending = append(ending, fmt.Sprintf("%s: its span is over, it makes no ids", who))
		case left < runningOut:
			held++
			ending = append(ending, fmt.Sprintf("%s: %s left", who, left.Round(100*time.Millisecond)))
		default:
			held++
		}
	}
	detail := fmt.Sprintf("%d of %d in space %q are held", held, e.Layout.WorkerIDs(), e.Space)
	if float64(held) > crowded*float64(e.Layout.WorkerIDs()) {
		e.tell(Warn, "worker numbers", detail, "nearly all are held: soon none is left for a new process")
	} else {
		e.ok("worker numbers", "%s", detail)
	}
	if len(ending) > 0 {
		e.tell(Warn, "leases about to run out", list(ending), "its holder does not renew: see whether it still runs and reaches the server; if it is gone, snowkey workers free")
	} else if held > 0 {
		e.ok("leases about to run out", "none")
	}
	if len(gone) > 0 {
		e.tell(Warn, "leases that ran out", list(gone), "nothing need be done: the holder crashed or lost the server, and another may take the number")
	}
	if len(ahead) > 0 {
		e.tell(Warn, "bounds far ahead", list(ahead), "a holder's clock was fast: the number is not given until then")
	}
}

// list names a few, and how many more there are.
func list(all []string) string {
	const most = 5
	slices.Sort(all)
	if len(all) > most {
		return strings.Join(all[:most], ", ") + fmt.Sprintf(" and %d more", len(all)-most)
	}
	return strings.Join(all, ", ")
}

// clean is what a stranger wrote, without what a terminal would obey.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}
