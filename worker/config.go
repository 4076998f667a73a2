package worker

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Config configures a generator and the lease of its worker ID. The zero value is ready for use: it
// takes any worker ID of the default layout in the namespace "default". The lease's durations are
// whole milliseconds, at most a year.
type Config struct {
	// Namespace groups the generators whose ids must differ: these share it, and no others do.
	// [driver.CheckNamespace] has the rules for its name. Zero: "default".
	Namespace string
	// Layout is the layout of the ids. A namespace keeps the layout of its first generator, and
	// refuses any other. Zero: core.Twitter.
	Layout core.Layout

	// Preferred is the worker ID to claim if it is free: datacenter<<WorkerBits | worker.
	// nil: none.
	Preferred *int64
	// RequirePreferred refuses any worker ID but Preferred. This gives a worker ID that was
	// assigned from outside a durable fence: no id is issued twice, neither after a restart with
	// a clock that went back, nor by a second process with the same worker ID. In the second
	// process, Open returns a *NoWorkerIDError.
	RequirePreferred bool
	// Datacenter restricts the generator to the worker IDs of one datacenter, if each datacenter
	// has a separate store. The namespace then belongs to that datacenter alone, and the store's
	// records have only the low WorkerBits of the worker ID. nil: all worker IDs of the layout.
	Datacenter *int64
	// Owner names the holder, for operators, in printable ASCII. Zero: host name and process ID.
	Owner string

	// ClockPolicy says what the generator does when the wall clock steps back.
	// nil: core.Logical{}.
	ClockPolicy core.ClockPolicy
	// Sequence says how the sequence begins in a new tick. Zero: core.SequenceZero.
	Sequence core.SequenceStart
	// MaxWait is the longest that a call of Next or Fill waits for a slot. Zero: 1s, or two
	// ticks if that is more.
	MaxWait time.Duration
	// NotBefore makes all ids later than this time, for example the time of the greatest id in use.
	// Zero: no limit.
	NotBefore time.Time
	// NoCounter reads the clock for every id, and never the processor's cycle counter.
	NoCounter bool

	// FenceWindow is how far ahead of the store's clock each renewal sets the fence. While the
	// store fails, ids continue for at least FenceWindow − RenewInterval. After a holder has
	// crashed, its worker ID can be claimed after FenceWindow + MaxSkew. A namespace keeps the
	// window of its first generator, and refuses any other; snowkey workers window changes it.
	// Zero: 30s, or 3 ticks of the layout if that is more.
	FenceWindow time.Duration
	// RenewInterval is how often the fence is raised. Zero: a third of FenceWindow.
	RenewInterval time.Duration
	// NoExpiry keeps the worker ID leased from the first renewal on, even after a crash, until
	// Close releases it or an operator frees it with the store's [driver.Admin].
	NoExpiry bool
	// Timeout is how long one request to the store may take. Zero: 3s, or RenewInterval if
	// that is less.
	Timeout time.Duration
	// ClaimWait is how long Open retries while no worker ID is free, or the store fails with
	// an error that may be temporary. The last attempt may take up to Timeout longer. Close
	// also retries for that long. Zero: 5s; with RequirePreferred, Open then waits until the claim of
	// a former holder expires, unless that holder renews it. Negative: one attempt.
	ClaimWait time.Duration
	// MaxSkew is how far apart two clocks may be: this machine's and the store's when a worker ID
	// is claimed, and a server's and its successor's. A namespace keeps the MaxSkew of its first
	// generator, and refuses any other. At most half of FenceWindow. Zero: a third of it.
	MaxSkew time.Duration

	// Now is the wall clock. It must be as fine as a tick. nil: the system clock.
	Now func() time.Time
	// Observer receives rare events of the generator and its lease, never of single ids; for
	// example core.LogTo(logger). nil: none.
	Observer core.Observer

	waitForExpiry bool           // RequirePreferred, and no ClaimWait
	rand          func() float64 // in [0, 1): jitter
}

