package etcdstore

import (
	"context"
	"time"
)

// second makes a request, and where a third of the context's time has brought no
// answer, makes it a second time beside the first: the client asks the members in
// turn, and this one may be silent. The answer that comes first counts, an error only
// if there is no other. So it is for requests that may be carried out twice, such as
// those that compare a revision.
func second[T any](ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ask(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 2)
	send := func() {
		value, err := ask(ctx)
		answers <- answer{value, err}
	}
	go send()
	timer := time.NewTimer(time.Until(deadline) / 3)
	defer timer.Stop()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-timer.C:
	}
	go send()
	a := <-answers
	if a.err != nil {
		if other := <-answers; other.err == nil {
			return other.value, nil
		}
	}
	return a.value, a.err
}
