package sqlstore

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// hanging is a database that answers nothing.
type hanging struct{ sqldriver.Conn }

func (h hanging) Connect(context.Context) (sqldriver.Conn, error) { return h, nil }
func (hanging) Driver() sqldriver.Driver                          { return nil }
func (hanging) Close() error                                      { return nil }
func (hanging) QueryContext(ctx context.Context, _ string, _ []sqldriver.NamedValue) (sqldriver.Rows, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Each call ends with its own context, also while another one hangs.
func TestContextWhileAnotherHangs(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, s *Store) error{
		"list":    func(ctx context.Context, s *Store) error { _, err := s.List(ctx, "x"); return err },
		"renew":   func(ctx context.Context, s *Store) error { return s.Renew(ctx, driver.Renewal{Namespace: "x"}) },
		"count":   func(ctx context.Context, s *Store) error { _, err := s.Count(ctx, "x"); return err },
		"reserve": func(ctx context.Context, s *Store) error { _, err := s.Reserve(ctx, "x", 1); return err },
		"counters": func(ctx context.Context, s *Store) error {
			return s.PrepareCounters(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := sql.OpenDB(hanging{})
				defer db.Close()
				s := mustNew(New(db, Config{}))
				long, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				go func() { _, _ = s.List(long, "x") }()
				synctest.Wait()
				short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				defer cancel()
				began := time.Now()
				if err := call(short, s); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 200*time.Millisecond {
					t.Errorf("%v after %v", err, time.Since(began))
				}
				stop()
				time.Sleep(waiterKept + inspectionLimit) // no inspection outlasts its caller longer
				synctest.Wait()
				if n := db.Stats().InUse; n != 0 {
					t.Errorf("%d connections are in use", n)
				}
			})
		})
	}
}
