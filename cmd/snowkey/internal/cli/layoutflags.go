package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
)

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
