//go:build cluster

package cluster

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// A target is a cluster whose primary is killed again and again.
type target interface {
	// about is the programs and their settings, for the table.
	about(t *testing.T) string
	// connect opens a pool by the DSN for clients.
	connect(t *testing.T) *sql.DB
	// ways are the ways to end its primary.
	ways() []way
	// await waits until the cluster survives another end of its primary: with all members,
	// or, if early, with as many as it needs.
	await(t *testing.T, early bool)
	// primary names the member that accepts writes.
	primary(t *testing.T) string
	// table is the statement that creates the writers' table.
	table() string
	// placeholder returns the placeholder of the nth argument, from 1 on.
	placeholder(n int) string
	// duplicate reports whether an insert failed because its key is there.
	duplicate(err error) bool
}

// A way is how a primary can end.
type way struct {
	name  string
	share int  // how many of the kills, against the shares of the others
	early bool // while a member of the kill before may still be away
	// kill ends the primary and waits for its end. repair is called when another one accepts
	// writes, and may be nil.
	kill func(t *testing.T) (repair func())
}

// setting reads a number from the environment.
func setting(t *testing.T, name string, unset uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return unset
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %q is no number", name, text)
	}
	return n
}

// failover kills the primary of a cluster under holders of leases and writers of rows: no id
// is issued twice, ids and rows continue after each kill, and no acknowledged row is lost.
// Environment variables set its length:
//
//	SNOWKEY_FAILOVER_KILLS    the least number of kills, 4 if not set
//	SNOWKEY_FAILOVER_IDS      the least number of ids, 100,000 if not set
//	SNOWKEY_FAILOVER_SECONDS  the least time, 0 if not set
//	SNOWKEY_FAILOVER_SEED     decides how the primary ends each time; the rest is random
//
// A full run asks for 100 kills of each cluster; see doc.go.
func failover(t *testing.T, on target) {
	kills := setting(t, "SNOWKEY_FAILOVER_KILLS", 4)
	ids := int(setting(t, "SNOWKEY_FAILOVER_IDS", 100_000)) //nolint:gosec // of a test
	least := time.Duration(setting(t, "SNOWKEY_FAILOVER_SECONDS", 0)) * time.Second
	seed := setting(t, "SNOWKEY_FAILOVER_SEED", rand.Uint64N(1<<32))
	t.Logf("SNOWKEY_FAILOVER_SEED=%d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	began := time.Now()

	admin := on.connect(t)
	_, err := admin.ExecContext(t.Context(), on.table())
	must(t, err)
	acks := &acknowledged{}
	c := newCrowd(t)
	c.batch = 64
	for i := range 6 { // of which four change
		store := watched{mustNew(sqlstore.New(on.connect(t), sqlstore.Config{})), acks}
		c.join(fmt.Sprint("holder ", i), store, time.Duration(i%3-1)*200*time.Millisecond, i%3 > 0)
	}
	w := newWriters(t, on, c, acks, 3)
	defer func() { w.leave(); c.leave() }()
	c.progress(2)
	w.progress(2)

	f := &figures{}
	for done := uint64(0); done < kills || time.Since(began) < least || f.ids < ids; done++ {
		how := pick(on.ways(), chance)
		on.await(t, how.early)
		f.add(t, how.name, once(t, on, c, w, acks, how))
		duplicates, n := c.ids.twice()
		if f.ids = n; len(duplicates) > 0 {
			p, err := layout.Decode(duplicates[0])
			t.Fatalf("%d ids were issued twice, the first %+v, %v", len(duplicates), p, err)
		}
	}
	on.await(t, false)
	f.rows, f.unknown = w.end()
	t.Logf("%s\n%s", on.about(t), f.table(time.Since(began)))
}

func pick(ways []way, chance *rand.Rand) way {
	all := 0
	for _, w := range ways {
		all += w.share
	}
	n := chance.IntN(all)
	for _, w := range ways {
		if n -= w.share; n < 0 {
			return w
		}
	}
	return way{}
}

// once ends the primary once, and returns the outcome.
func once(t *testing.T, on target, c *crowd, w *writers, acks *acknowledged, how way) (o outcome) {
	t.Helper()
	before := on.primary(t)
	for _, h := range c.holders {
		h.mu.Lock()
		h.idGap, h.lastID = 0, time.Now()
		h.mu.Unlock()
	}
	acks.forget()
	expected := w.acknowledged()
	began := time.Now()
	repair := how.kill(t)
	acks.from(time.Now())
	o.renewal, o.row = acks.await(t, began)
	o.moved = on.primary(t) != before
	if repair != nil {
		repair()
	}
	c.progress(1)
	w.progress(1)
	for _, h := range c.holders {
		if h.steady {
			h.mu.Lock()
			o.gap = max(o.gap, h.idGap)
			h.mu.Unlock()
		}
	}
	o.lost = w.missing(expected)
	return o
}
