package core_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// revokes is a Worker that loses the first few grants while they are on their way.
type revokes struct {
	t     *testing.T
	lose  int
	asked int
}

var errTaken = errors.New("taken")

func (w *revokes) Grant(context.Context, *core.Grant) (*core.Grant, error) {
	w.asked++
	g, err := core.NewGrant(core.Layout{}, int64(w.asked), time.Now(), time.Now().Add(time.Minute))
	if err != nil {
		w.t.Fatal(err)
	}
	if w.lose--; w.lose >= 0 {
		g.Revoke(errTaken)
	}
	return g, nil
}

// A grant that is revoked between the Worker and the generator is asked for again, and
// not forever.
func TestGrantRevokedBeforeUse(t *testing.T) {
	for _, lose := range []int{0, 1, 7} {
		t.Run(fmt.Sprint(lose), func(t *testing.T) {
			w := &revokes{t: t, lose: lose}
			gen, err := core.New(core.Config{Worker: w})
			if err != nil {
				t.Fatal(err)
			}
			if id, err := gen.Next(t.Context()); err != nil {
				t.Errorf("%d, %v", id, err)
			}
			if w.asked != lose+1 {
				t.Errorf("asked %d times", w.asked)
			}
			gen.Close()
		})
	}
	w := &revokes{t: t, lose: 1000}
	if _, err := core.New(core.Config{Worker: w}); !errors.Is(err, core.ErrLost) || !errors.Is(err, errTaken) || w.asked > 20 {
		t.Errorf("asked %d times: %v", w.asked, err)
	}
}

func TestNextGrantRevokedBeforeUse(t *testing.T) {
	w := &last{GrantSource: &revokes{t: t}}
	gen, err := core.New(core.Config{Worker: w})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	seen := map[int64]bool{}
	for _, lose := range []int{0, 1, 5} {
		w.GrantSource.(*revokes).lose = lose
		w.grant.Revoke(errTaken)
		id, err := gen.Next(t.Context())
		if err != nil || seen[id] {
			t.Errorf("%d lost: %d, %v", lose, id, err)
		}
		seen[id] = true
	}
	w.GrantSource.(*revokes).lose = 1000
	w.grant.Revoke(errTaken)
	if id, err := gen.Next(t.Context()); !errors.Is(err, core.ErrLost) {
		t.Errorf("all are lost: %d, %v", id, err)
	}
}

// last remembers the grant that was given last.
type last struct {
	core.GrantSource
	grant *core.Grant
}

func (l *last) Grant(ctx context.Context, prev *core.Grant) (g *core.Grant, err error) {
	l.grant, err = l.GrantSource.Grant(ctx, prev)
	return l.grant, err
}
