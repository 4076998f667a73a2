package cli

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// namespaceOf is what workers list says of a namespace.
func namespaceOf(t *testing.T, dsn string) (ns namespaceInfo) {
	t.Helper()
	got := run(t, "workers", "list", "--json", "--dsn", dsn)
	if ns = decoded[namespaceInfo](t, got); got.err != "" && ns.Floor == "" {
		t.Fatal(got.err)
	}
	return ns
}

// The first generator of a namespace sets its FenceWindow. gen takes a smaller one, and workers window
// allows a larger one.
func TestWindow(t *testing.T) {
	for name, dsn := range map[string]string{"SQLite": filepath.Join(t.TempDir(), "ids.db"), "Redis": "redis://" + testserver.NewRedis(t).Addr} {
		t.Run(name, func(t *testing.T) {
			if name == "SQLite" {
				gen, err := sqlstore.Open(t.Context(), openDB(t, "sqlite", dsn), worker.Config{FenceWindow: 6 * time.Second})
				must(t, err)
				must(t, gen.Close(t.Context()))
			}
			run(t, "gen", "--lease", dsn).want(t, 0, "", "")
			before := namespaceOf(t, dsn)
			if want := map[string]string{"SQLite": "6s 2s", "Redis": "30s 10s"}[name]; before.FenceWindow+" "+before.MaxSkew != want || before.Incarnation == "" || before.Since == "" || before.Now == "" {
				t.Errorf("%+v, want %s", before, want)
			}
			window := func(code int, d, says string) {
				t.Helper()
				run(t, "workers", "window", d, "--namespace", "default", "--dsn", dsn).says(t, code, says)
			}
			window(1, before.FenceWindow, "it is left unchanged")
			if after := namespaceOf(t, dsn); after.Floor != before.Floor || after.FenceWindow != before.FenceWindow {
				t.Errorf("%+v", after)
			}
			window(0, "1m30s", `namespace "default" has FenceWindow 1m30s now, instead of `+before.FenceWindow+"\nthe floor of namespace")
			after := namespaceOf(t, dsn)
			if floor, err := time.Parse(time.RFC3339, after.Floor); err != nil || after.FenceWindow != "1m30s" || after.MaxSkew != "30s" || time.Until(floor) < 90*time.Second {
				t.Errorf("%+v, %v", after, err)
			}
			run(t, "gen", "--lease", dsn).want(t, 0, "", "")
		})
	}
}

// A program that renews less often than the new FenceWindow would lose its worker ID to the next program, and could
// not claim another one, because it has the old FenceWindow.
func TestWindowOfRunningPrograms(t *testing.T) {
	dsn := filepath.Join(t.TempDir(), "ids.db")
	gen, err := sqlstore.Open(t.Context(), openDB(t, "sqlite", dsn), worker.Config{FenceWindow: 6 * time.Minute})
	must(t, err)
	window := func(code int, d, says string) {
		t.Helper()
		run(t, "workers", "window", d, "--namespace", "default", "--dsn", dsn).says(t, code, says)
	}
	window(1, "2m", "and renew them every 2m0s unless RenewInterval is set: "+
		"with FenceWindow 2m0s, they may lose them; choose 3m0s or more")
	if ns := namespaceOf(t, dsn); ns.FenceWindow != "6m0s" || ns.Floor != "" {
		t.Errorf("%+v", ns)
	}
	window(0, "3m", "has FenceWindow 3m0s now, instead of 6m0s")
	window(1, "1m29s", "programs hold worker IDs")
	must(t, gen.Close(t.Context()))
	window(0, "1s", "has FenceWindow 1s now, instead of 3m0s")
}
