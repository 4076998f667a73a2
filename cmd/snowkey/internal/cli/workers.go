package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

func (a *app) workersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "workers",
		Short:   "list and free worker numbers",
		Long:    "Look at the worker numbers that are leased in a database, and take one from a\nholder that is gone.",
		Example: "  snowkey workers list --dsn postgres://localhost/app\n  snowkey workers free 7 --epoch 3 --dsn postgres://localhost/app",
		Args:    noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage("want a command: list or free")
		},
	}
	cmd.AddCommand(a.workersList(), a.workersFree())
	return cmd
}

func (a *app) workersList() *cobra.Command {
	p := &place{}
	var held bool
	cmd := &cobra.Command{
		Use:     "list --dsn DSN",
		Short:   "show who holds which number",
		Long:    "Show the numbers of a space that were ever held: who holds each, up to which time\nits ids go at most, and when another may take it. Nothing is changed.",
		Example: "  snowkey workers list --dsn postgres://localhost/app\n  snowkey workers list --dsn dir:/var/lib/ids --space orders --json",
		Args:    arguments(0, 0, "no arguments"),
		RunE:    a.action(func(cmd *cobra.Command, _ []string) error { return a.listWorkers(cmd.Context(), p, held) }),
	}
	p.add(cmd, "dsn", "where the numbers are kept")
	p.addSpace(cmd, "default")
	cmd.Flags().BoolVar(&held, "held", false, "only those that are held")
	a.jsonFlag(cmd, "one object")
	return cmd
}

// storeOptions of a command that claims numbers.
func storeOptions(p *place) dsn.StoreOptions { return dsn.StoreOptions{AllowLossy: p.lossy} }

// readOnly are the options of a store that is looked at only: nothing is created,
// and nothing is lost by reading from what may lose writes.
func readOnly() dsn.StoreOptions { return dsn.StoreOptions{NoCreate: true, AllowLossy: true} }

// workerInfo is what is shown of a number; its JSON.
type workerInfo struct {
	Worker  int64  `json:"worker"`
	State   string `json:"state"` // held, expired, free
	Owner   string `json:"owner"`
	Epoch   int64  `json:"epoch"`
	Until   string `json:"ids_end_before"`
	Expires string `json:"expires,omitempty"` // when others may take it

	until, expires time.Time
	forever        bool
}

// farthest is the last year that can be written as four digits.
var farthest = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) //nolint:gochecknoglobals // constant

func describeWorker(row driver.Record, now time.Time) workerInfo {
	info := workerInfo{Worker: row.Worker, Owner: row.Owner, Epoch: row.FencingToken, until: time.UnixMilli(row.Fence).UTC(), expires: time.UnixMilli(row.Expires).UTC()}
	info.forever = info.expires.After(farthest)
	switch {
	case row.ClaimID == "":
		info.State = "free"
	case row.Free(now.UnixMilli()):
		info.State = "expired"
	default:
		info.State = "held"
	}
	info.Until = info.until.Format(stamp)
	if row.ClaimID != "" && !info.forever && row.Expires > 0 {
		info.Expires = info.expires.Format(stamp)
	}
	return info
}

func (a *app) listWorkers(ctx context.Context, p *place, held bool) error {
	target, err := a.open(ctx, p, false)
	if err != nil {
		return err
	}
	defer target.Close()
	store, err := target.Store(readOnly())
	if err != nil {
		return err
	}
	rows, err := store.List(ctx, p.space)
	if err != nil {
		return fmt.Errorf("%s: %w", target.Name, unsupported(err))
	}
	now := a.now()
	if offset, err := target.Offset(ctx, a.now, 3); err == nil {
		now = now.Add(offset.Ahead)
	}
	infos := []workerInfo{}
	for _, row := range rows {
		if info := describeWorker(row, now); !held || info.State == "held" {
			infos = append(infos, info)
		}
	}
	if a.json {
		return a.object(struct {
			Space   string       `json:"space"`
			Workers []workerInfo `json:"workers"`
		}{p.space, infos})
	}
	if len(infos) == 0 {
		if held && len(rows) > 0 {
			a.note("no number of space %q is held; %d were", p.space, len(rows))
		} else {
			a.note("no number of space %q was ever held in %s%s", p.space, target.Name, otherSpaces(target.Spaces(ctx, mostSpaces)))
		}
		return nil
	}
	table := [][]string{{"NUMBER", "STATE", "EPOCH", "IDS END BEFORE", "", "FREE FOR OTHERS", "OWNER"}}
	for _, i := range infos {
		state, free := i.State, "now"
		switch i.State {
		case "held":
			state, free = a.style.good(state), relative(i.expires, now)
			if i.forever {
				free = "when it is freed"
			}
		case "expired":
			state = a.style.warn(state)
		}
		until := a.style.faint(relative(i.until, now))
		table = append(table, []string{strconv.FormatInt(i.Worker, 10), state, strconv.FormatInt(i.Epoch, 10), i.Until, until, free, plainText(i.Owner)})
	}
	a.table(table)
	return nil
}

