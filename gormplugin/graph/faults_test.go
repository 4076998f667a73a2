package graph_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/sqltype"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
)

// bare fails the test if a failed create left a row or a key.
func bare(t *testing.T, db *gorm.DB, what string, v, pristine any) {
	t.Helper()
	if rows := dump(t, db, graphTables...); len(rows) != 0 {
		t.Fatalf("%s: rows are left: %s", what, strings.Join(rows, "\n"))
	}
	if got, want := keysOf(v), keysOf(pristine); got != want {
		t.Fatalf("%s: keys are left:\n%s\nwant\n%s", what, got, want)
	}
}

// A failure at every statement in turn: no row, no key, and the next attempt
// with the same structs succeeds.
func TestGraphFailsAtEveryStatement(t *testing.T) {
	onGraphs(t, func(t *testing.T, db *gorm.DB) {
		seen, s := spyOn(db)
		for fail := 0; ; fail++ {
			s.reset()
			s.at = func(n int, what string) error {
				if n == fail && what != "ROLLBACK" {
					if what == "COMMIT" {
						return sql.ErrTxDone // never sent
					}
					return errInjected
				}
				return nil
			}
			p := everything("a")
			p.BuyerID = nil
			p.Wares[0].PurchaseID = 4711 // a foreign key that was there before
			pristine := everything("a")
			pristine.Wares[0].PurchaseID = 4711
			err := graph.Create(t.Context(), seen, p)
			sent := s.reset()
			if err == nil {
				if fail != len(sent) || fail < 15 {
					t.Errorf("it succeeded with a fault at %d of %d statements", fail, len(sent))
				}
				break
			}
			at := fmt.Sprintf("%d, %.40s", fail, sent[fail])
			if !errors.Is(err, errInjected) && !errors.Is(err, sql.ErrTxDone) || errors.Is(err, sqltype.ErrOutcomeUnknown) {
				t.Errorf("%s: %v", at, err)
			}
			if fail > 0 && sent[len(sent)-1] != "ROLLBACK" {
				t.Errorf("%s: the last that was sent is %s", at, sent[len(sent)-1])
			}
			bare(t, db, at, p, pristine)
			s.at = nil
			if err := graph.Create(t.Context(), seen, p); err != nil {
				t.Fatalf("%s: the next attempt: %v", at, err)
			}
			checkGraph(t, db, p)
			if rows := dump(t, db, graphTables...); len(rows) != 24 {
				t.Fatalf("%s: %d rows after the next attempt", at, len(rows))
			}
			empty(t, db, graphTables...)
		}
	})
}

// The context ends before each statement in turn.
func TestGraphCancelledAtEveryStatement(t *testing.T) {
	onGraphs(t, func(t *testing.T, db *gorm.DB) {
		seen, s := spyOn(db)
		for stop := 0; ; stop++ {
			ctx, cancel := context.WithCancel(t.Context())
			s.reset()
			s.at = func(n int, _ string) error {
				if n == stop {
					cancel()
				}
				return nil
			}
			p := everything("a")
			err := graph.Create(ctx, seen, p)
			sent := s.reset()
			cancel()
			if err == nil {
				if stop < 15 || stop < len(sent) {
					t.Errorf("it succeeded although cancelled at %d of %d", stop, len(sent))
				}
				break
			}
			at := fmt.Sprintf("%d, %.40s", stop, sent[stop])
			if sent[stop] == "COMMIT" && errors.Is(err, sqltype.ErrOutcomeUnknown) {
				if p.ID == 0 {
					t.Errorf("%s: the keys are gone", at)
				}
				empty(t, db, graphTables...)
				continue
			}
			if errors.Is(err, sqltype.ErrOutcomeUnknown) {
				t.Errorf("%s: %v", at, err)
			}
			bare(t, db, at, p, everything("a"))
		}
	})
}

// COMMIT was sent and the answer is lost: the keys stay, and a retry writes
// nothing twice, whether it was committed or not.
func TestGraphOutcomeUnknown(t *testing.T) {
	onGraphs(t, func(t *testing.T, db *gorm.DB) {
		for _, committed := range []bool{true, false} {
			seen, s := spyOn(db)
			lost := errors.New("connection reset by peer")
			if committed {
				s.lost = func() error { return lost }
			} else {
				s.failAt("COMMIT", lost)
			}
			p := everything("a")
			err := graph.Create(t.Context(), seen, p)
			if !errors.Is(err, sqltype.ErrOutcomeUnknown) || !errors.Is(err, lost) {
				t.Fatalf("committed %v: %v", committed, err)
			}
			checkGraph(t, db, p)
			before := keysOf(p)
			again := db.Clauses(clause.OnConflict{DoNothing: true})
			if err := graph.Create(t.Context(), again, p); err != nil {
				t.Fatalf("committed %v: the retry: %v", committed, err)
			}
			if keysOf(p) != before {
				t.Errorf("committed %v: the retry changed keys", committed)
			}
			if rows := dump(t, db, graphTables...); len(rows) != 24 {
				t.Errorf("committed %v: %d rows after the retry", committed, len(rows))
			}
			empty(t, db, graphTables...)
		}
	})
}