// check fills in the defaults, and returns an error with every field that has a wrong value.
func (cfg Config) check(s driver.Store) (Config, error) {
	var wrong fields.Errors
	if fields.IsNil(s) {
		wrong.Add("Store", nil, "must be given, for example by sqlstore.New")
	}
	cfg.Namespace = cmp.Or(cfg.Namespace, "default")
	layoutErr := cfg.Layout.Validate()
	names := driver.Claim{ // valid but for the two names
		Namespace: cfg.Namespace, Owner: cfg.Owner, Layout: "-", WorkerIDs: 1, Preferred: -1, ClaimID: "-", FenceWindow: 1,
	}
	addFields(&wrong, names.Validate(), layoutErr)
	cfg.Layout = cfg.Layout.WithDefaults()
	for _, d := range []struct {
		name string
		at   *time.Duration
	}{{"FenceWindow", &cfg.FenceWindow}, {"RenewInterval", &cfg.RenewInterval}, {"Timeout", &cfg.Timeout}, {"MaxSkew", &cfg.MaxSkew}} {
		if *d.at < 0 || *d.at%time.Millisecond != 0 || *d.at > 366*24*time.Hour {
			wrong.Add(d.name, *d.at, "must be whole milliseconds, not negative, and at most a year")
			*d.at = 0
		}
	}
	cfg.FenceWindow = cmp.Or(cfg.FenceWindow, max(30*time.Second, 3*min(cfg.Layout.Tick, 122*24*time.Hour))) // a year at most
	third := max((cfg.FenceWindow / 3).Truncate(time.Millisecond), time.Millisecond)
	cfg.RenewInterval, cfg.MaxSkew = cmp.Or(cfg.RenewInterval, third), cmp.Or(cfg.MaxSkew, third)
	if cfg.MaxSkew > cfg.FenceWindow/2 { // so that ids from a floor never wait at the fence: see core's grantClock
		wrong.Add("MaxSkew", cfg.MaxSkew, "must be at most half of FenceWindow, %v", cfg.FenceWindow)
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, min(3*time.Second, cfg.RenewInterval))
	if layoutErr == nil && cfg.FenceWindow/2 < cfg.Layout.Tick { // twice the tick may overflow
		wrong.Add("FenceWindow", cfg.FenceWindow, "must be at least two ticks of the layout, %v", 2*min(cfg.Layout.Tick, math.MaxInt64/2))
	}
	if cfg.RenewInterval < time.Millisecond || cfg.RenewInterval >= cfg.FenceWindow {
		wrong.Add("RenewInterval", cfg.RenewInterval, "must be at least 1ms and less than FenceWindow, %v", cfg.FenceWindow)
	}
	if cfg.ClaimWait == 0 {
		cfg.ClaimWait, cfg.waitForExpiry = 5*time.Second, cfg.RequirePreferred
	}
	if cfg.Owner == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown"
		}
		ascii := func(r rune) rune {
			if r <= ' ' || r > '~' {
				return '?'
			}
			return r
		}
		cfg.Owner = fmt.Sprintf("%.200s:%d", strings.Map(ascii, host), os.Getpid())
	}
	if layoutErr == nil {
		cfg.checkIDs(&wrong)
	}
	if cfg.RequirePreferred && cfg.Preferred == nil {
		wrong.Add("RequirePreferred", true, "needs Preferred")
	}
	ids := cfg.generator(new(lease)) // a source for the check only
	if layoutErr != nil {
		ids.Layout = core.Layout{}
	}
	addFields(&wrong, ids.Validate())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.rand == nil {
		cfg.rand = rand.Float64
	}
	return cfg, wrong.Err("worker")
}

// generator returns the configuration of a generator that gets its worker ID from source.
func (cfg Config) generator(source core.GrantSource) core.Config {
	ids := core.Config{
		Layout: cfg.Layout, Worker: source, ClockPolicy: cfg.ClockPolicy, Sequence: cfg.Sequence, MaxWait: cfg.MaxWait,
		Now: cfg.Now, NotBefore: cfg.NotBefore, NoCounter: cfg.NoCounter,
	}
	if cfg.Observer != nil {
		ids.Observer = inNamespace{cfg.Observer, cfg.Namespace}
	}
	return ids
}

// inNamespace adds the namespace to the generator's events.
type inNamespace struct {
	observer  core.Observer
	namespace string
}

func (o inNamespace) Observe(e core.Event) {
	e.Namespace = o.namespace
	o.observer.Observe(e)
}

// addFields adds the fields of each error that is a *core.ConfigError.
func addFields(wrong *fields.Errors, errs ...error) {
	for _, err := range errs {
		var e *core.ConfigError
		if errors.As(err, &e) {
			*wrong = append(*wrong, e.Fields...)
		}
	}
}

// checkIDs checks Preferred and Datacenter, and copies them: the caller may change what they
// point to.
func (cfg *Config) checkIDs(wrong *fields.Errors) {
	first, last := int64(0), cfg.Layout.WorkerIDs()-1
	if cfg.Datacenter != nil {
		d := *cfg.Datacenter
		cfg.Datacenter = &d
		centers := valueCount(cfg.Layout.DatacenterBits)
		switch {
		case cfg.Layout.DatacenterBits == 0:
			wrong.Add("Datacenter", d, "must be nil: the layout has no datacenter bits")
			return
		case d < 0 || d >= centers:
			wrong.Add("Datacenter", d, "must be 0 to %d, or nil for all", centers-1)
			return
		}
		first, last = d<<cfg.Layout.WorkerBits, (d+1)<<cfg.Layout.WorkerBits-1
	}
	if cfg.Preferred == nil {
		return
	}
	id := *cfg.Preferred
	cfg.Preferred = &id
	if id < first || id > last {
		wrong.Add("Preferred", id, "must be %d to %d, or nil for none", first, last)
	}
}

// renewIn returns how long after a renewal the next one is due. It has jitter, so that leases that
// began together drift apart.
func (cfg *Config) renewIn() time.Duration {
	return time.Duration(float64(cfg.RenewInterval) * (0.9 + 0.1*cfg.rand()))
}

// valueCount returns how many values a field of width bits has, at most 2^62.
func valueCount(width uint8) int64 { return 1 << min(width, 62) }
