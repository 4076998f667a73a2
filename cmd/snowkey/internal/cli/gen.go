package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/layoutflag"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/notation"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/when"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// gen is what its flags say.
type gen struct {
	count              int64
	worker, datacenter int64 // -1: not given
	lease              place
	format             notation.Notation
	notBefore          string
	layout             *layoutflag.Flags
}

const genAbout = `Make ids and print one a line.

Two that make ids for the same tables must not have the same worker number at
the same time, so there is no default. Either say the number, and see to it that
nobody else uses it:

  snowkey gen --worker 3

or be granted one that is free, from a database of worker numbers. It is given
back at the end, also after SIGINT or SIGTERM; after a crash it comes free by
itself, and no id is issued twice even then:

  snowkey gen --lease postgres://localhost/app`

func (a *app) genCommand() *cobra.Command {
	g := &gen{worker: -1, datacenter: -1, count: 1, format: notation.Decimal}
	cmd := &cobra.Command{
		Use:     "gen {--worker N | --lease DSN} [flags]",
		Short:   "make ids",
		Long:    genAbout,
		Example: "  snowkey gen -n 10 --worker 3\n  snowkey gen -n 1000000 --lease file:ids.db > ids.txt\n  snowkey gen --worker 3 --datacenter 1 --format base58",
		Args:    arguments(0, 0, "no arguments"),
		RunE:    a.action(func(cmd *cobra.Command, _ []string) error { return a.gen(cmd.Context(), g) }),
	}
	f := cmd.Flags()
	f.VarP(flagval.New(&g.count, "N", "1", flagval.Whole(1, 1_000_000_000_000)), "count", "n", "how many")
	f.Var(flagval.New(&g.worker, "N", "", flagval.Whole(0, math.MaxInt64)), "worker", "worker number that nobody else uses; without --datacenter it is datacenter<<worker-bits | worker")
	f.Var(flagval.New(&g.datacenter, "N", "", flagval.Whole(0, math.MaxInt64)), "datacenter", "upper part of the worker number; --worker is the lower part then")
	g.lease.add(cmd, "lease", "where a free worker number is granted")
	g.lease.addSpace(cmd, "default")
	g.lease.addLossy(cmd)
	f.Var(flagval.New(&g.format, "NOTATION", "decimal", flagval.OneOf(notation.All()...)), "format", flagval.List(notation.All()))
	f.StringVar(&g.notBefore, "not-before", "", "ids carry later times than this `TIME`, for example that of the greatest id in use: "+when.Forms)
	a.jsonFlag(cmd, `{"id": "…"} on each line`)
	g.layout = layoutflag.Add(f)
	completeWith(cmd, "format", notation.All())
	completeWith(cmd, "preset", layoutflag.Presets())
	return cmd
}

func (a *app) gen(ctx context.Context, g *gen) (err error) {
	l, err := g.layout.Layout()
	if err != nil {
		return &usageError{err}
	}
	if err := g.lease.unused(); err != nil {
		return err
	}
	if l.Unsigned && g.format.Signed() {
		return usage("--format %s ends at the largest int64: with --unsigned take decimal or hex", g.format)
	}
	cfg := core.Config{Layout: l, Now: a.Clock}
	if g.notBefore != "" {
		if cfg.NotBefore, err = when.Parse(g.notBefore, a.now(), time.UTC); err != nil {
			return wrong("--not-before", g.notBefore, err)
		}
	}
	switch leased, given := g.lease.text != "", g.worker >= 0; {
	case leased && (given || g.datacenter >= 0):
		return usage("--lease grants a number: it cannot be given by --worker or --datacenter as well")
	case leased:
		lease, closer, err := a.lease(ctx, &g.lease, l)
		if err != nil {
			return err
		}
		defer closer(&err)
		cfg.Worker = lease
	case !given:
		return usage("no worker number, and none is safe to guess: give --worker N, a number that nobody else uses, or --lease DSN, to be granted a free one")
	default:
		number, err := g.number(l)
		if err != nil {
			return err
		}
		cfg.Worker = core.Fixed(number)
	}
	generator, err := core.New(cfg)
	if err != nil {
		return newError(err)
	}
	defer generator.Close()
	return a.genAll(ctx, g, generator)
}

// newError says what a generator refuses by the flags that it comes from.
func newError(err error) error {
	var wrong *core.ConfigError
	if !errors.As(err, &wrong) {
		return err
	}
	return usage("%s", byFlag(wrong.Fields, map[string]string{"Layout.Epoch": "--epoch", "Layout.TimeBits": "--time-bits", "NotBefore": "--not-before"}))
}

