package worker

import (
	"errors"
	"fmt"
	"log/slog"
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
	// Preferred is the number to be given if it is free: datacenter<<WorkerBits |
	// worker. Zero: none. For number 0 say PreferZero; see [Prefer].
	Preferred int64
	// Only refuses any number but Preferred. It gives a number that somebody else
	// has assigned a durable bound; see [Protect].
	RequirePreferred bool
	// Datacenter leases the numbers of one datacenter only, where datacenters whose ids
	// meet have stores of their own, or some numbers are assigned otherwise. The space is
	// that datacenter's alone, and its rows have the worker's part of the number. Zero: all
	// numbers of the layout. For datacenter 0 say PreferZero.
	Datacenter int64
	// StopOnLoss ends the lease when its number is lost: ids go on up to the bound
	// and then end. Otherwise another number is claimed, and they go on under it.
	StopOnLoss bool

	Now      func() time.Time // nil: the system clock; give the generator the same
	Logger   *slog.Logger     // nil: nothing is logged
	Observer Observer         // nil: none

	noTTL      bool           // FromPool
	waitForTTL bool           // Only, and no MaxWait
	rand       func() float64 // in [0, 1): jitter
}

// PreferZero is Config.Preferred for the number 0, and Config.Datacenter for
// datacenter 0.
const PreferZero = -1

// Prefer is Config.Preferred for a number: n, or PreferZero for 0.
func Prefer(n int64) int64 {
	if n == 0 {
		return PreferZero
	}
	return n
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
	if cfg.TTL == 0 {
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
	if cfg.TTL <= cfg.RenewInterval {
		wrong.Add("TTL", cfg.TTL, "must be more than Renew, %v: others would take the number between two renewals", cfg.RenewInterval)
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
	if numbers := cfg.Layout.WorkerIDs(); layoutErr == nil && (cfg.Preferred < PreferZero || cfg.Preferred >= numbers) {
		wrong.Add("Preferred", cfg.Preferred, "must be 1 to %d, PreferZero for number 0, or 0 for none", numbers-1)
	}
	if layoutErr == nil && cfg.Datacenter != 0 && cfg.Layout.DatacenterBits == 0 {
		wrong.Add("Datacenter", cfg.Datacenter, "must be 0: the layout has no datacenter bits")
	} else if centers := values(cfg.Layout.DatacenterBits); layoutErr == nil && (cfg.Datacenter < PreferZero || cfg.Datacenter >= centers) {
		wrong.Add("Datacenter", cfg.Datacenter, "must be 1 to %d, PreferZero for datacenter 0, or 0 for all", centers-1)
	} else if first, ok := cfg.datacenter(); layoutErr == nil && ok && cfg.Preferred != 0 && max(cfg.Preferred, 0)>>cfg.Layout.WorkerBits != first {
		wrong.Add("Preferred", cfg.Preferred, "must be a number of datacenter %d: %d to %d", first, first<<cfg.Layout.WorkerBits, (first+1)<<cfg.Layout.WorkerBits-1)
	}
	if cfg.RequirePreferred && cfg.Preferred == 0 {
		wrong.Add("RequirePreferred", true, "needs a Preferred number; for number 0 that is PreferZero")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.rand == nil {
		cfg.rand = rand.Float64
	}
	return cfg, wrong.Err("worker")
}

// request is a claim in the configuration's terms.
func (cfg *Config) request(token string, now time.Time, avoid int64, lead time.Duration) driver.Request {
	r := driver.Request{
		Namespace: cfg.Namespace, Layout: driver.Fingerprint(cfg.Layout), WorkerIDs: cfg.Layout.WorkerIDs(),
		Preferred: cfg.Preferred, RequirePreferred: cfg.RequirePreferred, Exclude: avoid, ClaimID: token, Owner: cfg.Owner,
		Now: now.UnixMilli(), FenceWindow: cfg.FenceWindow.Milliseconds(), TTL: cfg.ttl(),
		MaxSkew: cfg.MaxSkew.Milliseconds(), MaxLead: lead.Milliseconds(),
	}
	switch cfg.Preferred {
	case 0:
		r.Preferred = -1
	case PreferZero:
		r.Preferred = 0
	}
	return r
}

// datacenter is the one whose numbers are leased, if it is one.
func (cfg *Config) datacenter() (number int64, ok bool) {
	return max(cfg.Datacenter, 0), cfg.Datacenter != 0
}

func (cfg *Config) ttl() int64 {
	if cfg.noTTL {
		return driver.NoTTL
	}
	return cfg.TTL.Milliseconds()
}
