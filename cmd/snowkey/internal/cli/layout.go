package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
)

func (a *app) layoutCommand() *cobra.Command {
	var all bool
	var l core.Layout
	cmd := &cobra.Command{
		Use:     "layout",
		Short:   "draw a layout with its capacity and its end",
		Long:    "Draw a layout, with the number of its workers, the IDs they can generate, and the\ntime at which it ends. --all lists the presets.",
		Example: "  snowkey layout --preset sonyflake\n  snowkey layout --epoch 2026-01-01 --time-bits 42 --worker-bits 8 --sequence-bits 13\n  snowkey layout --all",
		Args:    arguments(0, 0, "no arguments"),
		RunE: a.action(func(cmd *cobra.Command, _ []string) error {
			switch {
			case !all:
				return a.layout(l)
			case len(given(cmd, layoutNames)) > 0:
				return usage("--all lists the presets: it excludes the flags of a layout")
			}
			return a.layouts()
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "list the presets")
	a.jsonFlag(cmd, "one object, or a list with --all")
	addLayout(cmd, &l)
	return cmd
}

func (a *app) layout(l core.Layout) error {
	d := describe.NewLayout(l, a.now())
	if l.Epoch.After(a.now()) {
		a.note("%s the epoch is in the future, %s: no ID can be generated before", a.errStyle.warn("snowkey layout:"), timetext.Relative(l.Epoch, a.now()))
	}
	if a.json {
		return a.object(d)
	}
	s := a.style
	if d.Preset != "" {
		fmt.Fprintf(a.out, "%s  %s\n\n", s.bold(d.Preset), d.Description)
	}
	fmt.Fprintln(a.out, d.Diagram)
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
	a.label("workers", humanize.Comma(l.WorkerIDs()))
	a.label("capacity", fmt.Sprintf("%s in a tick of a worker, %s in a second", plural(l.IDsPerTick(), "ID"), d.PerSecond))
	a.label("ends", end)
	a.label("JavaScript", javascript)
	if l.Unsigned {
		a.label("sign", s.warn("IDs of the upper half are negative as an int64: not for keys of a database"))
	}
	return nil
}

func (a *app) layouts() error {
	all := describe.Layouts(a.now())
	if a.json {
		return a.object(all)
	}
	rows := [][]string{{"NAME", "IDS/S", "ENDS", "DESCRIPTION"}}
	for _, d := range all {
		rows = append(rows, []string{d.Preset, d.PerSecond, d.End[:len(time.DateOnly)], d.Description})
	}
	a.table(rows)
	return nil
}

var ( //nolint:gochecknoglobals // constants
	widthFlags = []string{"time-bits", "rollback-bits", "datacenter-bits", "worker-bits", "sequence-bits"}
	// layoutNames lists all flags of a layout.
	layoutNames = append([]string{"preset", "epoch", "tick"}, append(widthFlags, "sequence-first", "unsigned")...)
)

// addLayout adds the flags of a layout, which all commands on IDs share. *to is set
// before the command runs.
func addLayout(cmd *cobra.Command, to *core.Layout) {
	base := core.Twitter()
	var custom core.Layout
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) (err error) {
		*to, err = layoutOf(cmd, base, custom)
		return err
	}
	set := cmd.Flags()
	set.SortFlags = false // these are the last in the help
	var presets []string
	for _, p := range core.Presets() {
		presets = append(presets, p.Name)
	}
	set.Var(flagval.New(&base, "NAME", "twitter", flagval.Preset), "preset", "layout by name: "+flagval.List(presets))
	completeWith(cmd, "preset", presets)
	set.Var(flagval.New(&custom.Epoch, "TIME", "", timetext.ParseEpoch), "epoch", "time of tick 0: 2020-01-01, 2020-01-01T00:00:00Z or UNIXMILLISECONDS (default the preset's)")
	set.Var(flagval.New(&custom.Tick, "DURATION", "", flagval.Tick), "tick", "unit of the time field, in whole milliseconds, such as 10ms (default the preset's)")
	for i, w := range []struct {
		to   *uint8
		what string
	}{
		{&custom.TimeBits, "time; the five widths replace --preset and default to 0"}, {&custom.RollbackBits, "rollback counter"},
		{&custom.DatacenterBits, "datacenter, the upper part of the worker ID"}, {&custom.WorkerBits, "worker"}, {&custom.SequenceBits, "sequence"},
	} {
		set.Var(flagval.New(w.to, "BITS", "", width), widthFlags[i], "width of the "+w.what)
	}
	set.BoolVar(&custom.SequenceFirst, "sequence-first", false, "put the sequence above datacenter and worker")
	set.BoolVar(&custom.Unsigned, "unsigned", false, "use the sign bit too: 64 bits")
}

// given returns which of the flags were given.
func given(cmd *cobra.Command, names []string) (given []string) {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	return given
}

// layoutOf returns the layout of the flags: that of the preset, with the fields of c that were given.
func layoutOf(cmd *cobra.Command, l, c core.Layout) (core.Layout, error) {
	changed := cmd.Flags().Changed
	if widths := given(cmd, widthFlags); len(widths) > 0 {
		if changed("preset") {
			return core.Layout{}, usage("--preset %s and %s: a preset has its own widths; give one or the other", cmd.Flag("preset").Value, strings.Join(widths, ", "))
		}
		if c.TimeBits == 0 { // core takes all zero for the default's widths
			return core.Layout{}, usage("--time-bits: must be at least 1 if widths are given")
		}
		l.TimeBits, l.RollbackBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits = c.TimeBits, c.RollbackBits, c.DatacenterBits, c.WorkerBits, c.SequenceBits
	}
	if changed("epoch") {
		l.Epoch = c.Epoch
	}
	if changed("tick") {
		l.Tick = c.Tick
	}
	l.SequenceFirst = l.SequenceFirst && !changed("sequence-first") || c.SequenceFirst
	l.Unsigned = l.Unsigned && !changed("unsigned") || c.Unsigned
	flags := map[string]string{"Layout.Epoch": "--epoch", "Layout.Tick": "--tick", "Layout.TimeBits": "--time-bits", "Layout.SequenceBits": "--sequence-bits", "Layout.TimeBits+RollbackBits+DatacenterBits+WorkerBits+SequenceBits": "the layout's widths"}
	return l.WithDefaults(), byFlag(l.Validate(), flags)
}

func width(s string) (uint8, error) {
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil || n > 64 || strings.HasPrefix(s, "+") {
		return 0, errors.New("must be a number of bits from 0 to 64")
	}
	return uint8(n), nil
}
