package etcdstore

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// patience is for what is certain to come, on a machine that is busy.
const patience = 3 * time.Minute

// An error says which members were asked in vain, what for, and why.
func TestUnreachable(t *testing.T) {
	none, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	nobody := none.Addr().String()
	must(t, none.Close())
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, and says nothing
	must(t, err)
	defer silent.Close()
	for endpoint, why := range map[string]string{nobody: "connection refused", silent.Addr().String(): ""} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := mustNew(New(connect(t, endpoint), Config{})).Claim(ctx, claim("orders"))
		for _, want := range []string{`etcdstore: claim in namespace "orders": no answer from ` + endpoint, why} {
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}
