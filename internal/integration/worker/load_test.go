//go:build cluster

package worker

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// TestLoad logs what the leases of one namespace cost a PostgreSQL, over the time that SNOWKEY_LEASE_LOAD
// names. Nearly all renewals must be HOT updates, which write to no index.
func TestLoad(t *testing.T) {
	lasts, err := time.ParseDuration(os.Getenv("SNOWKEY_LEASE_LOAD"))
	if err != nil {
		t.Skip("needs SNOWKEY_LEASE_LOAD, a duration such as 11m: two checkpoints")
	}
	for _, n := range []int{1, 100, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			db := open(t, "pgx", testserver.NewPostgres(t).DSN)
			db.SetMaxOpenConns(16)
			store := engines.MustNew(sqlstore.New(db, sqlstore.Config{}))
			leases := hold(t, store, n, 16, worker.Config{ClaimWait: patience}, func(int, time.Duration) {})
			defer giveBack(t, leases, 16)
			read := func() (lsn, records, pages, updates, hot, dead, vacuums, size float64) {
				time.Sleep(2 * time.Second) // sessions report their counts late
				must(t, db.QueryRowContext(t.Context(), `SELECT pg_current_wal_lsn() - '0/0', wal_records, wal_fpi,
					n_tup_upd, n_tup_hot_upd, n_dead_tup, autovacuum_count, pg_relation_size(relid)
					FROM pg_stat_wal, pg_stat_user_tables WHERE relname = 'snow_lease'`).
					Scan(&lsn, &records, &pages, &updates, &hot, &dead, &vacuums, &size))
				return
			}
			time.Sleep(15 * time.Second) // the first renewals are less even
			began := time.Now()
			lsn, records, pages, updates, hot, _, vacuums, size := read()
			for time.Since(began) < lasts {
				time.Sleep(min(lasts, 30*time.Second))
				lsn1, records1, pages1, updates1, hot1, dead, vacuums1, size1 := read()
				s, u := time.Since(began).Seconds(), updates1-updates
				t.Logf("%.0f s: %.2f updates/s, %.1f %% of them HOT", s, u/s, 100*(hot1-hot)/u)
				t.Logf("WAL: %.0f bytes/s, an update %.0f bytes in %.1f records; %.0f full pages",
					(lsn1-lsn)/s, (lsn1-lsn)/u, (records1-records)/u, pages1-pages)
				t.Logf("%.0f dead rows, %.0f vacuums, %.0f KiB after %.0f", dead, vacuums1-vacuums, size1/1024, size/1024)
				if hot1-hot < 0.95*u {
					t.Errorf("of %.0f updates, %.0f are HOT", u, hot1-hot)
				}
			}
		})
	}
}
