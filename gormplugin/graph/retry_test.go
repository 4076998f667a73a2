package graph_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
)

// Some errors begin the transaction again, at whichever statement they come.
func TestLostTransactions(t *testing.T) {
	lost := map[string][]error{
		"postgres": {stateError("40001"), stateError("40P01")},
		"mysql": {
			&mysql.MySQLError{Number: 1213, Message: "Deadlock found when trying to get lock; try restarting transaction"},
			&mysql.MySQLError{Number: 1020, Message: "Record has changed since last read in table 'items'"},
			&mysql.MySQLError{Number: 3101, Message: "Plugin instructed the server to rollback the current transaction"},
		},
	}
	other := map[string][]error{
		"postgres": {stateError("55P03"), stateError("23505")},
		"mysql":    {&mysql.MySQLError{Number: 1205, Message: "Lock wait timeout exceeded; try restarting transaction"}, &mysql.MySQLError{Number: 1062, Message: "Duplicate entry 'Error 1213' for key 'x'"}},
	}
	for _, d := range gormtest.Dialects() {
		for _, again := range []bool{true, false} {
			errs := lost[d.Name]
			if !again {
				errs = other[d.Name]
			}
			for _, e := range errs {
				for _, at := range []string{"BEGIN", "INSERT", "COMMIT"} {
					if at == "COMMIT" && !again {
						continue // TestCommitErrors
					}
					db, mock := d.Mock(t, &gormtest.Counter{})
					switch at {
					case "BEGIN":
						mock.ExpectBegin().WillReturnError(e)
					case "INSERT":
						mock.ExpectBegin()
						mock.ExpectExec(statements[d.Name].insertItem).WithArgs(1, "a").WillReturnError(e)
						mock.ExpectRollback()
					case "COMMIT":
						mock.ExpectBegin()
						mock.ExpectExec(statements[d.Name].insertItem).WithArgs(1, "a").WillReturnResult(sqlmock.NewResult(0, 1))
						mock.ExpectCommit().WillReturnError(e)
					}
					if again {
						mock.ExpectBegin()
						mock.ExpectExec(statements[d.Name].insertItem).WithArgs(2, "a").WillReturnResult(sqlmock.NewResult(0, 1))
						mock.ExpectCommit()
					}
					item := &Item{Name: "a"}
					err := graph.Create(t.Context(), db, item)
					if again && (err != nil || item.ID != 2) || !again && (!errors.Is(err, e) || item.ID != 0) {
						t.Errorf("%s, %v at %s: %v, key %d", d.Name, e, at, err, item.ID)
					}
					if err := mock.ExpectationsWereMet(); err != nil {
						t.Errorf("%s, %v at %s: %v", d.Name, e, at, err)
					}
				}
			}
		}
	}
}

// It gives up after the last attempt, and when the context ends.
func TestLastAttempt(t *testing.T) {
	for _, d := range gormtest.Dialects() {
		if d.Name != "postgres" {
			continue
		}
		lost := stateError("40001")
		for attempts, want := range map[int]string{1: "", 2: "(attempt 2 of 2)", 0: "(attempt 5 of 5)"} {
			db, mock := d.Mock(t, &gormtest.Counter{})
			for range max(attempts, 1) {
				mock.ExpectBegin().WillReturnError(lost)
			}
			for range 4 * (1 - min(attempts, 1)) {
				mock.ExpectBegin().WillReturnError(lost)
			}
			item := &Item{Name: "a"}
			_, err := graph.CreateWith(t.Context(), db, item, graph.Config{Attempts: attempts, Backoff: time.Microsecond})
			if !errors.Is(err, lost) || !strings.HasSuffix(err.Error(), want) || item.ID != 0 || want == "" && strings.Contains(err.Error(), "attempt") {
				t.Errorf("%d attempts: %v, key %d", attempts, err, item.ID)
			}
			must(t, mock.ExpectationsWereMet())
		}
		synctest.Test(t, func(t *testing.T) {
			db, mock := d.Mock(t, &gormtest.Counter{})
			mock.ExpectBegin().WillReturnError(lost)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			item := &Item{Name: "a"}
			_, err := graph.CreateWith(ctx, db, item, graph.Config{Backoff: time.Hour, MaxBackoff: time.Hour})
			if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, lost) || item.ID != 0 {
				t.Errorf("%v, key %d", err, item.ID)
			}
		})
	}
}

// After a conflict, no statement of the transaction reaches the server, whichever way a hook sends it.
func TestStatementsAfterAConflict(t *testing.T) {
	lost := map[string]error{"postgres": stateError("40001"), "mysql": &mysql.MySQLError{Number: 1213, Message: "Deadlock found"}}
	for _, d := range gormtest.Dialects() {
		for _, prepared := range []bool{false, true} {
			db, mock := d.Mock(t, &gormtest.Counter{})
			mock.ExpectBegin()
			if prepared {
				mock.ExpectPrepare("UPDATE a")
				mock.ExpectPrepare("UPDATE a").ExpectExec().WillReturnError(lost[d.Name])
			} else {
				mock.ExpectExec("UPDATE a").WillReturnError(lost[d.Name])
			}
			mock.ExpectRollback()
			calls := 0
			ctx := with(t, func(tx *gorm.DB, _ string, _ any) error {
				if calls++; calls == 1 {
					return tx.Exec("UPDATE a").Error
				}
				var n int
				_, err := tx.Raw("SELECT 2").Rows() //nolint:rowserrcheck,sqlclosecheck // there are none
				refused := []error{
					tx.Exec("UPDATE a").Error, err, tx.Raw("SELECT 1").Row().Scan(&n), tx.Session(&gorm.Session{PrepareStmt: true}).Exec("UPDATE b").Error,
					tx.Session(&gorm.Session{PrepareStmt: true}).Exec("UPDATE a").Error, tx.Create(&Area{}).Error,
				}
				_ = tx.Session(&gorm.Session{}).SavePoint("a") // some dialects return no error
				for i, err := range refused {
					if err == nil {
						t.Errorf("%s, prepared %v: statement %d is not refused", d.Name, prepared, i)
					}
				}
				return nil // the hook hides its errors
			})
			farms := []*Farm{{Name: "a"}, {Name: "b"}, {Name: "c"}}
			_, err := graph.CreateWith(ctx, db.Session(&gorm.Session{PrepareStmt: prepared}), farms, graph.Config{Attempts: 1})
			if !errors.Is(err, lost[d.Name]) || calls != 3 || farms[0].ID != 0 {
				t.Errorf("%s: %v, %d calls of hooks", d.Name, err, calls)
			}
			must(t, mock.ExpectationsWereMet())
		}
	}
}
