package sqlgen

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkInsert compares an INSERT … SELECT of a million rows with bigserial, as the median of ratios of
// rounds in turn.
//
//	go test -run '^$' -bench Insert -benchtime 5x ./internal/integration/sqlgen
func BenchmarkInsert(b *testing.B) {
	conn := connect(b, database(b))
	create(b, conn, orders)
	run(b, conn, "CREATE TABLE bigserial (id bigserial PRIMARY KEY, n int)",
		"CREATE TABLE generator (id bigint PRIMARY KEY DEFAULT snowkey_next('orders'), n int)")
	var ratios []float64
	for b.Loop() {
		took := map[string]time.Duration{}
		for _, table := range []string{"bigserial", "generator"} {
			run(b, conn, "TRUNCATE "+table, "CHECKPOINT")
			start := time.Now()
			run(b, conn, "INSERT INTO "+table+" (n) SELECT n FROM generate_series(1, 1000000) n")
			took[table] = time.Since(start)
		}
		ratios = append(ratios, float64(took["generator"])/float64(took["bigserial"]))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "generator/bigserial")
}
