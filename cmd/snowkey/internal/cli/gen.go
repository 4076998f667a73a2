package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// genFlags are the flags of the command.
type genFlags struct {
	count              int64
	worker, datacenter int64 // -1: not given
	lease              storeFlags
	format             describe.Format
	notBefore          string
	at                 string // compose instead of generating
	sequence           int64  // of the first composed id; -1: not given
	layout             core.Layout
}

const genAbout = `Generate ids, one per line.

Two processes that generate ids for the same tables must not use the same worker
ID at the same time, so there is no default. Give one that no other process
uses, or lease a free one from a store. It is released at the end, also after
SIGINT or SIGTERM. After a crash the lease expires, and even then no id is
issued twice.

With --at, ids are composed for a given time instead: the same each time, for
bounds and test data, never for rows. They need no worker ID of their own; 0 is
the default.`

func (a *app) genCommand() *cobra.Command {
	g := &genFlags{worker: -1, datacenter: -1, sequence: -1, count: 1, format: describe.Decimal}
	cmd := a.command("gen {--worker N | --lease DSN | --at TIME} [flags]", "generate ids", genAbout,
		`  snowkey gen -n 10 --worker 3
  snowkey gen -n 1000000 --lease file:ids.db > ids.txt
  snowkey gen --worker 3 --datacenter 1 --format base58
  snowkey gen --worker 3 --format ord_
  snowkey gen --at 2026-01-01 -n 3`,
		arguments(0, 0, "no arguments"), func(cmd *cobra.Command, _ []string) error { return a.gen(cmd.Context(), g) })
	f := cmd.Flags()
	f.VarP(flagval.New(&g.count, "N", "1", flagval.Whole(1, 1_000_000_000_000)), "count", "n", "number of ids")
	f.Var(flagval.New(&g.worker, "N", "", flagval.Whole(0, math.MaxInt64)), "worker", "worker ID that no other process uses; without --datacenter it is datacenter<<worker-bits | worker")
	f.Var(flagval.New(&g.datacenter, "N", "", flagval.Whole(0, math.MaxInt64)), "datacenter", "upper part of the worker ID; --worker is then the lower part")
	g.lease.add(cmd, "lease", "store from which a free worker ID is leased")
	enumVar(cmd, flagval.New(&g.format, "FORMAT", "decimal", describe.FormatOf), "format", describe.Forms, describe.Formats())
	f.StringVar(&g.notBefore, "not-before", "", "generate ids later than this `TIME`, such as that of the largest id in use: "+timetext.Forms)
	f.StringVar(&g.at, "at", "", "compose ids of this `TIME`, for bounds and tests: "+timetext.Forms)
	f.Var(flagval.New(&g.sequence, "N", "0", flagval.Whole(0, math.MaxInt64)), "sequence", "sequence of the first composed id; requires --at")
	a.jsonFlag(cmd, `{"id": "…"} per line, and the id in --format`)
	addLayout(cmd, &g.layout)
	return cmd
}

func (a *app) gen(ctx context.Context, g *genFlags) (err error) {
	if err := g.lease.unused(); err != nil {
		return err
	}
	if g.layout.Unsigned && g.format.Signed() {
		return usage("--format %s ends at the largest int64: use decimal or hex with --unsigned", g.format)
	}
	if g.at != "" {
		return a.compose(ctx, g)
	}
	if g.sequence >= 0 {
		return usage("--sequence requires --at: a generator counts by itself")
	}
	var notBefore time.Time
	if g.notBefore != "" {
		if notBefore, err = a.moment("--not-before", g.notBefore, time.UTC); err != nil {
			return err
		}
	}
	var id int64
	switch leased, given := g.lease.text != "", g.worker >= 0; {
	case leased && (given || g.datacenter >= 0):
		return usage("--lease chooses the worker ID: it excludes --worker and --datacenter")
	case leased:
		generator, closer, failed := a.leased(ctx, &g.lease, worker.Config{Layout: g.layout, NotBefore: notBefore})
		if failed != nil {
			return failed
		}
		defer closer(&err)
		return a.genAll(ctx, g, generator.Fill)
	case !given:
		return usage("a worker ID is required and none is safe to guess: give --worker N, one that no other process uses, or --lease DSN, to lease a free one")
	default:
		if id, err = describe.WorkerID(g.layout, g.datacenter, g.worker); err != nil {
			return byFlag(err)
		}
	}
	generator, err := core.New(core.Config{Layout: g.layout, Worker: core.Fixed(id), NotBefore: notBefore, Now: a.Clock})
	if err != nil {
		return byFlag(err)
	}
	defer generator.Close()
	return a.genAll(ctx, g, generator.Fill)
}

