package gormplugin_test

import (
	"fmt"
	"testing"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// BenchmarkAssign gives keys to masters with ten details each. The time for a
// row is to stay as it is however many there are.
func BenchmarkAssign(b *testing.B) {
	for _, masters := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(masters, "x10"), func(b *testing.B) {
			db := dry(b, gormplugin.Config{Source: &counter{}})
			orders := make([]Order, masters)
			for i := range orders {
				orders[i].Lines = make([]Line, 10)
			}
			for b.Loop() {
				for i := range orders {
					orders[i].ID = 0
					for k := range orders[i].Lines {
						orders[i].Lines[k] = Line{}
					}
				}
				if err := gormplugin.Assign(b.Context(), db, orders); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*masters*11), "ns/row")
		})
	}
}

// BenchmarkAssignByHand is sqltype.Assign for the same rows, which is told by
// functions what gorm's schema tells here.
func BenchmarkAssignByHand(b *testing.B) {
	type line struct{ id, orderID sqltype.ID }
	type order struct {
		id    sqltype.ID
		lines []line
	}
	const masters = 1000
	orders := make([]order, masters)
	for i := range orders {
		orders[i].lines = make([]line, 10)
	}
	src := &counter{}
	for b.Loop() {
		for i := range orders {
			orders[i].id = 0
			clear(orders[i].lines)
		}
		if err := sqltype.Assign(b.Context(), src, orders, func(o *order) *sqltype.ID { return &o.id }, sqltype.Details(
			func(o *order) []line { return o.lines },
			func(l *line) *sqltype.ID { return &l.id },
			func(l *line) *sqltype.ID { return &l.orderID },
		)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*masters*11), "ns/row")
}
