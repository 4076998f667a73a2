package pgxload_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
)

// BenchmarkLoad compares Load with two calls of CopyFrom, for 1,000 orders with 10 lines each: the median
// of the ratios of pairs, by the clock, and by the processor's time of the program and the server's
// session, which other programs disturb less.
//
//	go test -run '^$' -bench Load -benchtime 100x ./pgxtype/pgxload
func BenchmarkLoad(b *testing.B) {
	all := makeOrders(1000, 10)
	copies := func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"orders"}, orderColumns, pgx.CopyFromSlice(len(all), func(i int) ([]any, error) {
			o := &all[i]
			return []any{o.ID, o.ParentID, o.Note, o.PlacedAt}, nil
		}))
		if err == nil {
			_, err = tx.CopyFrom(ctx, pgx.Identifier{"lines"}, lineColumns, pgx.CopyFromSlice(10*len(all), func(i int) ([]any, error) {
				l := &all[i/10].Lines[i%10]
				return []any{l.ID, l.OrderID, l.SKU, l.Quantity}, nil
			}))
		}
		return err
	}
	loads := func(ctx context.Context, tx pgx.Tx) error {
		_, err := pgxload.Load(ctx, tx, writeOrders(all))
		return err
	}
	type way struct {
		run          func(ctx context.Context, tx pgx.Tx) error
		s            *shop
		pid          int
		clock, spent []float64 // of each run
	}
	ways := []*way{{run: copies}, {run: loads}}
	for _, w := range ways {
		w.s = newShop(b, pgx.QueryExecModeCacheStatement, true, shopTables)
		w.pid = int(w.s.ask(b, `select pg_backend_pid()::bigint`))
	}
	for b.Loop() {
		for _, w := range ways {
			w.s.exec(b, `truncate orders, lines`)
			start, used := time.Now(), spent(b, w.pid)
			if err := pgx.BeginFunc(b.Context(), w.s.pool, func(tx pgx.Tx) error { return w.run(b.Context(), tx) }); err != nil {
				b.Fatal(err)
			}
			w.clock, w.spent = append(w.clock, time.Since(start).Seconds()), append(w.spent, (spent(b, w.pid)-used).Seconds())
		}
		slices.Reverse(ways)
	}
	if b.N%2 == 1 {
		slices.Reverse(ways)
	}
	ratio := func(of, to []float64) float64 {
		all := make([]float64, len(of))
		for i := range of {
			all[i] = of[i] / to[i]
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	b.ReportMetric(ratio(ways[1].clock, ways[0].clock), "load/copy")
	b.ReportMetric(ratio(ways[1].spent, ways[0].spent), "cpu-load/copy")
	slices.Sort(ways[0].spent)
	slices.Sort(ways[1].spent)
	b.ReportMetric(ways[0].spent[b.N/2]*1e3, "cpu-ms-copy")
	b.ReportMetric(ways[1].spent[b.N/2]*1e3, "cpu-ms-load")
}

// spent is the processor's time of this program and of a session's process.
func spent(b *testing.B, pid int) time.Duration {
	b.Helper()
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		b.Fatal(err)
	}
	var server int64
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err != nil {
		b.Skip("no schedstat: ", err)
	}
	if _, err := fmt.Sscan(string(text), &server); err != nil {
		b.Fatal(err)
	}
	return time.Duration(own.Utime.Nano()+own.Stime.Nano()) + time.Duration(server)
}
