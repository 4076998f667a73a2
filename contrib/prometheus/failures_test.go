package prometheus_test

import (
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// A failure is what happens to a program, and which alerts fire because of it.
type failure struct {
	name   string
	length time.Duration
	start  func(p *plant)
	steps  []step
	fires  []firing
}

type step struct {
	at time.Duration
	do func(p *plant)
}

// firing are the names of all alerts that fire at one time.
type firing struct {
	at     time.Duration
	alerts []string
}

var layout = core.Layout{Epoch: time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC), TimeBits: 41, WorkerBits: 4, SequenceBits: 12}

func leased(p *plant) { p.open(worker.Config{Layout: layout}) }

// third is a program that accepts worker ID 3 only.
func third(p *plant) {
	id := int64(3)
	p.open(worker.Config{Layout: layout, Preferred: &id, RequirePreferred: true})
}

func storeDown(p *plant) { p.down.Store(true) }

func storeUp(p *plant) { p.down.Store(false) }

func clock(by time.Duration) func(p *plant) {
	return func(p *plant) { p.ahead.Add(int64(by)) }
}

// freed: an operator frees the worker ID, as another holder may after the TTL.
func freed(p *plant) {
	s := p.gen.Stats()
	if err := p.mem.Free(p.Context(), s.Namespace, s.Worker, s.FencingToken); err != nil {
		p.Error(err)
	}
}

// ending is a layout that ends some time after the beginning of the bubble.
func ending(after time.Duration) func(p *plant) {
	return func(p *plant) {
		l := layout
		l.TimeBits, l.Epoch = 36, time.Now().Add(after-(1<<36)*time.Millisecond)
		p.open(worker.Config{Layout: l})
	}
}

const (
	second = time.Second
	minute = time.Minute
	day    = 24 * time.Hour
)

func failures() []failure {
	return []failure{
		{
			name: "nothing fails", length: 20 * minute, start: leased,
			fires: []firing{{0, nil}, {minute, nil}, {10 * minute, nil}, {20 * minute, nil}},
		},
		{
			name: "some renewals fail", length: 5 * minute,
			start: func(p *plant) { p.open(worker.Config{Layout: layout, RenewInterval: second}) },
			steps: []step{{72 * second, storeDown}, {77 * second, storeUp}},
			fires: []firing{{75 * second, nil}, {90 * second, nil}, {5 * minute, nil}},
		},
		{
			name: "the store is gone for three minutes", length: 6 * minute, start: leased,
			steps: []step{{62 * second, storeDown}, {242 * second, storeUp}},
			fires: []firing{
				{minute, nil},
				{2 * minute, []string{"SnowkeyIDsStopped", "SnowkeyLeaseFailing"}},
				{4 * minute, []string{"SnowkeyIDsStopped", "SnowkeyLeaseFailing"}},
				{255 * second, nil},
				{6 * minute, nil},
			},
		},
		{
			name: "the store is gone for less than a long fence window", length: 15 * minute,
			start: func(p *plant) {
				p.open(worker.Config{Layout: layout, FenceWindow: 10 * minute, RenewInterval: 10 * second})
			},
			steps: []step{{62 * second, storeDown}, {10 * minute, storeUp}},
			fires: []firing{
				{minute, nil},
				{90 * second, []string{"SnowkeyLeaseFailing"}},
				{5 * minute, []string{"SnowkeyLeaseFailing"}},
				{7 * minute, []string{"SnowkeyFenceNear", "SnowkeyLeaseFailing"}},
				{585 * second, []string{"SnowkeyFenceNear", "SnowkeyLeaseFailing"}},
				{630 * second, nil},
				{15 * minute, nil},
			},
		},
		{
			name: "the worker ID is lost", length: 25 * minute, start: leased,
			steps: []step{{100 * second, freed}},
			fires: []firing{
				{90 * second, nil},
				{2 * minute, []string{"SnowkeyWorkerIDLost"}},
				{15 * minute, []string{"SnowkeyWorkerIDLost"}},
				{18 * minute, nil},
			},
		},
		{
			name: "the worker ID is lost, and there is no other", length: 9 * minute, start: third,
			steps: []step{{100 * second, func(p *plant) { freed(p); third(p) }}},
			fires: []firing{
				{90 * second, nil},
				{8 * minute, []string{"SnowkeyIDsStopped", "SnowkeyLeaseFailing", "SnowkeyWorkerIDLost"}},
			},
		},
		{
			name: "the lease stops on a loss", length: 9 * minute,
			start: func(p *plant) { p.open(worker.Config{Layout: layout, StopOnLoss: true}) },
			steps: []step{{100 * second, freed}},
			fires: []firing{
				{minute, nil},
				{5 * minute, []string{"SnowkeyWorkerIDLost"}},
				{8 * minute, []string{"SnowkeyLeaseEnded", "SnowkeyWorkerIDLost"}},
			},
		},
		{
			name: "the clock is set back", length: 20 * minute, start: leased,
			steps: []step{{100 * second, clock(-5 * second)}},
			fires: []firing{
				{90 * second, nil},
				{2 * minute, []string{"SnowkeyClockSteppedBack"}},
				{15 * minute, []string{"SnowkeyClockSteppedBack"}},
				{18 * minute, nil},
			},
		},
		{
			name: "the clock jumps ahead of the store's", length: 8 * minute, start: leased,
			steps: []step{{100 * second, clock(2 * time.Hour)}, {280 * second, clock(-2 * time.Hour)}},
			fires: []firing{
				{90 * second, nil},
				{4 * minute, []string{"SnowkeyClockUnconfirmed", "SnowkeyLeaseFailing"}},
				{8 * minute, nil}, // the ids have not followed it
			},
		},
		{
			name: "ticks are full", length: 13 * minute,
			start: func(p *plant) {
				l := layout
				l.Tick, l.SequenceBits = 250*time.Millisecond, 0
				p.open(worker.Config{Layout: l})
				p.draw(p.gen, 0)
			},
			fires: []firing{{minute, nil}, {9 * minute, nil}, {12 * minute, []string{"SnowkeySequenceExhausted"}}},
		},
		{
			name: "the layout ends in 200 days", length: 2 * minute, start: ending(200 * day),
			fires: []firing{{minute, []string{"SnowkeyLayoutEnds"}}},
		},
		{
			name: "the layout ends in 20 days", length: 2 * minute, start: ending(20 * day),
			fires: []firing{{minute, []string{"SnowkeyLayoutEnds", "SnowkeyLayoutEndsSoon"}}},
		},
		{
			name: "two generators have one worker ID", length: 10 * minute, start: fixed(3, 3),
			fires: []firing{{minute, nil}, {8 * minute, []string{"SnowkeyDuplicateWorkerID"}}},
		},
		{
			name: "two generators have a worker ID each", length: 10 * minute, start: fixed(3, 4),
			fires: []firing{{8 * minute, nil}},
		},
	}
}

// fixed are programs without leases.
func fixed(ids ...int64) func(p *plant) {
	return func(p *plant) {
		for _, id := range ids {
			p.generate(core.Config{Layout: layout, Worker: core.Fixed(id), Now: p.now})
		}
	}
}
