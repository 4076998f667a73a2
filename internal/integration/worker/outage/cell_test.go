package outage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

const (
	clients  = 400
	enough   = 100                    // orders, until a program counts as working
	pause    = 100 * time.Millisecond // of a client between two requests, on average
	patience = 3 * time.Minute        // for what is certain to come, on a machine that is busy
)

// figures are what a cell has measured.
type figures struct {
	rode           time.Duration // so long ids went on in the outage
	first, hundred time.Duration // from the database's return to the first order, to the hundredth; 0: none
	wait           time.Duration // so long they were waited for
}

func (f figures) String() string {
	show := func(d time.Duration) string {
		if d == 0 {
			return fmt.Sprintf("none in %.0f s", f.wait.Seconds())
		}
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("ids went on for %.1f s; orders after the database's return: the first %s, the hundredth %s", f.rode.Seconds(), show(f.first), show(f.hundred))
}

// run is one program through one outage.
func (c cell) run(t *testing.T, s settings) figures {
	b := c.database.start(t, c.how)
	p := c.way.open(t, b, c.pool)
	gen, err := worker.Open(t.Context(), engines.MustNew(sqlstore.New(p.leases, sqlstore.Config{})), worker.Config{Namespace: "orders", FenceWindow: s.window, ClaimWait: patience})
	must(t, err)
	write := p.writer(t, source{gen})
	ctx, stop := context.WithCancel(t.Context())
	book := &book{errs: map[string]int{}}
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() { book.request(ctx, write) })
	}
	defer func() {
		stop()
		wg.Wait()
		_ = gen.Close(context.Background())
	}()
	if _, n := book.await(enough, patience); n < enough {
		t.Fatalf("%d orders before the outage; errors %v", n, book.errs)
	}

	gone := time.Now()
	fenced := make(chan time.Time, 1)
	wg.Go(func() { fenced <- firstFenced(ctx, gen) })
	must(t, b.away())
	f := figures{wait: s.wait}
	select {
	case at := <-fenced:
		f.rode = at.Sub(gone)
	case <-time.After(patience):
		t.Fatalf("ids went on for %v without the database: it proves nothing", patience)
	}
	time.Sleep(s.away - time.Since(gone))
	book.forget()
	must(t, b.back())
	back := time.Now()
	times, n := book.await(enough, s.wait)
	if n > 0 {
		f.first = max(times[0].Sub(back), time.Millisecond) // a server answers a little before Start has noticed
	}
	if n >= enough {
		f.hundred = max(times[enough-1].Sub(back), time.Millisecond)
	}
	if n < enough || f.first > s.limit {
		book.mu.Lock()
		defer book.mu.Unlock()
		t.Errorf("%d orders in the %v after the outage, the first %v after the database's return; the lease: %+v; errors: %v", n, s.wait, f.first, gen.Stats(), book.errs)
	}
	return f
}

// firstFenced takes ids outside of any transaction, until there are none, and gives when
// that was.
func firstFenced(ctx context.Context, gen *worker.Generator) time.Time {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		asked := time.Now()
		if _, err := gen.Next(ctx); errors.Is(err, core.ErrFenced) {
			return asked
		}
		<-tick.C
	}
	return time.Time{}
}

// A book has the orders that were written, under ids that were issued since forget.
type book struct {
	mu    sync.Mutex
	since time.Time
	times []time.Time
	errs  map[string]int
}

// request is a client that makes one request after the other, and, when one fails, another
// one after a pause, as browsers do.
func (b *book) request(ctx context.Context, write func(context.Context) error) {
	for ctx.Err() == nil {
		n := new(note)
		err := write(context.WithValue(ctx, noteKey{}, n))
		b.enter(n, err)
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
		}
	}
}

func (b *book) enter(n *note, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err != nil:
		b.errs[fmt.Sprintf("%.200s", err)]++
	case n.issued.After(b.since): // its id was not made before the outage
		b.times = append(b.times, time.Now())
	}
}

func (b *book) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.since, b.times, b.errs = time.Now(), nil, map[string]int{}
}

// await waits for so many orders.
func (b *book) await(orders int, limit time.Duration) (times []time.Time, n int) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(limit); ; <-tick.C {
		b.mu.Lock()
		times = b.times
		b.mu.Unlock()
		if len(times) >= orders || time.Now().After(deadline) {
			return times, len(times)
		}
	}
}

// A note is when a request got its first id.
type note struct{ issued time.Time }

type noteKey struct{}

// A source is a generator that keeps the note of the request which it serves.
type source struct{ *worker.Generator }

func (s source) Next(ctx context.Context) (int64, error) {
	id, err := s.Generator.Next(ctx)
	keep(ctx, err)
	return id, err
}

func (s source) Fill(ctx context.Context, ids []int64) error {
	err := s.Generator.Fill(ctx, ids)
	keep(ctx, err)
	return err
}

func keep(ctx context.Context, err error) {
	if n, ok := ctx.Value(noteKey{}).(*note); ok && err == nil && n.issued.IsZero() {
		n.issued = time.Now()
	}
}

var must = engines.Must