// number is the whole worker number, checked.
func (g *gen) number(l core.Layout) (int64, error) {
	if g.datacenter < 0 {
		if g.worker >= l.WorkerIDs() {
			return 0, usage("--worker %d: must be 0 to %d in this layout", g.worker, l.WorkerIDs()-1)
		}
		return g.worker, nil
	}
	if most := int64(1)<<min(l.WorkerBits, 62) - 1; g.worker > most {
		return 0, usage("--worker %d: must be 0 to %d beside --datacenter in this layout", g.worker, most)
	}
	if most := int64(1)<<min(l.DatacenterBits, 62) - 1; g.datacenter > most {
		return 0, usage("--datacenter %d: must be 0 to %d in this layout", g.datacenter, most)
	}
	return g.datacenter<<l.WorkerBits | g.worker, nil
}

// lease acquires a worker number. The closer gives it back, tells where that
// fails, and closes the store.
func (a *app) lease(ctx context.Context, p *place, l core.Layout) (*worker.Lease, func(*error), error) {
	target, err := a.open(ctx, p, true)
	if err != nil {
		return nil, nil, err
	}
	store, err := target.Store(storeOptions(p))
	var lease *worker.Lease
	if err == nil {
		lease, err = worker.Acquire(ctx, store, worker.Config{Namespace: p.space, Layout: l, Now: a.Clock, Observer: leaseNotes{a}})
	}
	if err != nil {
		target.Close()
		if ctx.Err() != nil {
			return nil, nil, errors.New("interrupted before a worker number was granted")
		}
		return nil, nil, fmt.Errorf("%s: %w", target.Name, tell(err))
	}
	return lease, func(err *error) {
		if failed := lease.Close(); failed != nil {
			a.failed = true // told here, for a broken pipe is not told of
			a.note("%s worker number %d was not given back and comes free by itself: %v", a.errStyle.bad("snowkey gen:"), lease.Worker(), failed)
			if *err == nil {
				*err = errTold
			}
		} else if a.ErrTTY {
			a.note("%s", a.errStyle.faint(fmt.Sprintf("worker number %d of space %q given back to %s", lease.Worker(), p.space, target.Name)))
		}
		target.Close()
	}, nil
}

// leaseNotes tells what a user should know of a lease that is in trouble.
type leaseNotes struct{ a *app }

// Observe implements core.Observer. It is called by other goroutines than the one
// that writes ids, so it leaves standard output alone.
func (n leaseNotes) Observe(e core.Event) {
	switch e.Kind {
	case worker.RenewFailed, worker.Lost, worker.ClaimFailed:
		fmt.Fprintf(n.a.Err, "worker number %d: %v: %s\n", e.Worker, e.Kind, n.a.clean(e.Err))
	}
}

// batch is how many ids are reserved and written at once.
const batch = 4096

// showFrom is from how many ids on a progress bar is worth it.
const showFrom = 200_000

func (a *app) genAll(ctx context.Context, g *gen, generator *core.Generator) error {
	unsigned := generator.Layout().Unsigned
	add, done := func(int) {}, func() {}
	if g.count >= showFrom && !a.OutTTY { // there the ids themselves show it
		add, done = a.progress(g.count, "ids")
	}
	defer done()
	ids := make([]int64, min(batch, g.count))
	var text []byte
	for made := int64(0); made < g.count; {
		ids = ids[:min(int64(len(ids)), g.count-made)]
		if err := generator.Fill(ctx, ids); err != nil {
			done()
			if ctx.Err() != nil {
				return fmt.Errorf("interrupted after %s of %d", plural(made, "id"), g.count)
			}
			var back *core.ClockError
			if made == 0 && g.notBefore != "" && errors.As(err, &back) {
				return fmt.Errorf("--not-before %q: lies %s ahead of the clock, and ids are made when it gets there", g.notBefore, back.Back.Round(time.Millisecond))
			}
			return fmt.Errorf("after %s of %d: %w", plural(made, "id"), g.count, err)
		}
		text = text[:0]
		for _, id := range ids {
			text = a.appendID(text, id, g.format, unsigned)
		}
		if err := write(a.out, text); err != nil {
			return err
		}
		made += int64(len(ids))
		add(len(ids))
	}
	return nil
}

// appendID appends a line.
func (a *app) appendID(text []byte, id int64, format notation.Notation, unsigned bool) []byte {
	if !a.json {
		return append(format.Append(text, id, unsigned), '\n')
	}
	text = append(text, `{"id":"`...)
	text = notation.Decimal.Append(text, id, unsigned)
	if format != notation.Decimal {
		text = append(append(append(text, `","`...), format...), `":"`...)
		text = format.Append(text, id, unsigned)
	}
	return append(text, "\"}\n"...)
}

func write(w io.Writer, text []byte) error {
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("write standard output: %w", bare(err))
	}
	return nil
}
