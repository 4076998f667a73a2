// Package layoutflag holds the flags that say a layout. Every command that has
// to do with ids has the same.
package layoutflag

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/core"
)

// Flags are the flags of one command. Make them with Add.
type Flags struct {
	set    *pflag.FlagSet
	preset string
	custom core.Layout
}

// Names are the flags, for those who list them apart from a command's own.
func Names() []string {
	return []string{"preset", "epoch", "tick", "time-bits", "rollback-bits", "datacenter-bits", "worker-bits", "sequence-bits", "sequence-first", "unsigned"}
}

var widths = []string{"time-bits", "rollback-bits", "datacenter-bits", "worker-bits", "sequence-bits"} //nolint:gochecknoglobals // constant

// Add defines the flags.
func Add(set *pflag.FlagSet) *Flags {
	f := &Flags{set: set}
	set.StringVar(&f.preset, "preset", "twitter", "layout by `NAME`: "+flagval.List(Presets()))
	set.Var(flagval.New(&f.custom.Epoch, "TIME", "", epoch), "epoch", "time of tick 0: 2020-01-01, 2020-01-01T00:00:00Z or Unix milliseconds (default the preset's)")
	set.Var(flagval.New(&f.custom.Tick, "DURATION", "", tick), "tick", "unit of the time field, in whole milliseconds, such as 10ms (default the preset's)")
	bits := func(to *uint8, name, what string) {
		set.Var(flagval.New(to, "BITS", "", width), name, "width of the "+what)
	}
	bits(&f.custom.TimeBits, "time-bits", "time; the five widths stand in place of --preset, and are 0 where not given")
	bits(&f.custom.RollbackBits, "rollback-bits", "count of steps back of the clock")
	bits(&f.custom.DatacenterBits, "datacenter-bits", "datacenter, the upper part of the worker number")
	bits(&f.custom.WorkerBits, "worker-bits", "worker")
	bits(&f.custom.SequenceBits, "sequence-bits", "sequence")
	set.BoolVar(&f.custom.SequenceFirst, "sequence-first", false, "the sequence stands above datacenter and worker")
	set.BoolVar(&f.custom.Unsigned, "unsigned", false, "the sign bit is used as well: 64 bits")
	return f
}

// Presets are the names of the layouts.
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

// Layout is what the flags say. Its errors name the flags.
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

// base is the layout before the flags that change one thing of it.
func (f *Flags) base() (core.Layout, error) {
	var given []string
	for _, name := range widths {
		if f.set.Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) > 0 {
		if f.set.Changed("preset") {
			return core.Layout{}, fmt.Errorf("--preset %s and %s: a preset has its widths; give one or the other", f.preset, strings.Join(given, ", "))
		}
		l := core.Twitter()
		c := f.custom
		l.TimeBits, l.RollbackBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits = c.TimeBits, c.RollbackBits, c.DatacenterBits, c.WorkerBits, c.SequenceBits
		if l.TimeBits == 0 { // all zero would be the default's widths
			return core.Layout{}, errors.New("--time-bits: must be given, and at least 1, where widths are")
		}
		return l, nil
	}
	for _, p := range core.Presets() {
		if strings.EqualFold(p.Name, f.preset) {
			return p.Layout.WithDefaults(), nil
		}
	}
	return core.Layout{}, fmt.Errorf("--preset %q: want %s", f.preset, flagval.List(Presets()))
}

// named says the faults of a layout by the flags they come from.
func named(err error) error {
	var wrong *core.ConfigError
	if !errors.As(err, &wrong) {
		return err
	}
	var all []string
	for _, fault := range wrong.Fields {
		fault.Field = flagOf(fault.Field)
		all = append(all, fault.String())
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
	if ms, err := strconv.ParseInt(s, 10, 64); err == nil && ms > -1<<45 && ms < 1<<45 && !strings.HasPrefix(s, "+") {
		return time.UnixMilli(ms).UTC(), nil
	}
	for _, form := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(form, s); err == nil && !t.IsZero() { // the zero time stands for Twitter's epoch
			return t.UTC(), nil
		}
	}
	return time.Time{}, errors.New("want a time such as 2020-01-01T00:00:00Z, a date, or Unix milliseconds")
}

func tick(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Millisecond || d%time.Millisecond != 0 {
		return 0, errors.New("want whole milliseconds such as 1ms, 10ms or 1s")
	}
	return d, nil
}

func width(s string) (uint8, error) {
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil || n > 64 || strings.HasPrefix(s, "+") {
		return 0, errors.New("want a number of bits from 0 to 64")
	}
	return uint8(n), nil
}
