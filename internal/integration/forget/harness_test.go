package forget

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// patience is the timeout of what must happen, on a busy machine.
const patience = time.Minute

// Few ids in a millisecond, so that two holders of a worker ID soon issue the same ones.
var layout = core.Layout{TimeBits: 41, WorkerBits: 8, SequenceBits: 5}

// An admin is a store that shows what it has.
type admin interface {
	driver.Store
	driver.Admin
}

// A site is a store that forgets.
type site struct {
	window  time.Duration // of its holders; zero: 6s
	through bool          // ids are drawn until the clock has caught up with those of new holders
	soon    bool          // the event comes soon after the one before, or after the beginning
	leap    time.Duration // by how much the store's clock was fast at the event
	first   bool          // the first that meets the store after the event is a holder, and not this test
	open    func(t *testing.T) driver.Store
	admin   func(t *testing.T) admin // of the server that answers at present
	// keep is called when the store will forget what is written from now on. nil: it forgets all.
	keep func(t *testing.T)
	// event makes it forget.
	event func(t *testing.T)
	// believe writes the namespace, without any condition.
	believe func(t *testing.T, ns driver.Namespace)
	// enter is how holders join after the event. nil: like those before.
	enter func(g *group, n int)
	// raise repeats what an operator has to do, after the event. nil: nothing.
	raise func(t *testing.T, namespace string)
}

// snapshots returns what keeps the data of a server, and the event that puts it back.
func snapshots(server *testserver.Server) (keep, event func(t *testing.T)) {
	keep = func(t *testing.T) { t.Helper(); must(t, server.Snapshot()) }
	return keep, func(t *testing.T) {
		t.Helper()
		must(t, server.Kill())
		must(t, server.PutBack())
		must(t, server.Start())
	}
}

// A line is the outcome of one event.
type line struct {
	name                                 string
	ids, forgotten, duplicates, controls int
	took, ahead                          time.Duration // of the slowest new holder; of the first id that is furthest ahead of the clock
	lost                                 int           // worker IDs of the group with the protocol
}

func (l line) String() string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %.2f s | %.2f s |", l.name, l.ids, l.forgotten, l.duplicates, l.controls, l.took.Seconds(), l.ahead.Seconds())
}

// checkControl fails the test if the control had no duplicates. This happens if the machine stands still
// for longer than a fence window.
func (l line) checkControl(t *testing.T) {
	t.Helper()
	if l.controls == 0 {
		t.Errorf("%s: the control has no duplicates, which proves nothing", l.name)
	}
}

// prove runs one event with new groups of holders, and again if the control proves nothing.
func prove(t *testing.T, name string, s site) {
	t.Helper()
	for tries := 3; ; tries-- {
		live := newGroup(t, s, "live")
		live.join(3)
		l := round(t, name, s, live, newGroup(t, s, "control"))
		live.leave()
		if l.controls > 0 || tries == 1 {
			l.checkControl(t)
			return
		}
	}
}

