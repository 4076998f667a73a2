package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

const freeAbout = `Take a worker ID from a holder that cannot release it, such as one that has
crashed, or one with NoExpiry that is gone.

This cannot cause a duplicate, even if the holder is still running: it issues
ids up to its recorded fence, learns that the worker ID is lost, and claims
another one. The next holder of this one starts at the fence, once that has
passed.

A worker ID of a generator in the database is not freed: drop the generator.

"workers list" shows the fencing token. A worker ID that has changed hands since
has another one and is left unchanged.`

const floorAbout = `Raise the floor of a namespace above every fence that its store may ever have
had: no later claim issues ids below the floor. Running programs continue
without a gap.

Do this when the store was put back to an earlier state in a way that it cannot
see ("doctor --table" finds an id above the fence of its worker ID), when it was
restored from a snapshot of etcd, and when claims are refused because fences or
the floor are far ahead of the clock, after a clock was fast. Ids then begin at
the floor, ahead of the clock: above the furthest fence, or else by FenceWindow
and MaxSkew, 40s by default.`

const windowAbout = `Change the FenceWindow of a namespace, which its first generator has set. A
MaxSkew that is a third of it stays a third. The floor rises, as by "workers
floor".

Then restart all programs with the new FenceWindow. Until then, a program keeps
its worker ID, and renews it as often as before. But it cannot claim another
one: if it loses its worker ID, it gets no ids until it is restarted.

While programs hold worker IDs, FenceWindow can at most be halved, because a
program that renews too rarely loses its worker ID. For a lower value, stop the
programs; or lower it in steps, and restart all programs after each. With a
RenewInterval of their own, programs may need more than half.`

func (a *app) workersCommand() *cobra.Command {
	listed, freed, raised, windowed := &storeFlags{}, &storeFlags{}, &storeFlags{}, &storeFlags{}
	held, token := false, int64(-1)
	list := a.command("list --dsn DSN", "list worker IDs and their holders", listAbout,
		"  snowkey workers list --dsn postgres://localhost/app\n  snowkey workers list --dsn file:ids.db --namespace orders --json",
		arguments(0, 0, "no arguments"), func(cmd *cobra.Command, _ []string) error { return a.listWorkers(cmd.Context(), listed, held) })
	listed.add(list, "dsn", "store of the worker IDs")
	list.Flags().BoolVar(&held, "held", false, "only held ones")
	a.jsonFlag(list, "one object")
	free := a.command("free WORKERID --fencing-token N --dsn DSN", "free a worker ID whose holder is gone", freeAbout,
		`  snowkey workers free 7 --fencing-token 1996573624012 \
    --dsn postgres://localhost/app`,
		arguments(1, 1, "one worker ID"), func(cmd *cobra.Command, args []string) error {
			return a.freeWorker(cmd.Context(), freed, args[0], token)
		})
	freed.add(free, "dsn", "store of the worker IDs")
	free.Flags().Var(flagval.New(&token, "N", "", flagval.Whole(1, math.MaxInt64)), "fencing-token", `fencing token of its holder, from "workers list"; required`)
	floor := a.command("floor --namespace NAMESPACE --dsn DSN", "start later claims above every fence that was forgotten", floorAbout,
		"  snowkey workers floor --namespace default --dsn postgres://localhost/app",
		arguments(0, 0, "no arguments"), func(cmd *cobra.Command, _ []string) error { return a.raise(cmd.Context(), raised, 0) })
	raised.add(floor, "dsn", "store of the worker IDs")
	window := a.command("window DURATION --namespace NAMESPACE --dsn DSN", "change the FenceWindow", windowAbout,
		"  snowkey workers window 2m --namespace default --dsn postgres://localhost/app",
		arguments(1, 1, "one duration"), func(cmd *cobra.Command, args []string) error {
			d, err := flagval.Duration(2*time.Millisecond, 366*24*time.Hour)(args[0])
			if err == nil && d%time.Millisecond != 0 {
				err = errors.New("must be whole milliseconds")
			}
			if err != nil {
				return invalidValue("DURATION", args[0], err)
			}
			return a.raise(cmd.Context(), windowed, d)
		})
	windowed.add(window, "dsn", "store of the worker IDs")
	for _, p := range []*storeFlags{raised, windowed} {
		f := p.flags.Lookup("namespace")
		f.Usage, f.DefValue = "`NAMESPACE` that is changed, also if it is \"default\"; required", ""
	}
	return parent("workers", "list and free worker IDs, and raise the floor", "List the leased worker IDs of a store, free one whose holder is gone, and raise\nthe floor of a namespace, or its FenceWindow.",
		"  snowkey workers list --dsn postgres://localhost/app\n  snowkey workers floor --namespace default --dsn postgres://localhost/app", "list, free, floor or window", list, free, floor, window)
}

