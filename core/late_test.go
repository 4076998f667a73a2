package core_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// soon is done when it has been asked several times.
type soon struct {
	context.Context
	left int
}

func (c *soon) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// once gives one grant, and then an error of its own.
type once struct {
	grant *core.Grant
	err   error
}

func (o *once) Grant(_ context.Context, prev *core.Grant) (*core.Grant, error) {
	if prev == nil {
		return o.grant, nil
	}
	return nil, o.err
}

// Whenever the context ends, the error is the context's or says that the grant is
// lost or used up: never the Worker's alone.
func TestContextEndsWhileAsking(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *manual) {
		for _, lost := range []bool{true, false} {
			for left := range 40 {
				now := time.Now()
				grant, err := core.NewGrant(core.Layout{}, 1, now.Add(-time.Second), now.Add(3*time.Millisecond))
				if err != nil {
					t.Fatal(err)
				}
				own := errors.New("no other number")
				gen, err := core.New(core.Config{Worker: &once{grant, own}, MaxWait: time.Millisecond})
				if err != nil {
					t.Fatal(err)
				}
				if lost {
					grant.Revoke(nil)
				} else {
					time.Sleep(5 * time.Millisecond)
				}
				_, err = gen.Next(&soon{context.Background(), left})
				if !errors.Is(err, context.Canceled) && !errors.Is(err, core.ErrLost) && !errors.Is(err, core.ErrFenced) {
					t.Errorf("lost %v, done after %d looks: %v", lost, left, err)
				}
				gen.Close()
			}
		}
	})
}