// round runs one event: holders before the store keeps its state, others after it, the event, and
// new ones.
func round(t *testing.T, name string, s site, live, control *group) line {
	t.Helper()
	live.wanted = nil
	control.join(3)
	if !s.soon {
		noted(t, s, live)
		noted(t, s, control)
	}
	if s.keep != nil {
		s.keep(t)
	}
	both := func(join func(g *group)) {
		var wg sync.WaitGroup
		for _, g := range []*group{live, control} {
			wg.Go(func() { join(g) })
		}
		wg.Wait()
	}
	both(func(g *group) { g.join(2) })
	connected := live.gate
	live.gate = new(gate) // of one that does not reach the store for a while
	both(func(g *group) { g.join(1) })
	for _, g := range []*group{live, control} { // new holders want what was forgotten
		all := g.workers()
		g.wanted = all[max(len(all)-3, 0):]
	}
	time.Sleep(live.cfg.RenewInterval)

	l := line{name: name}
	alone, old := live.gate, control.gate
	live.gate = connected
	alone.cut()
	old.cut()
	before := state(t, s, control.cfg.Namespace)
	changed, lost := live.count(worker.FloorRaised), live.count(worker.Forgotten, worker.Lost)
	if s.raise != nil {
		live.gate.cut()
	}
	s.event(t)
	if s.first {
		live.enter(2)
	}
	after := state(t, s, control.cfg.Namespace)
	l.forgotten = engines.Forgotten(before, after)
	ns := before.Namespace
	ns.Incarnation, ns.Since, ns.Floor, ns.Seen = after.Server, 0, 0, after.Count
	s.believe(t, ns)
	if s.raise != nil {
		s.raise(t, live.cfg.Namespace)
		live.gate.open()
	}
	believed := control.count(worker.FloorRaised)
	control.gate = new(gate)
	both(func(g *group) { g.enter(4) })
	l.took, l.ahead = live.newest(4)
	time.Sleep(time.Second)
	if s.through {
		time.Sleep(l.ahead)
	}
	for end := time.Now().Add(control.step()); l.controls == 0 && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		_, l.controls = control.result()
	}
	alone.open()
	old.open()
	time.Sleep(2 * live.cfg.RenewInterval)
	l.ids, l.duplicates = live.result()
	control.leave()
	_, l.controls = control.result()
	l.lost = live.count(worker.Forgotten, worker.Lost) - lost
	if n := control.count(worker.FloorRaised) - believed; n > 0 {
		t.Errorf("the control noticed it %d times", n)
	}
	changed = live.count(worker.FloorRaised) - changed
	t.Logf("%v %d lost, %d events floor_raised", l, l.lost, changed)

	if l.forgotten == 0 {
		t.Error("nothing was forgotten: the event proves nothing")
	}
	if l.duplicates > 0 {
		t.Errorf("%d ids were issued twice: %s", l.duplicates, live.show())
	}
	if l.lost == 0 && changed == 0 {
		t.Error("no event says what has happened")
	}
	limit := s.leap + 2*live.step() + time.Second
	if s.raise != nil { // above every fence that is recorded
		limit += live.step()
	}
	if l.ahead > limit {
		t.Errorf("the first new id is %v ahead of the clock, and %v is the limit", l.ahead, limit)
	}
	for _, g := range []*group{live, control} {
		for text, n := range g.failures() {
			t.Errorf("%s: %d x %s", g.cfg.Namespace, n, text)
		}
	}
	return l
}

// unharmed runs an event by which nothing is lost: holders keep their worker IDs.
func unharmed(t *testing.T, name string, s site) {
	t.Helper()
	g := newGroup(t, s, "unharmed")
	g.join(6)
	had := g.workers()
	if s.keep != nil {
		s.keep(t)
	}
	before, changed := state(t, s, g.cfg.Namespace), g.count(worker.FloorRaised)
	s.event(t)
	lost := engines.Forgotten(before, state(t, s, g.cfg.Namespace))
	g.join(2)
	took, ahead := g.newest(2)
	g.renewed(2)
	got := g.workers()[:len(had)]
	g.leave()
	ids, duplicates := g.result()
	changed = g.count(worker.FloorRaised) - changed
	t.Logf("| %s | %d | %d | %d | - | %.2f s | %.2f s | 0 lost, %d events floor_raised", name, ids, lost, duplicates, took.Seconds(), ahead.Seconds(), changed)
	if !slices.Equal(had, got) || g.count(worker.Lost, worker.Forgotten) > 0 || changed > 1 {
		t.Errorf("worker IDs %v became %v, and the events were %v", had, got, g.events)
	}
	if duplicates > 0 || lost > 0 || len(g.failures()) > 0 {
		t.Errorf("%d ids were issued twice, %d claims are gone, %v", duplicates, lost, g.failures())
	}
}

// state is what the store has of a namespace.
func state(t *testing.T, s site, namespace string) (st driver.State) {
	t.Helper()
	store := s.admin(t)
	poll(t, func() (err error) {
		st, err = store.List(t.Context(), namespace)
		return err
	})
	return st
}

// noted waits until the store has noted the event before, and its floor is not forgotten while it is
// ahead of the clock.
func noted(t *testing.T, s site, g *group) {
	t.Helper()
	store := s.admin(t)
	poll(t, func() error {
		st, err := store.List(t.Context(), g.cfg.Namespace)
		if ns := st.Namespace; err == nil && (st.Forgot() || s.keep == nil && ns.Floor > st.Now) {
			err = fmt.Errorf("the server is %q at %d, and this is recorded: %+v", st.Server, st.Now, ns)
		}
		return err
	})
}

// poll asks again and again, as long as it gets an error.
func poll(t *testing.T, ask func() error) {
	t.Helper()
	testserver.Eventually(t, patience, ask)
}

// port returns the port of a host:port.
func port(addr string) string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		panic(err)
	}
	return port
}

