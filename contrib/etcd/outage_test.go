package etcd

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// patience is for what is certain to come, on a machine that is busy.
const patience = 3 * time.Minute

// While no member answers, each request makes the client connect again at once. So ids
// resume soon after the server is back, however long it was away.
func TestEachRequestConnects(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var tries atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			tries.Add(1)
			_ = c.Close()
		}
	}()
	store := mustNew(New(connect(t, l.Addr().String()), Config{}))
	// By itself it would try eleven times in that time at most: it waits 1s, 1.6s, 2.6s
	// and so on, each a fifth longer or shorter.
	const enough, much = 12, 3 * time.Minute
	requests := 0
	for began := time.Now(); tries.Load() < enough; requests++ {
		if time.Since(began) > much {
			t.Fatalf("%d requests in %v made it try %d times", requests, much, tries.Load())
		}
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		err := store.Renew(ctx, driver.Renewal{Namespace: "s", FencingToken: 1, ClaimID: "t", Fence: 1, TTL: 1})
		if err == nil {
			t.Error("no member has answered, and there is no error")
		}
		cancel()
	}
	t.Logf("%d requests made it try %d times", requests, tries.Load())
}

// An error says which members were asked in vain, what for, and why.
func TestUnreachable(t *testing.T) {
	none, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := none.Addr().String()
	if err := none.Close(); err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for endpoint, why := range map[string]string{nobody: "connection refused", silent.Addr().String(): ""} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := mustNew(New(connect(t, endpoint), Config{})).Claim(ctx, request("orders"))
		for _, want := range []string{`etcd: read namespace "orders": no answer from ` + endpoint, why} {
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}
