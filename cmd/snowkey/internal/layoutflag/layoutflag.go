// Package layoutflag defines the flags of a layout, which all commands on IDs share.
package layoutflag

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
)

// Flags are the flags of one command; Add creates them.
type Flags struct {
	set    *pflag.FlagSet
	preset string
	custom core.Layout
}

// Names lists the flags.
func Names() []string {
	return []string{"preset", "epoch", "tick", "time-bits", "rollback-bits", "datacenter-bits", "worker-bits", "sequence-bits", "sequence-first", "unsigned"}
}

var widths = []string{"time-bits", "rollback-bits", "datacenter-bits", "worker-bits", "sequence-bits"} //nolint:gochecknoglobals // constant

// Add defines the flags.
func Add(set *pflag.FlagSet) *Flags {
	f := &Flags{set: set}
	set.StringVar(&f.preset, "preset", "twitter", "layout by `NAME`: "+flagval.List(Presets()))
	set.Var(flagval.New(&f.custom.Epoch, "TIME", "", epoch), "epoch", "time of tick 0: 2020-01-01, 2020-01-01T00:00:00Z or UNIXMILLISECONDS (default the preset's)")
	set.Var(flagval.New(&f.custom.Tick, "DURATION", "", tick), "tick", "unit of the time field, in whole milliseconds, such as 10ms (default the preset's)")
	bits := func(to *uint8, name, what string) {
		set.Var(flagval.New(to, "BITS", "", width), name, "width of the "+what)
	}
	bits(&f.custom.TimeBits, "time-bits", "time; the five widths replace --preset and default to 0")
	bits(&f.custom.RollbackBits, "rollback-bits", "rollback counter")
	bits(&f.custom.DatacenterBits, "datacenter-bits", "datacenter, the upper part of the worker ID")
	bits(&f.custom.WorkerBits, "worker-bits", "worker")
	bits(&f.custom.SequenceBits, "sequence-bits", "sequence")
	set.BoolVar(&f.custom.SequenceFirst, "sequence-first", false, "put the sequence above datacenter and worker")
	set.BoolVar(&f.custom.Unsigned, "unsigned", false, "use the sign bit too: 64 bits")
	return f
}

// Presets lists the names of the presets.
func Presets() []string {
	var names []string
	for _, p := range core.Presets() {
		names = append(names, p.Name)
	}
	return names
}

// Given reports whether any of the flags was set.
func (f *Flags) Given() bool {
	for _, name := range Names() {
		if f.set.Changed(name) {
			return true
		}
	}
	return false
}

// Layout returns the layout of the flags. Errors name the flags.
func (f *Flags) Layout() (core.Layout, error) {
	l, err := f.base()
	if err != nil {
		return core.Layout{}, err
	}
	if f.set.Changed("epoch") {
		l.Epoch = f.custom.Epoch
	}
	if f.set.Changed("tick") {
		l.Tick = f.custom.Tick
	}
	if f.set.Changed("sequence-first") {
		l.SequenceFirst = f.custom.SequenceFirst
	}
	if f.set.Changed("unsigned") {
		l.Unsigned = f.custom.Unsigned
	}
	if err := l.Validate(); err != nil {
		return core.Layout{}, named(err)
	}
	return l.WithDefaults(), nil
}

// base returns the preset, or the layout of the widths.
func (f *Flags) base() (core.Layout, error) {
	var given []string
	for _, name := range widths {
		if f.set.Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) > 0 {
		if f.set.Changed("preset") {
			return core.Layout{}, fmt.Errorf("--preset %s and %s: a preset has its own widths; give one or the other", f.preset, strings.Join(given, ", "))
		}
		l := core.Twitter()
		c := f.custom
		l.TimeBits, l.RollbackBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits = c.TimeBits, c.RollbackBits, c.DatacenterBits, c.WorkerBits, c.SequenceBits
		if l.TimeBits == 0 { // core takes all zero for the default's widths
			return core.Layout{}, errors.New("--time-bits: must be at least 1 if widths are given")
		}
		return l, nil
	}
	for _, p := range core.Presets() {
		if strings.EqualFold(p.Name, f.preset) {
			return p.Layout.WithDefaults(), nil
		}
	}
	return core.Layout{}, fmt.Errorf("--preset %q: must be %s", f.preset, flagval.List(Presets()))
}

// named replaces the fields of an error by flags.
func named(err error) error {
	var wrong *core.ConfigError
	if !errors.As(err, &wrong) {
		return err
	}
	var all []string
	for _, field := range wrong.Fields {
		field.Field = flagOf(field.Field)
		all = append(all, field.String())
	}
	return errors.New(strings.Join(all, "; "))
}

func flagOf(field string) string {
	switch name := strings.TrimPrefix(field, "Layout."); name {
	case "Epoch":
		return "--epoch"
	case "Tick":
		return "--tick"
	case "TimeBits", "RollbackBits", "DatacenterBits", "WorkerBits", "SequenceBits":
		return "--" + strings.ToLower(strings.TrimSuffix(name, "Bits")) + "-bits"
	}
	return "the layout's widths"
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
