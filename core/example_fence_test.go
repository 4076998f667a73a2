package core_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// bounded is a Worker of one grant.
type bounded struct{ grant *core.Grant }

func (b bounded) Grant(_ context.Context, prev *core.Grant) (*core.Grant, error) {
	if prev != nil {
		return nil, core.ErrLost
	}
	return b.grant, nil
}

// A Worker raises the end of its grant when the generator has reached it.
func ExampleGrant_FenceReached() {
	now := time.Now()
	grant, err := core.NewGrant(core.Twitter(), 17, now.Add(-time.Minute), now)
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := core.New(core.Config{Worker: bounded{grant}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	go func() {
		<-grant.FenceReached()
		// … record the new end where it is durable, and only then:
		grant.RaiseFence(now.Add(time.Minute))
	}()
	_, err = gen.Next(context.Background())
	fmt.Println(err)
	// Output: <nil>
}

// While the end of a grant cannot be raised, calls that have reached it fail at once.
func ExampleGrant_SetFenceError() {
	now := time.Now()
	grant, err := core.NewGrant(core.Twitter(), 17, now.Add(-time.Minute), now)
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := core.New(core.Config{Worker: bounded{grant}, MaxWait: time.Hour})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	down := errors.New("the store is down")
	grant.SetFenceError(down)
	_, err = gen.Next(context.Background())
	fmt.Println(errors.Is(err, core.ErrFenced), errors.Is(err, down))
	grant.RaiseFence(now.Add(time.Minute)) // it is back
	_, err = gen.Next(context.Background())
	fmt.Println(err)
	// Output:
	// true true
	// <nil>
}
