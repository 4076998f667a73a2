// Package doctor examines what the uniqueness of ids rests on: the clock of a
// server against this machine's, whether the server keeps what it acknowledges, the
// worker numbers that are leased in it, and the greatest ids in use.
//
// It reads only; nothing is created, claimed or changed.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/core"
)

// Status is how a check ended.
type Status string

// The statuses.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
	Skip Status = "skip" // it cannot be seen from here
)

// Check is what was found about one thing.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"` // what to do
}

// Column holds ids.
type Column struct{ Table, Column string }

// Config is what is to be examined.
type Config struct {
	Target  *dsn.Target
	Layout  core.Layout
	Space   string
	Columns []Column         // whose greatest id is looked at
	Now     func() time.Time // this machine's clock
	MaxSkew time.Duration    // how far the clocks may lie apart
}

// limit is how long one group of checks may take, but for the greatest ids.
const limit = 30 * time.Second

type examination struct {
	Config
	emit  func(Check)
	lossy bool          // a setting that loses writes was told
	ahead time.Duration // of the target's clock
}

// Run examines and tells each check as it ends.
func Run(ctx context.Context, cfg Config, emit func(Check)) {
	e := &examination{Config: cfg, emit: emit}
	for _, part := range []func(context.Context){e.version, e.clock, e.durability, e.numbers} {
		if ctx.Err() != nil {
			return
		}
		bounded, cancel := context.WithTimeout(ctx, limit)
		part(bounded)
		cancel()
	}
	for _, c := range cfg.Columns {
		if ctx.Err() != nil {
			return
		}
		e.greatest(ctx, c)
	}
}

func (e *examination) ok(name, format string, args ...any) {
	e.emit(Check{Name: name, Status: OK, Detail: fmt.Sprintf(format, args...)})
}

func (e *examination) skip(name, format string, args ...any) {
	e.emit(Check{Name: name, Status: Skip, Detail: fmt.Sprintf(format, args...)})
}

func (e *examination) tell(s Status, name, detail, advice string) {
	e.emit(Check{Name: name, Status: s, Detail: detail, Advice: advice})
}

// version says what was reached.
func (e *examination) version(ctx context.Context) {
	var text string
	var err error
	switch t := e.Target; t.Kind {
	case dsn.Postgres:
		err = t.DB.QueryRowContext(ctx, "SELECT current_setting('server_version')").Scan(&text)
	case dsn.MySQL:
		err = t.DB.QueryRowContext(ctx, "SELECT version()").Scan(&text)
	case dsn.SQLite:
		err = t.DB.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&text)
	case dsn.Redis:
		text = info(ctx, e, "server")["redis_version"]
	case dsn.Etcd:
		text, err = etcdVersion(ctx, e)
	default:
		e.ok("connection", "%s", t.Name)
		return
	}
	if err != nil {
		e.tell(Fail, "connection", e.Target.Name+": "+err.Error(), "see whether the server runs and lets this user in")
		return
	}
	if text != "" {
		text = ", version " + text
	}
	e.ok("connection", "%s%s", e.Target.Name, text)
}

// noticeable is from which difference on clocks are worth a word: ids of several
// machines then sort visibly wrong.
const noticeable = time.Second

// tries is how many round trips the comparison of the clocks takes.
const tries = 7

func (e *examination) clock(ctx context.Context) {
	offset, err := e.Target.Offset(ctx, e.Now, tries)
	switch {
	case errors.Is(err, dsn.ErrNoClock):
		e.ok("clock", "%s has this machine's clock", e.Target.Kind)
		return
	case err != nil:
		e.tell(Warn, "clock", "it does not tell its time: "+err.Error(), "compare the clocks by hand")
		return
	}
	e.ahead = offset.Ahead
	apart := offset.Ahead.Abs()
	side := "ahead of"
	if offset.Ahead < 0 {
		side = "behind"
	}
	detail := fmt.Sprintf("%s %s this machine's, ± %s; a round trip takes %s", round(apart), side, round(offset.Uncertain), round(offset.RoundTrip))
	sure := apart - offset.Uncertain
	switch {
	case sure > e.MaxSkew:
		e.tell(Fail, "clock", detail, fmt.Sprintf("more than %v: leases are refused; have both follow one NTP source", e.MaxSkew))
	case sure > noticeable:
		e.tell(Warn, "clock", detail, "ids of machines whose clocks differ do not sort by age; have both follow one NTP source")
	default:
		e.ok("clock", "%s", detail)
	}
}

// round leaves three digits or so.
func round(d time.Duration) time.Duration {
	for unit := time.Duration(1); unit <= time.Second; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
	return d.Round(time.Second)
}

func (e *examination) durability(ctx context.Context) {
	switch e.Target.Kind {
	case dsn.Postgres, dsn.MySQL, dsn.SQLite:
		e.settings(ctx)
	case dsn.Redis:
		e.redis(ctx)
	case dsn.Etcd:
		e.etcd(ctx)
	case dsn.Dir:
		e.fileSystem("directory", e.Target.Path())
	case dsn.HTTP:
		e.skip("durability", "is up to the server's own store; run doctor on that one")
	}
}
