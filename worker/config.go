package worker

import (
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

// Config is what a lease is made of. The zero value is ready for use: the
// default layout in the space "default".
type Config struct {
	// Space is whose numbers these are: all generators whose ids must differ, and
	// none else. Zero: "default". See [CheckNamespace].
	Namespace string
	// Layout of the ids. Zero: Twitter's. A space keeps the layout of its first
	// lease and refuses any other.
	Layout core.Layout

	// Window is how far ahead the end of the granted span is recorded. Ids go on
	// for FenceWindow − RenewInterval when the store fails. Zero: 30s or 3 ticks, whichever
	// is more.
	FenceWindow time.Duration
	// Renew is how often the end is raised. Zero: a third of Window.
	RenewInterval time.Duration
	// TTL is how long after the last renewal others may take the number. It is
	// for recycling only, uniqueness does not rest on it. Zero: four thirds of
	// Window.
	TTL time.Duration
	// NoExpiry keeps the worker ID leased until it is released, or an operator frees it by
	// the store's [driver.Admin]: also after a crash, and after a claim whose answer was lost.
	// There is no time to live then, so TTL must be zero.
	NoExpiry bool
	// Timeout is how long one request to the store may take. Zero: 3s, or Renew
	// if that is less.
	Timeout time.Duration
	// MaxWait is how long Acquire starts further attempts if no number is free, or if the
	// store fails with an error that may be temporary. The last attempt may take up to
	// Timeout longer. Zero: 5s; with Only, until the claim of a former holder expires,
	// unless that holder renews it. Negative: one attempt.
	MaxWait time.Duration

	// MaxSkew is how far this machine's clock may lie from the store's when a
	// number is claimed. Zero: 10s.
	MaxSkew time.Duration
	// MaxLead is how far ahead of the clock ids may begin, because a former holder
	// of the number had a fast clock. Zero: 1min.
	MaxLead time.Duration

	// Owner is who holds the number, for people to read. Zero: host name and
	// process id.
	Owner string
	// Preferred is the worker ID to claim if it is free: datacenter<<WorkerBits | worker.
	// nil: none.
	Preferred *int64
	// RequirePreferred refuses any worker ID but Preferred. So a worker ID that was assigned
	// from outside gets a durable fence: neither a restart with a clock that went back, nor a
	// second process with the same worker ID, can issue an id twice. Acquire returns a
	// *NoWorkerIDError to the second process.
	RequirePreferred bool
	// Datacenter leases the numbers of one datacenter only, where datacenters whose ids
	// meet have stores of their own, or some numbers are assigned otherwise. The space is
	// that datacenter's alone, and its rows have the worker's part of the number. nil: all
	// worker IDs of the layout.
	Datacenter *int64
	// StopOnLoss ends the lease when its number is lost: ids go on up to the bound
	// and then end. Otherwise another number is claimed, and they go on under it.
	StopOnLoss bool

	Now      func() time.Time // nil: the system clock; give the generator the same
	Observer core.Observer    // is notified of the lease's events, for example core.LogTo(logger); nil: none

	waitForTTL bool           // RequirePreferred, and no MaxWait
	rand       func() float64 // in [0, 1): jitter
}

// check fills in the defaults and reports every fault.
func (cfg Config) check() (Config, error) {
	var wrong fields.Errors
	if cfg.Namespace == "" {
		cfg.Namespace = "default"
	}
	layoutErr := cfg.Layout.Validate()
	for _, err := range []error{driver.CheckNamespace(cfg.Namespace), layoutErr, driver.CheckOwner(cfg.Owner)} {
		var e *core.ConfigError
		if errors.As(err, &e) {
			wrong = append(wrong, e.Fields...)
		}
	}
	cfg.Layout = cfg.Layout.WithDefaults()
	for _, d := range []struct {
		name string
		at   *time.Duration
	}{{"FenceWindow", &cfg.FenceWindow}, {"RenewInterval", &cfg.RenewInterval}, {"TTL", &cfg.TTL}, {"Timeout", &cfg.Timeout}, {"MaxSkew", &cfg.MaxSkew}, {"MaxLead", &cfg.MaxLead}} {
		if *d.at < 0 || *d.at%time.Millisecond != 0 || *d.at > 366*24*time.Hour {
			wrong.Add(d.name, *d.at, "must be whole milliseconds, not negative, and at most a year")
			*d.at = 0
		}
	}
	if cfg.FenceWindow == 0 {
		cfg.FenceWindow = max(30*time.Second, 3*min(cfg.Layout.Tick, 122*24*time.Hour)) // a year at most
	}
	third := max(cfg.FenceWindow/3, 1).Truncate(time.Millisecond)
	if cfg.RenewInterval == 0 {
		cfg.RenewInterval = third
	}
	switch {
	case cfg.NoExpiry && cfg.TTL != 0:
		wrong.Add("TTL", cfg.TTL, "must be zero with NoExpiry")
	case !cfg.NoExpiry && cfg.TTL == 0:
		cfg.TTL = cfg.FenceWindow + third
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = min(3*time.Second, cfg.RenewInterval)
	}
	if layoutErr == nil && cfg.FenceWindow/2 < cfg.Layout.Tick { // twice the tick may be more than a Duration can say
		wrong.Add("FenceWindow", cfg.FenceWindow, "must be at least two ticks of the layout, %v", 2*min(cfg.Layout.Tick, math.MaxInt64/2))
	}
	if cfg.RenewInterval < time.Millisecond || cfg.RenewInterval >= cfg.FenceWindow {
		wrong.Add("RenewInterval", cfg.RenewInterval, "must be at least 1ms and less than FenceWindow, %v", cfg.FenceWindow)
	}
	if !cfg.NoExpiry && cfg.TTL <= cfg.RenewInterval {
		wrong.Add("TTL", cfg.TTL, "must be more than RenewInterval, %v: others could claim the worker ID between two renewals", cfg.RenewInterval)
	}
	if cfg.MaxWait == 0 {
		cfg.MaxWait, cfg.waitForTTL = 5*time.Second, cfg.RequirePreferred
	}
	if cfg.MaxSkew == 0 {
		cfg.MaxSkew = 10 * time.Second
	}
	if cfg.MaxLead == 0 {
		cfg.MaxLead = time.Minute
	}
	if cfg.Owner == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown"
		}
		cfg.Owner = strings.ToValidUTF8(fmt.Sprintf("%.200s:%d", host, os.Getpid()), "?")
	}
	if layoutErr == nil {
		cfg.checkIDs(&wrong)
	}
	if cfg.RequirePreferred && cfg.Preferred == nil {
		wrong.Add("RequirePreferred", true, "needs Preferred")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.rand == nil {
		cfg.rand = rand.Float64
	}
	return cfg, wrong.Err("worker")
}

