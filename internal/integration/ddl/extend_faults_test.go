package ddl

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-299c1d6b/snowkey/ddl"
)

// openEnded makes the table orders, with rows from November on in its last partition.
func openEnded(t *testing.T, s *server) (p ddl.Partitioning, have []ddl.Partition) {
	t.Helper()
	p = ddl.Partitioning{Dialect: s.Dialect, Table: "orders", By: ddl.Month}
	parts := ok(p.Bounds(november, november.AddDate(0, 3, 0)))(t)
	table(t, s, p, []ddl.Partition{{Name: "low", Min: math.MinInt64, Max: parts[0].Min}, {Name: "pmax", Min: parts[0].Min, Max: math.MaxInt64}})
	for _, part := range parts {
		insert(t, s, p, part.Min, part.Max-1)
	}
	have = ok(p.Read(t.Context(), s))(t)
	return p, have
}

// If the partitions have changed, the script fails, and the rows and partitions stay.
func TestExtendOutrun(t *testing.T) {
	onServers(t, func(t *testing.T, s *server) {
		p, have := openEnded(t, s)
		late := ok(p.Extend(have, november, november.AddDate(0, 2, 0)))(t)
		later := ok(p.Extend(have, november.AddDate(0, 1, 0), november.AddDate(0, 3, 0)))(t)
		rows := content(t, s, p)
		want := extend(t, s, p, november, november.AddDate(0, 2, 0))
		for _, outrun := range []ddl.Script{late, later} {
			if err := s.Try(outrun...); err == nil {
				t.Errorf("it was executed once more:\n%s", outrun)
			}
		}
		if got, err := p.Read(t.Context(), s); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
		if got := content(t, s, p); !slices.Equal(got, rows) {
			t.Errorf("rows %v, want %v", got, rows)
		}
	})
}

// If a foreign key refers to rows of the open partition, PostgreSQL does not detach it,
// and nothing changes.
func TestExtendUnderAForeignKey(t *testing.T) {
	s := openPostgres(t)
	p, have := openEnded(t, s)
	s.Run(t, "CREATE TABLE lines (order_id bigint REFERENCES orders ON DELETE CASCADE)", fmt.Sprintf("INSERT INTO lines VALUES (%d)", have[1].Min))
	rows := content(t, s, p)
	if err := s.Try(ok(p.Extend(have, november, november.AddDate(0, 2, 0)))(t)...); err == nil || !strings.Contains(err.Error(), "foreign key") {
		t.Fatalf("%v", err)
	}
	if got := content(t, s, p); !slices.Equal(got, rows) {
		t.Errorf("rows %v, want %v", got, rows)
	}
	// Of what is referred to in other partitions it takes no notice.
	s.Run(t, "DELETE FROM lines", "INSERT INTO orders (id) VALUES (5)", "INSERT INTO lines VALUES (5)")
	extend(t, s, p, november, november.AddDate(0, 2, 0))
	if n := one[int](t, s, "SELECT count(*) FROM lines"); n != 1 {
		t.Errorf("%d rows refer to orders", n)
	}
	if err := s.Try(fmt.Sprintf("INSERT INTO lines VALUES (%d)", have[1].Min+1)); err == nil {
		t.Error("the foreign key is gone")
	}
}

// A foreign key to the open partition itself does not keep it from being detached. The rows that refer to it are not
// deleted or changed when its rows move.
func TestExtendUnderACascade(t *testing.T) {
	s := openPostgres(t)
	p, have := openEnded(t, s)
	moved := first(t, november.AddDate(0, 1, 0))
	s.Run(t, fmt.Sprintf("INSERT INTO orders (id) VALUES (%d)", moved), "CREATE TABLE lines (order_id bigint)", fmt.Sprintf("INSERT INTO lines VALUES (%d)", moved))
	rows, script := content(t, s, p), ok(p.Extend(have, november, november.AddDate(0, 2, 0)))(t)
	for _, action := range []string{"CASCADE", "SET NULL", "SET DEFAULT", "NO ACTION"} {
		s.Run(t, "ALTER TABLE lines ADD CONSTRAINT direct FOREIGN KEY (order_id) REFERENCES pmax ON DELETE "+action)
		if err := s.Try(script...); err == nil || !strings.Contains(err.Error(), "foreign key") {
			t.Errorf("%s: %v", action, err)
		}
		if n := one[int](t, s, "SELECT count(order_id) FROM lines"); n != 1 || !slices.Equal(content(t, s, p), rows) {
			t.Fatalf("%s: %d rows refer to orders", action, n)
		}
		s.Run(t, "ALTER TABLE lines DROP CONSTRAINT direct")
	}
}

// Rows that are written meanwhile arrive in their partitions: none is refused or lost.
func TestExtendUnderWriters(t *testing.T) {
	onServers(t, func(t *testing.T, s *server) {
		p, _ := openEnded(t, s)
		s.SetMaxOpenConns(4)
		before := len(content(t, s, p))
		var all sync.WaitGroup
		stop := make(chan struct{})
		written := make([]int, 3)
		for w := range written {
			from, step := first(t, november), first(t, november.AddDate(0, 0, 1))-first(t, november)
			all.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					// A day later each time, over two years, and again.
					id := from + int64(written[w]%730)*step + int64(written[w]*len(written)+w) + 1
					if err := s.Try(fmt.Sprintf("INSERT INTO orders (id, a) VALUES (%d, 'w')", id)); err != nil {
						t.Error(err)
						return
					}
					written[w]++
				}
			})
		}
		for month := range 12 {
			now := november.AddDate(0, month, 0)
			have := ok(p.Read(t.Context(), s))(t)
			if err := s.Try(ok(p.Extend(have, now, now.AddDate(0, 2, 0)))(t)...); err != nil {
				t.Error(err)
			}
		}
		close(stop)
		all.Wait()
		sum := written[0] + written[1] + written[2]
		if n := one[int](t, s, "SELECT count(*) FROM orders"); n != before+sum || sum == 0 {
			t.Errorf("%d rows, want %d and %d", n, before, sum)
		}
		t.Logf("%d rows were written", sum)
		extend(t, s, p, november, november.AddDate(1, 1, 0))
	})
}