// In a transaction of the caller's: a failure undoes the graph alone, and the
// caller decides about the rest.
func TestGraphInCallersTransaction(t *testing.T) {
	onGraphs(t, func(t *testing.T, db *gorm.DB) {
		bad := func() *Purchase {
			p := everything("bad")
			p.Parts = append(p.Parts, &Purchase{Name: "x", Receipt: &Receipt{ID: 7001, Name: "r"}})
			p.Labels[0].Name = strings.Repeat("x", 9)
			return p
		}
		seen, s := spyOn(db)
		err := seen.Transaction(func(tx *gorm.DB) error {
			if err := graph.Create(t.Context(), tx, everything("good")); err != nil {
				return err
			}
			s.failAt("receipts", errInjected)
			p := bad()
			if err := graph.Create(t.Context(), tx, p); !errors.Is(err, errInjected) {
				return fmt.Errorf("the bad one: %w", err)
			}
			if got, want := keysOf(p), keysOf(bad()); got != want {
				t.Errorf("keys are left:\n%s\n%s", got, want)
			}
			return tx.Create(&Shop{Name: "afterwards"}).Error
		})
		must(t, err)
		sent := verbs(s.reset())
		if n := slices.Index(sent, "SAVEPOINT"); n != 1 || sent[0] != "BEGIN" || sent[len(sent)-1] != "COMMIT" || !slices.Contains(sent, "ROLLBACK") || slices.Index(sent[:len(sent)-1], "COMMIT") >= 0 {
			t.Errorf("sent %v", sent)
		}
		if rows := dump(t, db, graphTables...); len(rows) != 25 || strings.Contains(strings.Join(rows, ""), "bad") {
			t.Errorf("%d rows: %s", len(rows), strings.Join(rows, "\n"))
		}
		empty(t, db, graphTables...)

		// Without nested transactions there is no savepoint, and no COMMIT of ours either.
		seen, s = spyOn(db.Session(&gorm.Session{DisableNestedTransaction: true}))
		tx := seen.Begin()
		must(t, graph.Create(t.Context(), tx, everything("b")))
		tx.Rollback()
		if sent := verbs(s.reset()); slices.Contains(sent, "SAVEPOINT") || slices.Contains(sent, "COMMIT") {
			t.Errorf("sent %v", sent)
		}
		if rows := dump(t, db, graphTables...); len(rows) != 0 {
			t.Errorf("%d rows", len(rows))
		}
	})
}

// A savepoint is released after a success and after a failure. PostgreSQL keeps a lock for each
// that has written and is not.
func TestSavepointsAreReleased(t *testing.T) {
	onGraphs(t, func(t *testing.T, db *gorm.DB) {
		for _, prepared := range []bool{false, true} {
			seen, s := spyOn(db)
			if prepared { // past the spy
				seen = db.Session(&gorm.Session{PrepareStmt: true})
			}
			tx := seen.Begin()
			locks := func() (n int64) {
				if db.Name() == "postgres" {
					tx.Raw("SELECT COUNT(*) FROM pg_locks WHERE locktype = 'transactionid' AND pid = pg_backend_pid()").Scan(&n)
				}
				return n
			}
			for i := range 10 {
				must(t, graph.Create(t.Context(), tx, &Shop{Name: "a"}))
				if err := graph.Create(t.Context(), tx, []*Shop{{Name: "b"}, {ID: 5}, {ID: 5}}); err == nil {
					t.Error("a key is there twice")
				}
				if n := locks(); n > 1 {
					t.Fatalf("prepared %v: %d locks after %d creates", prepared, n, 2*i+2)
				}
			}
			must(t, tx.Commit().Error)
			if !prepared {
				sent := verbs(s.reset())
				if countOf(sent, "SAVEPOINT") != 20 || countOf(sent, "RELEASE") != 20 || countOf(sent, "ROLLBACK") != 10 {
					t.Errorf("sent %v", sent)
				}
			}
			counts(t, db, "SELECT COUNT(*) FROM shops", nil, 10)
			empty(t, db, "shops")
		}
	})
}

// Keys that databases return in another form: rounded times and padded strings.
type (
	Reading struct {
		ID   sqltype.ID `gorm:"primaryKey;snowflake"`
		At   time.Time  `gorm:"primaryKey"`
		Made time.Time  `gorm:"type:timestamp;default:CURRENT_TIMESTAMP"`
	}
	Padded struct {
		ID   string    `gorm:"primaryKey;type:char(20);snowflake"`
		Made time.Time `gorm:"type:timestamp;default:CURRENT_TIMESTAMP"`
	}
)

func TestKeysInAnotherForm(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		db := graphHandle(t, d.Open(t), nil, nil, &Reading{}, &Padded{})
		must(t, db.AutoMigrate(&Reading{}, &Padded{}))
		for _, row := range []any{&Reading{At: time.Now()}, &[]Reading{{At: time.Now()}, {At: time.Now()}}, &Padded{}} {
			if err := graph.Create(t.Context(), db, row); err != nil {
				t.Errorf("%T: %v", row, err)
			}
		}
	})
}
