package sqlgen

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// The variants of the benchmarks: bigserial is what the others are compared with, and an empty
// function is the least that a default in PL/pgSQL can cost.
var variants = []string{"bigserial", "generator", "function"}

// BenchmarkInsert compares the generator with bigserial, as the median of ratios of rounds in
// turn: rows by one INSERT … SELECT, and rows by single INSERTs of eight clients.
//
//	go test -run '^$' -bench Insert -benchtime 5x ./internal/integration/sqlgen
func BenchmarkInsert(b *testing.B) {
	dsn := database(b)
	conn := connect(b, dsn)
	create(b, conn, orders)
	run(b, conn,
		"CREATE FUNCTION empty() RETURNS bigint LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN 1; END'",
		"CREATE TABLE bigserial (id bigserial PRIMARY KEY, n int)",
		"CREATE TABLE generator (id bigint PRIMARY KEY DEFAULT snowkey_next('orders'), n int)",
		"CREATE TABLE function (id bigserial PRIMARY KEY, n int, one bigint DEFAULT empty())")
	compare := func(b *testing.B, work func(table string)) {
		b.Helper()
		ratios := map[string][]float64{}
		for b.Loop() {
			took := map[string]time.Duration{}
			for _, table := range variants {
				run(b, conn, "TRUNCATE "+table, "CHECKPOINT")
				start := time.Now()
				work(table)
				took[table] = time.Since(start)
			}
			for _, table := range variants[1:] {
				ratios[table] = append(ratios[table], float64(took[table])/float64(took["bigserial"]))
			}
		}
		for table, of := range ratios {
			slices.Sort(of)
			b.ReportMetric(of[len(of)/2], table+"/bigserial")
		}
	}
	b.Run("1e6 rows", func(b *testing.B) {
		compare(b, func(table string) {
			run(b, conn, "INSERT INTO "+table+" (n) SELECT n FROM generate_series(1, 1000000) n")
		})
	})
	b.Run("8 clients", func(b *testing.B) {
		clients := make([]*pgx.Conn, 8)
		for i := range clients {
			clients[i] = connect(b, dsn)
		}
		compare(b, func(table string) {
			var all sync.WaitGroup
			for _, client := range clients {
				all.Go(func() {
					for n := range 500 {
						if _, err := client.Exec(b.Context(), "INSERT INTO "+table+" (n) VALUES ($1)", n); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
		})
	})
}