// leased opens a generator with a leased worker ID. The closer releases that, reports failures,
// and closes the store.
func (a *app) leased(ctx context.Context, p *storeFlags, cfg worker.Config) (*worker.Generator, func(*error), error) {
	target, store, err := a.openStore(ctx, p, true)
	if err != nil {
		return nil, nil, err
	}
	cfg.Namespace, cfg.Now, cfg.Observer = p.namespace, a.Clock, leaseNotes{a}
	generator, err := worker.Open(ctx, store, cfg)
	if window := new(worker.WindowError); errors.As(err, &window) { // the namespace has another one
		cfg.FenceWindow, cfg.MaxSkew = time.Duration(window.HaveWindow)*time.Millisecond, time.Duration(window.HaveSkew)*time.Millisecond
		generator, err = worker.Open(ctx, store, cfg)
	}
	if err != nil {
		target.Close()
		var config *core.ConfigError
		if errors.As(err, &config) && config.Package == "core" {
			return nil, nil, byFlag(err)
		}
		if ctx.Err() != nil {
			return nil, nil, errors.New("interrupted before a worker ID was leased")
		}
		return nil, nil, fmt.Errorf("%s: %w", target.Name, err)
	}
	return generator, func(err *error) {
		if failed := generator.Close(context.Background()); failed != nil {
			a.failed = true // a broken pipe would hide it
			a.note("%s worker ID %d was not released and will expire: %v", a.errStyle.paint(red, "snowkey gen:"), generator.Worker(), failed)
			if *err == nil {
				*err = errReported
			}
		}
		target.Close()
	}, nil
}

// leaseNotes reports trouble with a lease.
type leaseNotes struct{ a *app }

// Observe implements core.Observer. Other goroutines than the writer of ids call it, so it
// does not flush standard output.
func (n leaseNotes) Observe(e core.Event) {
	switch e.Kind {
	case worker.RenewFailed, worker.Lost, worker.Forgotten, worker.ClaimFailed:
		fmt.Fprintf(n.a.Err, "worker ID %d: %v: %s\n", e.Worker, e.Kind, n.a.clean(e.Err))
	}
}

// batch is the number of ids that are reserved and written at once: in decimal they fit a
// pipe of 64 KiB, so a write wakes the reader once.
const batch = 3072

// genAll prints the ids that fill gets.
func (a *app) genAll(ctx context.Context, g *genFlags, fill func(context.Context, []int64) error) error {
	unsigned := g.layout.Unsigned
	ids := make([]int64, min(batch, g.count))
	for made := int64(0); made < g.count; {
		ids = ids[:min(int64(len(ids)), g.count-made)]
		if err := fill(ctx, ids); err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("interrupted after %s of %d", plural(made, "id"), g.count)
			}
			var back *core.ClockError
			if made == 0 && g.notBefore != "" && errors.As(err, &back) {
				return fmt.Errorf("--not-before %q: is %s ahead of the clock; ids can be generated from then on", g.notBefore, timetext.Length(back.Back))
			}
			return fmt.Errorf("after %s of %d: %w", plural(made, "id"), g.count, err)
		}
		for _, id := range ids {
			if a.json {
				d := describe.Text(id, g.format)
				_ = a.line(&d) // the check below returns its error, too
				continue
			}
			_, _ = a.out.Write(append(g.format.Append(a.out.AvailableBuffer(), id, unsigned), '\n'))
		}
		if _, err := a.out.Write(nil); err != nil {
			return fmt.Errorf("write standard output: %w", dsn.Bare(err))
		}
		made += int64(len(ids))
	}
	return nil
}

// compose prints the ids of gen --at: those of one tick, counted up from a sequence. The API
// composes by the same rules.
func (a *app) compose(ctx context.Context, g *genFlags) error {
	switch {
	case g.lease.text != "":
		return usage("--at composes ids without a lease: it excludes --lease")
	case g.notBefore != "":
		return usage("--at and --not-before: give one of them")
	}
	at, err := a.moment("--at", g.at, time.UTC)
	if err != nil {
		return err
	}
	g.worker, g.sequence = max(g.worker, 0), max(g.sequence, 0)
	worker, err := describe.WorkerID(g.layout, g.datacenter, g.worker)
	if err != nil {
		return byFlag(err)
	}
	if err := describe.CheckTick(g.layout, g.sequence, g.count); err != nil {
		return byFlag(err)
	}
	var first [1]int64
	if err := describe.Compose(g.layout, worker, at, g.sequence, first[:]); err != nil {
		if errors.As(err, new(*core.RangeError)) {
			return invalidValue("--at", g.at, outsideLayout(err))
		}
		return err
	}
	tick, err := g.layout.Decode(first[0])
	if err != nil {
		return err
	}
	a.note("%s composed for %s, not generated: for bounds and test data", a.errStyle.paint(yellow, "snowkey gen:"), timetext.Format(tick.Time))
	next := g.sequence
	return a.genAll(ctx, g, func(_ context.Context, ids []int64) error {
		next += int64(len(ids))
		return describe.Compose(g.layout, worker, at, next-int64(len(ids)), ids)
	})
}