var must = engines.Must

// A gate keeps the requests of holders from the store.
type gate struct {
	mu   sync.RWMutex
	shut bool
}

// cut returns when no request is under way.
func (g *gate) cut()  { g.set(true) }
func (g *gate) open() { g.set(false) }
func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
}

var errCut = errors.New("the network is cut")

// gated is a store behind a gate.
type gated struct {
	driver.Store
	gate *gate
}

func through[T any](g *gate, ask func() (T, error)) (got T, err error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.shut {
		return got, errCut
	}
	return ask()
}

// Claim implements driver.Store.
func (s gated) Claim(ctx context.Context, c driver.Claim) (driver.Lease, error) {
	return through(s.gate, func() (driver.Lease, error) { return s.Store.Claim(ctx, c) })
}

// Renew implements driver.Store.
func (s gated) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	return through(s.gate, func() (driver.Lease, error) { return s.Store.Renew(ctx, r) })
}

// Release implements driver.Store.
func (s gated) Release(ctx context.Context, r driver.Release) error {
	_, err := through(s.gate, func() (any, error) { return nil, s.Store.Release(ctx, r) })
	return err
}

// A group is the holders of one namespace, which draw ids all the time. Their clocks differ by less
// than MaxSkew.
type group struct {
	t    *testing.T
	site site
	cfg  worker.Config
	gate *gate
	stop chan struct{}
	wg   sync.WaitGroup

	wanted []int64 // worker IDs, by those that join

	mu         sync.Mutex
	holders    []*holder
	all        []*holder
	spans      []span
	events     map[core.EventKind]int
	unexpected map[string]int
}

type holder struct {
	gen         *worker.Generator
	took, ahead time.Duration // until the first id, and how far that was ahead of the clock
	stop, done  chan struct{}
	number      int
	history     []string
}

// A span is consecutive ids that one holder has issued.
type span struct {
	First, Last int64
	Holder      int
}

// newGroup returns a group with its own namespace.
func newGroup(t *testing.T, s site, name string) *group {
	t.Helper()
	window := cmp.Or(s.window, 6*time.Second)
	g := &group{
		t: t, site: s, gate: new(gate), stop: make(chan struct{}), events: map[core.EventKind]int{}, unexpected: map[string]int{},
		cfg: worker.Config{
			Namespace: fmt.Sprintf("%s-%d", name, time.Now().UnixNano()), Layout: layout, FenceWindow: window, RenewInterval: min(window/10, 300*time.Millisecond).Truncate(time.Millisecond),
			Timeout: time.Second, ClaimWait: patience / 3, MaxWait: 20 * time.Millisecond,
		},
	}
	t.Cleanup(g.leave)
	return g
}

// step is by how much a floor rises.
func (g *group) step() time.Duration { return g.cfg.FenceWindow + g.cfg.FenceWindow/3 }

// An observer notes the events of a holder.
type observer struct {
	*group
	h *holder
}

// Observe implements core.Observer.
func (o observer) Observe(e core.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events[e.Kind]++
	o.h.history = append(o.h.history, fmt.Sprintf("%s %s %d %v %v", time.Now().UTC().Format("05.000"), e.Kind, e.Worker, e.Duration, e.Err))
}

func (g *group) failures() map[string]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.unexpected)
}

func (g *group) count(kinds ...core.EventKind) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, kind := range kinds {
		n += g.events[kind]
	}
	return n
}

// join opens holders, all at once, and returns when each has ids.
func (g *group) join(n int) {
	g.t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		apart := g.cfg.FenceWindow / 12 * time.Duration(i%3-1)
		store := g.site.open(g.t)
		wg.Go(func() {
			cfg := g.cfg
			h := &holder{stop: make(chan struct{}), done: make(chan struct{})}
			g.mu.Lock()
			g.all = append(g.all, h)
			h.number = len(g.all) - 1
			g.mu.Unlock()
			cfg.Observer = observer{g, h}
			cfg.Now = func() time.Time { return time.Now().Add(apart) }
			if i < len(g.wanted) {
				cfg.Preferred = &g.wanted[i]
			}
			began := time.Now()
			gen, err := worker.Open(g.t.Context(), gated{store, g.gate}, cfg)
			if err != nil {
				g.failed(err)
				return
			}
			h.gen = gen
			var id int64
			for id == 0 {
				if id, err = gen.Next(g.t.Context()); err != nil && time.Since(began) > patience {
					g.failed(err)
					return
				}
			}
			h.took, h.ahead = time.Since(began), time.Until(timeOf(id))
			g.mu.Lock()
			g.holders = append(g.holders, h)
			g.spans = append(g.spans, span{id, id, h.number})
			g.mu.Unlock()
			g.wg.Go(func() { g.draw(h) })
		})
	}
	wg.Wait()
}

