package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
)

func (a *app) layoutCommand() *cobra.Command {
	var all bool
	var layout *layoutFlags
	cmd := &cobra.Command{
		Use:     "layout",
		Short:   "draw a layout with its capacity and its end",
		Long:    "Draw a layout, with the number of its workers, the IDs they can generate, and the\ntime at which it ends. --all lists the presets.",
		Example: "  snowkey layout --preset sonyflake\n  snowkey layout --epoch 2026-01-01 --time-bits 42 --worker-bits 8 --sequence-bits 13\n  snowkey layout --all",
		Args:    arguments(0, 0, "no arguments"),
		RunE: a.action(func(*cobra.Command, []string) error {
			if all {
				if len(layout.changed(layoutNames)) > 0 {
					return usage("--all lists the presets: it excludes the flags of a layout")
				}
				return a.layouts()
			}
			l, err := layout.layout()
			if err != nil {
				return err
			}
			return a.layout(l)
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "list the presets")
	a.jsonFlag(cmd, "one object, or a list with --all")
	layout = addLayout(cmd)
	return cmd
}

func (a *app) layout(l core.Layout) error {
	d := describe.NewLayout(l, a.now())
	if a.json {
		return a.object(d)
	}
	s := a.style
	if d.Preset != "" {
		fmt.Fprintf(a.out, "%s  %s\n\n", s.bold(d.Preset), d.Description)
	}
	fmt.Fprintln(a.out, d.Diagram)
	workers := comma(d.WorkerIDs)
	if l.DatacenterBits > 0 && l.WorkerBits > 0 {
		workers += fmt.Sprintf(": %s in each of %s datacenters", humanize.Comma(1<<min(l.WorkerBits, 62)), humanize.Comma(1<<min(l.DatacenterBits, 62)))
	}
	javascript := "IDs are exact as numbers"
	if d.UnsafeFrom != nil {
		javascript = s.warn("IDs are not exact as numbers: send them as strings")
	}
	end := d.End + "  " + timetext.Relative(l.End(), a.now())
	if d.Expired {
		end += "  " + s.bad("expired: IDs can be decoded, not generated")
	}
	a.label("epoch", fmt.Sprintf("%s  %d ms", d.Epoch, d.EpochMS))
	a.label("tick", l.Tick.String())
	a.label("workers", workers)
	a.label("capacity", fmt.Sprintf("%s IDs in a tick of a worker, %s in a second", comma(d.PerTick), comma(d.PerSecond)))
	a.label("ends", end)
	a.label("JavaScript", javascript)
	if l.Unsigned {
		a.label("sign", s.warn("IDs of the upper half are negative as an int64: not for keys of a database"))
	}
	return nil
}

// comma groups the digits of a decimal number.
func comma(decimal string) string {
	whole, part, dot := strings.Cut(decimal, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil { // more than 2^63 a second
		return decimal
	}
	if dot {
		part = "." + part
	}
	return humanize.Comma(n) + part
}

func (a *app) layouts() error {
	all := describe.Layouts(a.now())
	if a.json {
		return a.object(all)
	}
	rows := [][]string{{"NAME", "BITS", "TICK", "WORKERS", "IDS/S", "EPOCH", "ENDS"}}
	for i, p := range core.Presets() {
		l, d := p.Layout.WithDefaults(), all[i]
		rows = append(rows, []string{p.Name, bits(l), l.Tick.String(), comma(d.WorkerIDs), comma(d.PerSecond), l.Epoch.Format(time.DateOnly), l.End().Format(time.DateOnly)})
	}
	a.table(rows)
	return nil
}

// bits lists the widths from high to low without those of 0.
func bits(l core.Layout) string {
	var all []string
	add := func(letter string, n uint8) {
		if n > 0 {
			all = append(all, fmt.Sprintf("%d%s", n, letter))
		}
	}
	add("t", l.TimeBits)
	add("r", l.RollbackBits)
	if l.SequenceFirst {
		add("s", l.SequenceBits)
	}
	add("d", l.DatacenterBits)
	add("w", l.WorkerBits)
	if !l.SequenceFirst {
		add("s", l.SequenceBits)
	}
	return strings.Join(all, " ")
}

// layoutFlags are the flags of a layout, which all commands on IDs share.
type layoutFlags struct {
	set    *pflag.FlagSet
	preset string
	custom core.Layout
}

var ( //nolint:gochecknoglobals // constants
	widthFlags = []string{"time-bits", "rollback-bits", "datacenter-bits", "worker-bits", "sequence-bits"}
	// layoutNames lists all flags of a layout.
	layoutNames = append([]string{"preset", "epoch", "tick"}, append(widthFlags, "sequence-first", "unsigned")...)
)

func addLayout(cmd *cobra.Command) *layoutFlags {
	set := cmd.Flags()
	f := &layoutFlags{set: set}
	var presets []string
	for _, p := range core.Presets() {
		presets = append(presets, p.Name)
	}
	set.Var(flagval.New(&f.preset, "NAME", "twitter", flagval.OneOf(presets...)), "preset", "layout by name: "+flagval.List(presets))
	completeWith(cmd, "preset", presets)
	set.Var(flagval.New(&f.custom.Epoch, "TIME", "", epoch), "epoch", "time of tick 0: 2020-01-01, 2020-01-01T00:00:00Z or UNIXMILLISECONDS (default the preset's)")
	set.Var(flagval.New(&f.custom.Tick, "DURATION", "", tick), "tick", "unit of the time field, in whole milliseconds, such as 10ms (default the preset's)")
	for i, w := range []struct {
		to   *uint8
		what string
	}{
		{&f.custom.TimeBits, "time; the five widths replace --preset and default to 0"}, {&f.custom.RollbackBits, "rollback counter"},
		{&f.custom.DatacenterBits, "datacenter, the upper part of the worker ID"}, {&f.custom.WorkerBits, "worker"}, {&f.custom.SequenceBits, "sequence"},
	} {
		set.Var(flagval.New(w.to, "BITS", "", width), widthFlags[i], "width of the "+w.what)
	}
	set.BoolVar(&f.custom.SequenceFirst, "sequence-first", false, "put the sequence above datacenter and worker")
	set.BoolVar(&f.custom.Unsigned, "unsigned", false, "use the sign bit too: 64 bits")
	return f
}

// changed returns which of the flags were given.
func (f *layoutFlags) changed(names []string) (given []string) {
	for _, name := range names {
		if f.set.Changed(name) {
			given = append(given, "--"+name)
		}
	}
	return given
}

// layout returns the layout of the flags.
func (f *layoutFlags) layout() (core.Layout, error) {
	l, c := core.Twitter(), f.custom
	if given := f.changed(widthFlags); len(given) > 0 {
		if f.set.Changed("preset") {
			return core.Layout{}, usage("--preset %s and %s: a preset has its own widths; give one or the other", f.preset, strings.Join(given, ", "))
		}
		if c.TimeBits == 0 { // core takes all zero for the default's widths
			return core.Layout{}, usage("--time-bits: must be at least 1 if widths are given")
		}
		l.TimeBits, l.RollbackBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits = c.TimeBits, c.RollbackBits, c.DatacenterBits, c.WorkerBits, c.SequenceBits
	}
	for _, p := range core.Presets() {
		if p.Name == f.preset {
			l = p.Layout.WithDefaults()
		}
	}
	if f.set.Changed("epoch") {
		l.Epoch = c.Epoch
	}
	if f.set.Changed("tick") {
		l.Tick = c.Tick
	}
	l.SequenceFirst = l.SequenceFirst && !f.set.Changed("sequence-first") || c.SequenceFirst
	l.Unsigned = l.Unsigned && !f.set.Changed("unsigned") || c.Unsigned
	flags := map[string]string{"Layout.Epoch": "--epoch", "Layout.Tick": "--tick", "Layout.TimeBits": "--time-bits", "Layout.SequenceBits": "--sequence-bits", "Layout.TimeBits+RollbackBits+DatacenterBits+WorkerBits+SequenceBits": "the layout's widths"}
	return l.WithDefaults(), byFlag(l.Validate(), flags)
}

func epoch(s string) (time.Time, error) {
	t, err := timetext.ParseFixed(s)
	if err == nil && t.IsZero() {
		err = errors.New("must be later than the beginning of the year 1") // core takes it for Twitter's
	}
	return t, err
}

func tick(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Millisecond || d%time.Millisecond != 0 {
		return 0, errors.New("must be whole milliseconds such as 1ms, 10ms or 1s")
	}
	return d, nil
}

func width(s string) (uint8, error) {
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil || n > 64 || strings.HasPrefix(s, "+") {
		return 0, errors.New("must be a number of bits from 0 to 64")
	}
	return uint8(n), nil
}
