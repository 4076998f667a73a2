package stores

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// The load of 1,024 holders on one PostgreSQL. One operation of "acquire" is all of them, one
// of "steady" is a second of renewals, so a minute of the defaults is
//
//	go test -run '^$' -bench 'ManyHolders/steady/renew=10s' -benchtime 60x ./stores
func BenchmarkManyHolders(b *testing.B) {
	const numbers, connections = 1024, 32
	server := testserver.Postgres(b)
	start := func(b *testing.B) (driver.Store, *sql.DB) {
		db := open(b, "pgx", inDatabase(b, server.DSN))
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections)
		store := mustNew(sqlstore.New(db, sqlstore.Config{AllowDataLoss: true}))
		if _, err := store.List(b.Context(), "default"); err != nil { // makes the tables
			b.Fatal(err)
		}
		return store, db
	}
	for _, atOnce := range []int{1, connections} {
		b.Run(fmt.Sprintf("acquire/at_once=%d", atOnce), func(b *testing.B) {
			store, _ := start(b)
			var all []time.Duration
			for i := range b.N {
				took := make([]time.Duration, numbers)
				leases := hold(b, store, numbers, atOnce, worker.Config{Namespace: fmt.Sprint("s", i)}, func(i int, d time.Duration) { took[i] = d })
				b.StopTimer()
				all = append(all, took...)
				giveBack(b, leases, connections)
				b.StartTimer()
			}
			slices.Sort(all)
			b.ReportMetric(ms(all[len(all)/2]), "p50-ms")
			b.ReportMetric(ms(all[len(all)*99/100]), "p99-ms")
			b.ReportMetric(ms(all[len(all)-1]), "max-ms")
		})
	}
	for _, renew := range []time.Duration{time.Second, 10 * time.Second} {
		b.Run(fmt.Sprintf("steady/renew=%v", renew), func(b *testing.B) {
			store, db := start(b)
			slow := new(timed)
			slow.Store = store
			leases := hold(b, slow, numbers, connections, worker.Config{FenceWindow: 3 * renew, RenewInterval: renew, ClaimWait: time.Minute}, func(int, time.Duration) {})
			defer giveBack(b, leases, connections)
			for range 2 { // so that those that were acquired at once are apart
				time.Sleep(renew)
			}
			sum := func(of func(worker.Stats) uint64) (n uint64) {
				for _, lease := range leases {
					n += of(lease.Stats())
				}
				return n
			}
			renewals := func(st worker.Stats) uint64 { return st.Renewals }
			before, cpu := sum(renewals), postgresCPU(b, db)
			slow.nanoseconds.Store(0)
			b.ResetTimer()
			began := time.Now()
			for range b.N {
				time.Sleep(time.Second)
			}
			seconds := time.Since(began).Seconds()
			b.StopTimer()
			n := float64(sum(renewals) - before)
			b.ReportMetric(n/seconds, "writes/s")
			b.ReportMetric(100*(postgresCPU(b, db)-cpu).Seconds()/seconds, "%-of-a-core")
			b.ReportMetric(float64(slow.nanoseconds.Load())/1e6/n, "ms/renewal")
			b.ReportMetric(float64(sum(func(st worker.Stats) uint64 { return st.Failures + st.Losses })), "failures")
		})
	}
}

// timed adds up the time of renewals.
type timed struct {
	driver.Store
	nanoseconds atomic.Int64
}

func (s *timed) Renew(ctx context.Context, r driver.Renewal) error {
	began := time.Now()
	defer func() { s.nanoseconds.Add(int64(time.Since(began))) }()
	return s.Store.Renew(ctx, r)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// postgresCPU returns the CPU time of all processes of a PostgreSQL on this machine, including
// those that have ended. It works on Linux only.
func postgresCPU(b *testing.B, db *sql.DB) time.Duration {
	b.Helper()
	var pid int
	if err := db.QueryRow("SELECT pg_backend_pid()").Scan(&pid); err != nil {
		b.Fatal(err)
	}
	// After the name: state, parent; the 12th to the 15th are what was used, by itself as
	// user and in the kernel, and by its children that ended.
	stat := func(pid int) []int {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return nil
		}
		words := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		n := make([]int, len(words))
		for i, word := range words {
			n[i], _ = strconv.Atoi(word) // the state is no number
		}
		return n
	}
	child := stat(pid)
	if child == nil {
		b.Skip("no processor times without /proc, or of a server on another machine")
	}
	postmaster := child[1]
	own := stat(postmaster)
	ticks := own[11] + own[12] + own[13] + own[14]
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if n := stat(pid); n != nil && n[1] == postmaster {
			ticks += n[11] + n[12]
		}
	}
	return time.Duration(ticks) * time.Second / 100 // USER_HZ
}

// The cost of a renewal in MySQL and MariaDB in a transaction of its own, which works with any
// autocommit, and without one.
func BenchmarkRenew(b *testing.B) {
	for i, server := range testserver.MySQLs(b) {
		for _, params := range []string{"", "?interpolateParams=true"} {
			name := fmt.Sprintf("%d%s", i, strings.ReplaceAll(params, "?", "/"))
			db := open(b, "mysql", server.DSN+params)
			db.SetMaxOpenConns(1)
			table := fmt.Sprintf("bench_%d", time.Now().UnixNano())
			store := mustNew(sqlstore.New(db, sqlstore.Config{Dialect: sqlstore.MySQL, Table: table, AllowDataLoss: true}))
			r := driver.Request{
				Namespace: "x", Layout: driver.Fingerprint(core.Twitter()), WorkerIDs: 1024, Preferred: -1, Exclude: -1, ClaimID: "token", Owner: "test",
				Now: time.Now().UnixMilli(), FenceWindow: 1000, TTL: 60_000, MaxSkew: 600_000, MaxLead: 1 << 40,
			}
			c, err := store.Claim(b.Context(), r)
			if err != nil {
				b.Fatal(err)
			}
			until := c.Fence
			questions := func() (n int) {
				b.Helper()
				if err := db.QueryRow("SHOW SESSION STATUS LIKE 'Questions'").Scan(new(string), &n); err != nil {
					b.Fatal(err)
				}
				return n
			}
			b.Run(name+"/store", func(b *testing.B) {
				before := questions()
				for b.Loop() {
					until++
					if err := store.Renew(b.Context(), driver.Renewal{Namespace: r.Namespace, Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: r.ClaimID, Fence: until, TTL: r.TTL}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(questions()-before-1)/float64(b.N), "questions/op")
			})
			b.Run(name+"/autocommit", func(b *testing.B) {
				before := questions()
				for b.Loop() {
					until++
					result, err := db.Exec("UPDATE "+table+" SET until_ts = CASE WHEN until_ts < ? THEN ? ELSE until_ts END, expires_at = (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000) + ?"+
						" WHERE space = ? AND worker = ? AND epoch = ? AND token = ?", until, until, r.TTL, r.Namespace, c.Worker, c.FencingToken, r.ClaimID)
					if err != nil {
						b.Fatal(err)
					}
					if n, err := result.RowsAffected(); err != nil || n != 1 {
						b.Fatal(n, err)
					}
				}
				b.ReportMetric(float64(questions()-before-1)/float64(b.N), "questions/op")
			})
			if _, err := db.Exec("DROP TABLE " + table + ", " + table + "_space"); err != nil {
				b.Error(err)
			}
		}
	}
}
