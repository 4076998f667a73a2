package worker

import (
	"sync"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/storetest"
)

// With innodb_snapshot_isolation, the default since 11.6, MariaDB rolls back a serializable
// transaction that reads rows which another one has changed since its first read. It is then
// repeated.
func TestSnapshotIsolation(t *testing.T) {
	server := testserver.NewMariaDB(t)
	e := newMySQL(t, server.DSN)
	admin := e.open(t)
	if _, err := admin.Exec("SET GLOBAL innodb_snapshot_isolation = ON"); err != nil {
		t.Logf("this server has no such setting: %v", err)
	}
	cfg := e.mysql(t)
	cfg.Params = serializable(t, admin)
	e.dsn = cfg.FormatDSN()
	storetest.Run(t, storetest.Harness{Open: func(t *testing.T) driver.Store { return e.store(t) }})
	var wg sync.WaitGroup
	for range 6 {
		s := e.store(t)
		wg.Go(func() {
			for range 30 {
				if _, err := s.Count(t.Context(), "starts"); err != nil {
					t.Error(err)
				}
				if _, err := s.Reserve(t.Context(), "numbers", 7); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
