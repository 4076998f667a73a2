// Package doctor checks what the uniqueness of ids depends on: this machine's clock, a
// server's clock against it, settings of the server, whether its store was put back to an earlier
// state, the leased worker IDs, and the largest ids in use.
//
// It only reads; nothing is created, claimed or changed.
package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Status is the result of a check.
type Status string

// The statuses.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
	Skip Status = "skip" // not visible from here
)

// Check is the result of one check.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"` // what to do
}

// Column is a column of ids.
type Column struct{ Table, Column string }

// Config configures Run.
type Config struct {
	Target    *dsn.Target
	Layout    core.Layout
	Namespace string
	Columns   []Column         // whose largest ids are checked
	Now       func() time.Time // this machine's clock
	MaxSkew   time.Duration    // largest difference between the clocks
}

// limit bounds each group of checks, except for the largest ids.
const limit = 30 * time.Second

type checkup struct {
	Config
	emit  func(Check)
	store dsn.Store    // nil: the worker IDs cannot be listed
	state driver.State // of the namespace
}

// Run runs the checks and reports each as it finishes.
func Run(ctx context.Context, cfg Config, emit func(Check)) {
	e := &checkup{Config: cfg, emit: emit}
	for _, part := range []func(context.Context){e.version, e.kernel, e.clock, e.server, e.workers, e.locks, e.replication} {
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
		e.checkLargest(ctx, c)
	}
}

func (e *checkup) ok(name, format string, args ...any) {
	e.report(OK, name, fmt.Sprintf(format, args...), "")
}

func (e *checkup) skip(name, format string, args ...any) {
	e.report(Skip, name, fmt.Sprintf(format, args...), "")
}

// report emits a check, whose advice may be after a semicolon in the detail.
func (e *checkup) report(s Status, name, detail, advice string) {
	if advice == "" {
		detail, advice, _ = strings.Cut(detail, "; ")
	}
	e.emit(Check{Name: name, Status: s, Detail: detail, Advice: advice})
}

// judge reports s with its advice if the detail is bad, otherwise OK.
func (e *checkup) judge(bad bool, s Status, name, detail, advice string) {
	if !bad {
		s, advice = OK, ""
	}
	e.report(s, name, detail, advice)
}

// version reports what was reached.
func (e *checkup) version(ctx context.Context) {
	var text string
	var err error
	switch t := e.Target; t.Kind {
	case dsn.Postgres, dsn.MySQL, dsn.SQLite:
		query := map[dsn.Kind]string{dsn.Postgres: "SELECT current_setting('server_version')", dsn.MySQL: "SELECT version()", dsn.SQLite: "SELECT sqlite_version()"}[t.Kind]
		err = t.DB.QueryRowContext(ctx, query).Scan(&text)
	case dsn.Redis:
		text = info(ctx, e, "server")["redis_version"]
	case dsn.HTTP: // no request was sent yet: the check of the worker IDs shows what answers
		return
	}
	if err != nil {
		e.report(Fail, "connection", e.Target.Name+": "+err.Error(), "check that the server runs and admits this user")
		return
	}
	if text != "" {
		text = ", version " + text
	}
	e.ok("connection", "%s%s", e.Target.Name, text)
}

// noticeable is the difference of clocks from which ids of several machines sort visibly
// wrong.
const noticeable = time.Second

// tries is the number of round trips of the comparison.
const tries = 7

func (e *checkup) clock(ctx context.Context) {
	offset, err := e.Target.Offset(ctx, e.Now, tries)
	switch {
	case errors.Is(err, dsn.ErrNoClock):
		e.ok("clock", "%s uses this machine's clock", e.Target.Kind)
		return
	case err != nil:
		e.report(Warn, "clock", "cannot be read: "+err.Error(), "compare the clocks by hand")
		return
	}
	apart := offset.Ahead.Abs()
	side := "ahead of"
	if offset.Ahead < 0 {
		side = "behind"
	}
	detail := fmt.Sprintf("%s %s this machine's, ± %s, by round trips of %s", timetext.Length(apart), side, timetext.Length(offset.Uncertain), timetext.Length(offset.RoundTrip))
	sure := apart - offset.Uncertain
	if sure > e.MaxSkew {
		e.report(Fail, "clock", detail, fmt.Sprintf("more than %v: leases are refused; synchronize both with one NTP source", e.MaxSkew))
		return
	}
	e.judge(sure > noticeable, Warn, "clock", detail, "ids of machines whose clocks differ do not sort by age; synchronize both with one NTP source")
}

// How far the largest id may be ahead of the clock: clocks differ a little, and by
// default a generator runs ahead of its own by at most 10s.
const (
	aheadOK   = time.Second
	aheadWarn = time.Minute
)

// checkLargest checks the largest id of a column: a generator must not start below it.
func (e *checkup) checkLargest(ctx context.Context, c Column) {
	name := "largest id of " + c.Table + "." + c.Column
	var text sql.NullString
	dialect := e.Target.Kind.Dialect()
	column, err := dialect.Quote(c.Column)
	if err == nil {
		var table string
		if table, err = dialect.Quote(strings.Split(c.Table, ".")...); err == nil {
			err = e.Target.DB.QueryRowContext(ctx, "SELECT MAX("+column+") FROM "+table).Scan(&text)
		}
	}
	if err != nil {
		e.report(Fail, name, err.Error(), "check the names, and that this user may read it")
		return
	}
	if !text.Valid {
		e.ok(name, "it has no rows")
		return
	}
	id, err := strconv.ParseInt(text.String, 10, 64)
	if err != nil {
		e.report(Fail, name, fmt.Sprintf("%.40q is not a bigint", text.String), "give the column of the ids")
		return
	}
	parts, err := e.Layout.Decode(id)
	if err != nil {
		e.report(Fail, name, fmt.Sprintf("%d is not an id of this layout", id), "give the layout's flags; if they are right, something other than snowkey fills the column")
		return
	}
	if e.checkFence(ctx, name, id, parts) {
		return
	}
	ahead := parts.Time.Sub(e.Now())
	detail := fmt.Sprintf("%d of %s", id, timetext.Format(parts.Time))
	advice := fmt.Sprintf("generators without a lease may repeat ids: set core.Config.NotBefore (gen --not-before) to %s, and find the clock that was fast", timetext.Format(parts.Time))
	if ahead <= aheadOK {
		e.ok(name, "%s, not ahead of now", detail)
		return
	}
	status := Warn
	if ahead > aheadWarn {
		status = Fail
	}
	e.report(status, name, fmt.Sprintf("%s, %s ahead of now", detail, timetext.Length(ahead)), advice)
}

// kernelClock is what the kernel knows about this machine's clock.
type kernelClock struct {
	synchronized bool          // by an NTP client, according to that
	maxError     time.Duration // the bound that the NTP client and the kernel maintain
}

func (e *checkup) kernel(context.Context) { e.judgeKernel(readKernel()) }

func (e *checkup) judgeKernel(k kernelClock, err error) {
	const name = "kernel clock"
	switch {
	case err != nil:
		e.skip(name, "not visible: %v", err)
	case !k.synchronized:
		e.report(Warn, name, "not synchronized, so its error is unknown", "run an NTP client such as chrony; it may step the clock when it starts")
	default:
		e.judge(k.maxError > noticeable, Warn, name,
			fmt.Sprintf("synchronized, wrong by at most %s", timetext.Length(k.maxError)),
			"ids of machines whose clocks differ do not sort by age; check the servers of the NTP client")
	}
}
