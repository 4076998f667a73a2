package browser

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/httpstore"
)

// With a store, snowkey serve also leases worker IDs: to clients with the token, and never to
// a browser.
func TestAllocationServer(t *testing.T) {
	t.Parallel()
	const token = "a-token-of-these-tests"
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := start(t, "cmd/snowkey", "serve", "--addr", "127.0.0.1:0", "--store", "dir:"+filepath.Join(dir, "leases"), "--token-file", file)
	patient := worker.Config{FenceWindow: 10 * time.Minute, Timeout: limit, ClaimWait: limit} // of a busy machine
	seen := map[int64]bool{}
	for range 3 {
		gen, err := httpstore.Open(t.Context(), httpstore.Config{URL: url + "/leases", Token: token, Lease: patient})
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close(context.Background())
		if seen[gen.Worker()] {
			t.Errorf("%d has two holders", gen.Worker())
		}
		seen[gen.Worker()] = true
		if _, err := gen.Next(t.Context()); err != nil {
			t.Error(err)
		}
	}
	var refused *httpstore.StoreError
	_, err := httpstore.Open(t.Context(), httpstore.Config{URL: url + "/leases", Token: token + "x", Lease: worker.Config{ClaimWait: -1, Timeout: limit}})
	if !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
		t.Error(err)
	}
	tb := page(t, url, "") // the page is there as well, and its browser has no token
	tb.allow("status of 401")
	if status := eval[int](tb, "fetch('leases/v1/claim', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }).then(a => a.status)"); status != http.StatusUnauthorized {
		t.Errorf("a page without the token gets %d", status)
	}
}
