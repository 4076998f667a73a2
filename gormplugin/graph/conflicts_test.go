package graph_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/glebarez/sqlite"
	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// lostTo is the error of a transaction that has lost to another.
func lostTo(db *gorm.DB) error {
	switch db.Name() {
	case "postgres":
		return &pgconn.PgError{Code: "40P01", Message: "deadlock detected"}
	case "mysql":
		return &mysqldriver.MySQLError{Number: 1213, SQLState: [5]byte([]byte("40001")), Message: "Deadlock found when trying to get lock; try restarting transaction"}
	}
	return errors.New("database is locked") // so the driver that has no method for its code
}

// A transaction that loses at any of its statements is begun again, and then all rows are there once.
func TestGraphRetriedAtEveryStatement(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		db := graphHandle(t, d.Open(t), &gormtest.Counter{Last: 1e9}, nil, graphModels()...)
		seen, s := spyOn(db)
		for lose := 0; ; lose++ {
			s.reset()
			s.at = func(n int, what string) error {
				if n == lose && what != "ROLLBACK" && (what != "COMMIT" || db.Name() != "sqlite") {
					return lostTo(db)
				}
				return nil
			}
			p := everything("a")
			result, err := graph.CreateWith(t.Context(), seen, p, graph.Config{Attempts: 2})
			sent := s.reset()
			if err != nil {
				t.Fatalf("%d: %v", lose, err)
			}
			checkGraph(t, db, p)
			if rows := dump(t, db, graphTables...); len(rows) != 24 || result.RowsAffected != 1 || len(result.Tables) != 13 {
				t.Errorf("%d: %d rows, %+v", lose, len(rows), result)
			}
			empty(t, db, graphTables...)
			if countOf(sent, "BEGIN") == 1 {
				if lose < 14 {
					t.Errorf("it was not begun anew at %d of %d", lose, len(sent))
				}
				break
			}
		}
	})
}

func countOf(sent []string, what string) (n int) {
	for _, s := range sent {
		if s == what {
			n++
		}
	}
	return n
}

// SQLite leaves a transaction open whose COMMIT finds the file locked, so none is begun anew.
func TestGraphLockedAtCommit(t *testing.T) {
	db := graphHandle(t, sqlite.Open("file:"+filepath.Join(t.TempDir(), "x.sqlite")+"?_pragma=journal_mode(DELETE)&_pragma=busy_timeout(1)"), nil, nil, graphModels()...)
	must(t, db.Create([]*Shop{{Name: "a"}, {Name: "b"}}).Error)
	reader, err := db.Model(&Shop{}).Rows()
	must(t, err)
	defer func() { _ = reader.Close() }()
	if !reader.Next() {
		t.Fatal(reader.Err())
	}
	seen, s := spyOn(db)
	shop := &Shop{Name: "c"}
	err = graph.Create(t.Context(), seen, shop)
	if err == nil || !strings.Contains(err.Error(), "COMMIT: database is locked") || errors.Is(err, sqltype.ErrOutcomeUnknown) || shop.ID != 0 {
		t.Errorf("%v, key %d", err, shop.ID)
	}
	if n := countOf(s.reset(), "BEGIN"); n != 1 {
		t.Errorf("begun %d times", n)
	}
}

// In a transaction of the caller, Create does not retry: it returns the error.
func TestGraphNotRetriedInTransaction(t *testing.T) {
	onGraphs(t, func(t *testing.T, db *gorm.DB) {
		seen, s := spyOn(db)
		s.failAt("receipts", lostTo(db))
		p := everything("a")
		err := seen.Transaction(func(tx *gorm.DB) error { return graph.Create(t.Context(), tx, p) })
		if err == nil || !strings.Contains(err.Error(), lostTo(db).Error()) || strings.Contains(err.Error(), "attempt") {
			t.Errorf("%v", err)
		}
		if sent := s.reset(); countOf(sent, "BEGIN") != 1 {
			t.Errorf("begun %d times", countOf(sent, "BEGIN"))
		}
		bare(t, db, "in a transaction", p, everything("a"))
	})
}

// Booking has a hook that the context brings.
type Booking struct {
	ID   sqltype.ID
	Name string `gorm:"size:20"`
}

type Seat struct {
	ID    int64 `gorm:"snowflake:-;autoIncrement:false"`
	Taken int
}

type hookKey struct{}

func (b *Booking) BeforeCreate(tx *gorm.DB) error {
	return tx.Statement.Context.Value(hookKey{}).(func(*gorm.DB, *Booking) error)(tx, b)
}

func take(tx *gorm.DB, seat int) error {
	return tx.Exec("UPDATE seats SET taken = taken + 1 WHERE id = ?", seat).Error
}

// A hook's statement is a deadlock's victim, and the hook returns the error or hides it. gorm calls
// the next hook all the same: what that writes must not be committed without the rest. In the end,
// both transactions succeed.
func TestGraphConflictInHook(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		db := graphHandle(t, d.Open(t), nil, nil, &Booking{}, &Seat{})
		if db.Name() == "sqlite" {
			return // it has one writer
		}
		for _, prepared := range []bool{false, true} {
			for _, kept := range []bool{false, true} {
				conflictInHook(t, db.Session(&gorm.Session{PrepareStmt: prepared}), fmt.Sprintf("prepared %v, kept %v", prepared, kept), kept)
			}
		}
	})
}

func conflictInHook(t *testing.T, db *gorm.DB, what string, kept bool) {
	t.Helper()
	empty(t, db, "bookings", "seats")
	must(t, db.Create([]Seat{{ID: 1}, {ID: 2}, {ID: 3}}).Error)
	var writers, both sync.WaitGroup
	both.Add(2)
	for w := range 2 {
		meet := sync.OnceFunc(func() { both.Done(); both.Wait() })
		hook := func(tx *gorm.DB, b *Booking) error {
			if b.Name == "second" {
				return tx.Transaction(func(tx *gorm.DB) error { return take(tx, 3) })
			}
			if err := take(tx, 1+w); err != nil {
				return err
			}
			meet()
			if err := take(tx, 2-w); !kept {
				return err
			}
			return nil
		}
		writers.Go(func() {
			ctx := context.WithValue(context.Background(), hookKey{}, hook)
			if err := graph.Create(ctx, db, []*Booking{{Name: "first"}, {Name: "second"}}); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
	writers.Wait()
	var taken []int
	var bookings int64
	must(t, errors.Join(db.Model(&Seat{}).Order("id").Pluck("taken", &taken).Error, db.Model(&Booking{}).Count(&bookings).Error))
	if bookings != 4 || !slices.Equal(taken, []int{2, 2, 2}) {
		t.Errorf("%s: %d bookings, and the seats were taken %v times", what, bookings, taken)
	}
}