// enter opens holders after an event.
func (g *group) enter(n int) {
	g.t.Helper()
	if g.site.enter != nil {
		g.site.enter(g, n)
		return
	}
	g.join(n)
}

func timeOf(id int64) time.Time {
	parts, err := layout.Decode(id)
	if err != nil {
		panic(err)
	}
	return parts.Time
}

func (g *group) failed(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unexpected[err.Error()]++
}

// draw takes ids until the group ends.
func (g *group) draw(h *holder) {
	defer close(h.done)
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = h.gen.Close(ctx)
	}()
	pause := time.NewTicker(time.Millisecond)
	defer pause.Stop()
	ids := make([]int64, 8)
	for {
		select {
		case <-g.stop:
			return
		case <-h.stop:
			return
		case <-pause.C:
		}
		err := h.gen.Fill(g.t.Context(), ids)
		switch {
		case err == nil:
			g.issued(h, ids)
		case errors.Is(err, core.ErrFenced), errors.Is(err, core.ErrSequenceExhausted), errors.Is(err, core.ErrLost): // later
		case g.t.Context().Err() == nil:
			g.failed(err)
		}
	}
}

func (g *group) issued(h *holder, ids []int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, id := range ids {
		if end := len(g.spans) - 1; i > 0 && g.spans[end].Last == id-1 {
			g.spans[end].Last = id
			continue
		}
		g.spans = append(g.spans, span{id, id, h.number})
	}
}

// newest returns the longest time until ids of the last holders, and how far they were ahead.
func (g *group) newest(n int) (took, ahead time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.holders[max(len(g.holders)-n, 0):] {
		took, ahead = max(took, h.took), max(ahead, h.ahead)
	}
	return took, max(ahead, 0)
}

func (g *group) workers() (all []int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.holders {
		all = append(all, h.gen.Worker())
	}
	return all
}

// renewed waits until each holder has renewed its lease as often as that.
func (g *group) renewed(times uint64) {
	g.t.Helper()
	g.mu.Lock()
	holders := slices.Clone(g.holders)
	g.mu.Unlock()
	for _, h := range holders {
		from := h.gen.Stats().Renewals
		poll(g.t, func() error {
			if st := h.gen.Stats(); st.Renewals < from+times {
				return fmt.Errorf("no renewal of worker ID %d: %w", st.Worker, st.Failing)
			}
			return nil
		})
	}
}

// shrink ends all holders but the first ones.
func (g *group) shrink(to int) {
	g.mu.Lock()
	ended := slices.Clone(g.holders[to:])
	g.holders = g.holders[:to]
	g.mu.Unlock()
	for _, h := range ended {
		close(h.stop)
		<-h.done
	}
}

// leave ends all holders.
func (g *group) leave() {
	select {
	case <-g.stop:
	default:
		close(g.stop)
	}
	g.wg.Wait()
}

// result returns how many ids were issued, and how many of them more than once.
func (g *group) result() (ids, duplicates int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	slices.SortFunc(g.spans, func(a, b span) int { return cmp.Compare(a.First, b.First) })
	end := int64(-1)
	for _, s := range g.spans {
		ids += int(s.Last-s.First) + 1
		duplicates += int(max(min(s.Last, end)-s.First+1, 0))
		end = max(end, s.Last)
	}
	return ids, duplicates
}

// show describes the first duplicates.
func (g *group) show() (text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	shown := map[int]bool{}
	for i := 1; i < len(g.spans) && len(text) < 30000; i++ {
		if a, b := g.spans[i-1], g.spans[i]; b.First <= a.Last {
			p, _ := layout.Decode(b.First)
			text += fmt.Sprintf("%+v of holders %d and %d\n", p, a.Holder, b.Holder)
			for _, n := range []int{a.Holder, b.Holder} {
				if !shown[n] {
					shown[n] = true
					text += strings.Join(g.all[n].history, "\n") + "\n"
				}
			}
		}
	}
	return text + fmt.Sprint(g.events, slices.Sorted(maps.Keys(g.unexpected)))
}