const listAbout = `List the worker IDs of a namespace that were ever leased: the holder of each,
and its fence (all its ids are earlier). Nothing is changed. The states:

  held      others can claim it when its fence has passed by MaxSkew
  kept      it never expires (NoExpiry, or a generator in the database)
  expired   it was held or freed, and can be claimed
  released  it can be claimed
  freed     by "workers free": its holder does not renew it any more`

// state opens a store and reads the state of the namespace.
func (a *app) state(ctx context.Context, p *storeFlags) (*dsn.Target, dsn.Store, driver.State, error) {
	target, store, err := a.openStore(ctx, p, false)
	if err != nil {
		return nil, nil, driver.State{}, err
	}
	st := driver.State{Namespace: driver.Namespace{Name: p.namespace}, Missing: true}
	has, err := target.HasLeases(ctx)
	if has || err != nil { // List explains the error
		st, err = store.List(ctx, p.namespace)
	}
	if err != nil {
		target.Close()
		return nil, nil, st, fmt.Errorf("%s: %w", target.Name, unsupported(err))
	}
	return target, store, st, nil
}

// workerInfo is the JSON of a worker ID.
type workerInfo struct {
	WorkerID     int64  `json:"worker_id"`
	State        string `json:"state"`               // held, kept, expired, released, freed
	Generator    bool   `json:"generator,omitempty"` // in the database: see ddl generator
	Owner        string `json:"owner"`
	FencingToken int64  `json:"fencing_token"`
	Start        string `json:"start"` // its ids begin at
	Fence        string `json:"fence"` // its ids end before
}

// namespaceInfo is the JSON of a namespace.
type namespaceInfo struct {
	Namespace   string       `json:"namespace"`
	Now         string       `json:"now,omitempty"` // the store's clock
	FenceWindow string       `json:"fence_window,omitempty"`
	MaxSkew     string       `json:"max_skew,omitempty"`
	Incarnation string       `json:"incarnation,omitempty"` // of the server that has granted the last claims
	Since       string       `json:"since,omitempty"`       // when that was recorded
	Floor       string       `json:"floor,omitempty"`       // no claim begins before it
	Workers     []workerInfo `json:"workers"`
}

func describeNamespace(st driver.State) namespaceInfo {
	ns := st.Namespace
	info := namespaceInfo{Namespace: ns.Name, Workers: []workerInfo{}}
	if st.Missing {
		return info
	}
	info.Now, info.Incarnation, info.Since = timetext.FormatMilli(st.Now), ns.Incarnation, timetext.FormatMilli(ns.Since)
	info.FenceWindow, info.MaxSkew = (time.Duration(ns.FenceWindow) * time.Millisecond).String(), (time.Duration(ns.MaxSkew) * time.Millisecond).String()
	if ns.Floor > 0 {
		info.Floor = timetext.FormatMilli(ns.Floor)
	}
	return info
}

func describeWorker(st driver.State, rec driver.Record) workerInfo {
	info := workerInfo{
		WorkerID: rec.Worker, State: string(rec.Status), Generator: rec.OfGenerator(), Owner: rec.Owner, FencingToken: rec.FencingToken,
		Start: timetext.FormatMilli(rec.Start), Fence: timetext.FormatMilli(rec.Fence),
	}
	if rec.Status != driver.Released && !rec.IsHeld(st.Now, st.Namespace.MaxSkew) {
		info.State = "expired"
	}
	return info
}

func (a *app) listWorkers(ctx context.Context, p *storeFlags, held bool) error {
	target, _, st, err := a.state(ctx, p)
	if err != nil {
		return err
	}
	defer target.Close()
	info, now := describeNamespace(st), time.UnixMilli(st.Now)
	table := [][]string{{"WORKER ID", "STATE", "FENCING TOKEN", "FENCE", "", "OWNER"}}
	for _, rec := range st.Records {
		w := describeWorker(st, rec)
		if held && !rec.IsHeld(st.Now, st.Namespace.MaxSkew) {
			continue
		}
		info.Workers = append(info.Workers, w)
		fence, from := w.Fence, timetext.Relative(time.UnixMilli(rec.Fence), now)
		if w.Generator { // the end of the layout, so that nothing claims it
			fence, from = "end of layout", ""
		}
		table = append(table, []string{strconv.FormatInt(w.WorkerID, 10), w.State, strconv.FormatInt(w.FencingToken, 10), fence, from, dsn.Printable(w.Owner)})
	}
	switch {
	case a.json:
		return a.object(info)
	case len(info.Workers) > 0:
		a.table(table)
	case held && len(st.Records) > 0:
		a.note("no worker ID of namespace %q is held; %d were", p.namespace, len(st.Records))
	default:
		a.note("no worker ID of namespace %q was ever leased from %s%s", p.namespace, target.Name, otherNamespaces(ctx, target))
	}
	if st.Namespace.Floor > st.Now {
		a.note("claims begin at the floor, %s, %s", info.Floor, timetext.Relative(time.UnixMilli(st.Namespace.Floor), now))
	}
	return nil
}

