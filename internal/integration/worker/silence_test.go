package worker

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// A network that falls silent leaves a pool of connections that never answer again, and lib/pq does
// not heed contexts. When the network is back, so are the ids, although neither the calls that hang
// nor the connections have ended.
func TestSilence(t *testing.T) {
	const pool, silent, limit = 24, 25 * time.Second, 25 * time.Second
	for _, c := range []struct {
		driver string
		leases int
	}{{"postgres", 1}, {"postgres", 8}, {"pgx", 1}, {"pgx", 8}} {
		t.Run(fmt.Sprint(c.driver, " ", c.leases), func(t *testing.T) {
			t.Parallel() // it waits, mostly
			db, link, _ := linkedSQL(t, c.driver)
			gens := hold(t, engines.MustNew(sqlstore.New(db, sqlstore.Config{})), c.leases, c.leases, worker.Config{ClaimWait: patience}, func(int, time.Duration) {})
			db.SetMaxIdleConns(pool)
			warm(t, db, pool)
			link.Silence()
			time.Sleep(silent)
			link.Mend()
			mended := time.Now()
			await(t, "renewal of each", renewed(gens))
			took := time.Since(mended)
			t.Logf("renewed %v after the network's return", took.Round(time.Millisecond))
			if took > limit {
				t.Errorf("renewed only %v after the network's return: %+v", took, gens[0].Stats())
			}
			giveBack(t, gens, c.leases)
		})
	}
}

// renewed reports whether each lease has been renewed since.
func renewed(gens []*worker.Generator) func() bool {
	var before []uint64
	for _, gen := range gens {
		before = append(before, gen.Stats().Renewals)
	}
	return func() bool {
		for i, gen := range gens {
			if gen.Stats().Renewals == before[i] {
				return false
			}
		}
		return true
	}
}

// warm opens so many connections of a pool.
func warm(t *testing.T, db *sql.DB, n int) {
	t.Helper()
	for range n {
		conn, err := db.Conn(t.Context())
		must(t, err)
		defer conn.Close()
	}
}