// checkIDs checks Preferred and Datacenter, and copies them: the caller may change what they
// point to.
func (cfg *Config) checkIDs(wrong *fields.Errors) {
	first, last := int64(0), cfg.Layout.WorkerIDs()-1
	if cfg.Datacenter != nil {
		d := *cfg.Datacenter
		cfg.Datacenter = &d
		centers := values(cfg.Layout.DatacenterBits)
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

// request is a claim in the configuration's terms.
func (cfg *Config) request(token string, now time.Time, avoid int64, lead time.Duration) driver.Request {
	r := driver.Request{
		Namespace: cfg.Namespace, Layout: driver.Fingerprint(cfg.Layout), WorkerIDs: cfg.Layout.WorkerIDs(),
		Preferred: -1, RequirePreferred: cfg.RequirePreferred, Exclude: avoid, ClaimID: token, Owner: cfg.Owner,
		Now: now.UnixMilli(), FenceWindow: cfg.FenceWindow.Milliseconds(), TTL: cfg.ttl(),
		MaxSkew: cfg.MaxSkew.Milliseconds(), MaxLead: lead.Milliseconds(),
	}
	if cfg.Preferred != nil {
		r.Preferred = *cfg.Preferred
	}
	return r
}

func (cfg *Config) ttl() int64 {
	if cfg.NoExpiry {
		return driver.NoTTL
	}
	return cfg.TTL.Milliseconds()
}