// otherNamespaces suggests those that exist in a database.
func otherNamespaces(ctx context.Context, target *dsn.Target) string {
	names, err := target.Namespaces(ctx)
	if err != nil || len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("; --namespace may be %q", names)
}

func unsupported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return errors.New("the server does not let clients manage worker IDs; use the DSN of its own store, or serve --admin")
	}
	return err
}

func (a *app) freeWorker(ctx context.Context, p *storeFlags, text string, token int64) error {
	id, err := flagval.Whole(0, math.MaxInt64)(text)
	if err != nil {
		return invalidValue("WORKERID", text, errors.New("must be a worker ID, 0 or more"))
	}
	if token < 0 {
		return usage(`--fencing-token is required: "snowkey workers list" shows it`)
	}
	target, store, st, err := a.state(ctx, p)
	if err != nil {
		return err
	}
	defer target.Close()
	i := slices.IndexFunc(st.Records, func(rec driver.Record) bool { return rec.Worker == id })
	if i < 0 {
		return fmt.Errorf("worker ID %d of namespace %q was never leased from %s", id, p.namespace, target.Name)
	}
	rec := st.Records[i]
	switch {
	case rec.FencingToken != token:
		return fmt.Errorf("worker ID %d of namespace %q now has fencing token %d, not %d; it is left unchanged", id, p.namespace, rec.FencingToken, token)
	case rec.Status == driver.Released || rec.Status == driver.Freed:
		return fmt.Errorf("worker ID %d of namespace %q is already %s", id, p.namespace, rec.Status)
	case rec.OfGenerator():
		return fmt.Errorf("worker ID %d of namespace %q belongs to a generator in the database (%s), which is left unchanged: drop the generator, which releases it: snowkey ddl drop-generator", id, p.namespace, dsn.Printable(rec.Owner))
	}
	if err := store.Free(ctx, p.namespace, id, token); err != nil {
		if errors.Is(err, driver.ErrNotHeld) {
			return fmt.Errorf("worker ID %d of namespace %q has just changed hands; it is left unchanged", id, p.namespace)
		}
		return fmt.Errorf("%s: %w", target.Name, unsupported(err))
	}
	a.note("worker ID %d of namespace %q is freed; it can be claimed after %s", id, p.namespace, timetext.FormatMilli(max(st.Now, rec.Fence+st.Namespace.MaxSkew)))
	return nil
}

// raise raises the floor of a namespace, and its FenceWindow unless window is 0.
func (a *app) raise(ctx context.Context, p *storeFlags, window time.Duration) error {
	if !p.flags.Changed("namespace") {
		return usage("--namespace is required, also for %q: it confirms what is changed", p.namespace)
	}
	target, store, st, err := a.state(ctx, p)
	if err != nil {
		return err
	}
	defer target.Close()
	have := time.Duration(st.Namespace.FenceWindow) * time.Millisecond
	half := (have / 2).Round(time.Millisecond)
	switch {
	case st.Missing:
		return fmt.Errorf("%s has no namespace %q%s", target.Name, p.namespace, otherNamespaces(ctx, target))
	case window == have:
		return fmt.Errorf("namespace %q has FenceWindow %v already; it is left unchanged", p.namespace, have)
	case window > 0 && window < half && slices.ContainsFunc(st.Records, func(rec driver.Record) bool {
		return rec.Status == driver.Held && rec.IsHeld(st.Now, st.Namespace.MaxSkew)
	}):
		return fmt.Errorf("programs hold worker IDs of namespace %q, and renew them every %v unless RenewInterval is set: "+
			"with FenceWindow %v, they may lose them; choose %v or more and restart the programs, or stop them first",
			p.namespace, have/3, window, half)
	}
	ns, err := store.Raise(ctx, p.namespace, window.Milliseconds())
	if err != nil {
		return fmt.Errorf("%s: %w", target.Name, unsupported(err))
	}
	if window > 0 {
		a.note("namespace %q has FenceWindow %v now, instead of %v", p.namespace, time.Duration(ns.FenceWindow)*time.Millisecond, have)
	}
	a.note("the floor of namespace %q is %s now, %s: later claims begin there", p.namespace, timetext.FormatMilli(ns.Floor), timetext.Relative(time.UnixMilli(ns.Floor), time.UnixMilli(st.Now)))
	return nil
}