// mostSpaces is how many are named where the one that was asked for is not there.
const mostSpaces = 10

// otherSpaces names those that there are.
func otherSpaces(spaces []string) string {
	if len(spaces) == 0 {
		return ""
	}
	var names []string
	for _, s := range spaces {
		names = append(names, strconv.Quote(s))
	}
	if len(names) == mostSpaces {
		names[mostSpaces-1] = "…"
	}
	return "; --space may be " + strings.Join(names, ", ")
}

// plainText is what a stranger wrote, without what a terminal would obey.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}

func unsupported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return errors.New("the server does not offer to list and free numbers; ask its own database")
	}
	return err
}

func (a *app) workersFree() *cobra.Command {
	p := &place{}
	epoch := int64(-1)
	var yes bool
	cmd := &cobra.Command{
		Use:   "free NUMBER --epoch E --dsn DSN",
		Short: "take a number from its holder",
		Long: `Take a number from its holder, as after a crash when its time to live is long.

It cannot make a duplicate, even if the holder is alive after all: that one goes
on up to the recorded bound, learns that it has lost the number, and takes
another; whoever comes next begins at the bound.

The epoch is shown by "workers list". If the number has changed hands since, it
is left alone.`,
		Example: "  snowkey workers free 7 --epoch 3 --dsn postgres://localhost/app\n  snowkey workers free 7 --epoch 3 --dsn postgres://localhost/app --yes",
		Args:    arguments(1, 1, "one number"),
		RunE: a.action(func(cmd *cobra.Command, args []string) error {
			return a.freeWorker(cmd.Context(), p, args[0], epoch, yes)
		}),
	}
	p.add(cmd, "dsn", "where the numbers are kept")
	p.addSpace(cmd, "default")
	cmd.Flags().Var(flagval.New(&epoch, "EPOCH", "", flagval.Whole(1, math.MaxInt64)), "epoch", `the epoch of its holder, from "workers list"; required`)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (a *app) freeWorker(ctx context.Context, p *place, text string, epoch int64, yes bool) error {
	number, err := flagval.Whole(0, math.MaxInt64)(text)
	if err != nil {
		return wrong("NUMBER", text, errors.New("want a worker number, 0 or more"))
	}
	if epoch < 0 {
		return usage(`--epoch is required: "snowkey workers list" shows it`)
	}
	if _, err := a.parsePlace(p); err != nil {
		return err
	}
	if !yes && !a.InTTY {
		return usage("standard input is no terminal, so nobody can be asked: give --yes")
	}
	target, err := a.open(ctx, p, false)
	if err != nil {
		return err
	}
	defer target.Close()
	store, err := target.Store(readOnly())
	if err != nil {
		return err
	}
	rows, err := store.List(ctx, p.space)
	if err != nil {
		return fmt.Errorf("%s: %w", target.Name, unsupported(err))
	}
	var info *workerInfo
	for _, row := range rows {
		if row.Worker == number {
			i := describeWorker(row, a.now())
			info = &i
		}
	}
	switch {
	case info == nil:
		return fmt.Errorf("number %d of space %q was never held in %s", number, p.space, target.Name)
	case info.Epoch != epoch:
		return fmt.Errorf("number %d of space %q is of epoch %d now, not %d; it is left alone", number, p.space, info.Epoch, epoch)
	case info.State == "free":
		return fmt.Errorf("number %d of space %q is free already", number, p.space)
	}
	if !yes {
		fmt.Fprintf(a.Err, "Number %d of space %q is %s by %s; its ids end before %s. Free it? [y/N] ", number, p.space, map[string]string{"held": "held", "expired": "still marked as held"}[info.State], plainText(info.Owner), info.Until)
		if !a.agreed(ctx) {
			return errors.New("not freed")
		}
	}
	if err := store.Free(ctx, p.space, number, epoch); err != nil {
		if errors.Is(err, driver.ErrNotHeld) {
			return fmt.Errorf("number %d of space %q has changed hands meanwhile; it is left alone", number, p.space)
		}
		return fmt.Errorf("%s: %w", target.Name, unsupported(err))
	}
	a.note("number %d of space %q is free; its next holder begins at %s or later", number, p.space, info.Until)
	return nil
}

// agreed reads a yes from the terminal. It does not wait beyond an interrupt.
func (a *app) agreed(ctx context.Context) bool {
	answer := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(a.In).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(text))
	}()
	select {
	case text := <-answer:
		return text == "y" || text == "yes"
	case <-ctx.Done():
		fmt.Fprintln(a.Err)
		return false
	}
}
