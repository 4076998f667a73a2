package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/layoutflag"
	"github.com/seed-299c1d6b/snowkey/core"
)

// layoutInfo is what can be said of a layout; its JSON.
type layoutInfo struct {
	Name           string  `json:"name,omitempty"`
	Epoch          string  `json:"epoch"`
	EpochMS        int64   `json:"epoch_ms"`
	TickMS         int64   `json:"tick_ms"`
	TimeBits       uint8   `json:"time_bits"`
	RollbackBits   uint8   `json:"rollback_bits"`
	DatacenterBits uint8   `json:"datacenter_bits"`
	WorkerBits     uint8   `json:"worker_bits"`
	SequenceBits   uint8   `json:"sequence_bits"`
	SequenceFirst  bool    `json:"sequence_first"`
	Unsigned       bool    `json:"unsigned"`
	Workers        int64   `json:"workers"`
	PerTick        int64   `json:"ids_per_tick"`
	PerSecond      float64 `json:"ids_per_second_of_a_worker"`
	End            string  `json:"end"`
	Expired        bool    `json:"expired"`
	JavaScript     bool    `json:"javascript_safe"`
	About          string  `json:"about,omitempty"`

	layout core.Layout
}

func layoutOf(name, about string, l core.Layout, now time.Time) layoutInfo {
	total := int(l.TimeBits) + int(l.RollbackBits) + int(l.DatacenterBits) + int(l.WorkerBits) + int(l.SequenceBits)
	return layoutInfo{
		Name: name, About: about, layout: l,
		Epoch: l.Epoch.UTC().Format(stamp), EpochMS: l.Epoch.UnixMilli(), TickMS: l.Tick.Milliseconds(),
		TimeBits: l.TimeBits, RollbackBits: l.RollbackBits, DatacenterBits: l.DatacenterBits, WorkerBits: l.WorkerBits, SequenceBits: l.SequenceBits,
		SequenceFirst: l.SequenceFirst, Unsigned: l.Unsigned,
		Workers: l.WorkerIDs(), PerTick: l.IDsPerTick(), PerSecond: float64(l.IDsPerTick()) * 1000 / float64(l.Tick.Milliseconds()), End: l.End().Format(stamp), Expired: !l.End().After(now), JavaScript: total <= 53,
	}
}

// perSecond says how many ids a worker can make in a second, exactly or as a part.
func perSecond(l core.Layout) string {
	perTick, tick := l.IDsPerTick(), l.Tick.Milliseconds()
	if perTick > 1<<52 {
		return "more than 10^15"
	}
	if n := perTick * 1000; n%tick == 0 {
		return grouped(n / tick)
	}
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", float64(perTick)*1000/float64(tick)), "0"), ".")
}

func (a *app) layoutCommand() *cobra.Command {
	var all bool
	var layout *layoutflag.Flags
	cmd := &cobra.Command{
		Use:     "layout",
		Short:   "draw a layout, and say what it can hold and until when",
		Long:    "Draw a layout, and say how many workers it has, how many ids they can make, and\nwhen its time runs out. --all lists the layouts known by name.",
		Example: "  snowkey layout --preset sonyflake\n  snowkey layout --epoch 2026-01-01 --time-bits 42 --worker-bits 8 --sequence-bits 13\n  snowkey layout --all",
		Args:    arguments(0, 0, "no arguments"),
		RunE: a.action(func(*cobra.Command, []string) error {
			if all {
				if layout.Given() {
					return usage("--all lists the presets: it has no use for the flags of a layout")
				}
				return a.layouts()
			}
			l, err := layout.Layout()
			if err != nil {
				return &usageError{err}
			}
			return a.layout(l)
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "list the presets")
	a.jsonFlag(cmd, "one object, or with --all a list")
	layout = layoutflag.Add(cmd.Flags())
	completeWith(cmd, "preset", layoutflag.Presets())
	return cmd
}

func (a *app) layout(l core.Layout) error {
	info := layoutOf("", "", l, a.now())
	for _, p := range core.Presets() {
		if p.Layout.WithDefaults() == l {
			info.Name, info.About = p.Name, p.Description
			break
		}
	}
	if a.json {
		return a.object(info)
	}
	if info.Name != "" {
		fmt.Fprintf(a.out, "%s  %s\n\n", a.style.bold(info.Name), a.style.faint(info.About))
	}
	fmt.Fprint(a.out, l.Diagram())
	label := func(name, text string) {
		fmt.Fprintf(a.out, "  %s %s\n", a.style.faint(fmt.Sprintf("%-10s", name)), text)
	}
	fmt.Fprintln(a.out)
	workers := grouped(info.Workers)
	if l.DatacenterBits > 0 {
		workers += fmt.Sprintf(": %s in each of %s", grouped(1<<min(l.WorkerBits, 62)), plural(1<<min(l.DatacenterBits, 62), "datacenter"))
	}
	label("epoch", fmt.Sprintf("%s  %s", info.Epoch, a.style.faint(fmt.Sprintf("%d ms", info.EpochMS))))
	label("tick", l.Tick.String())
	label("workers", workers)
	label("capacity", fmt.Sprintf("%s in a tick of a worker, %s in a second", plural(info.PerTick, "id"), perSecond(l)))
	end := fmt.Sprintf("%s  %s", info.End, a.style.faint(relative(l.End(), a.now())))
	if info.Expired {
		end += "  " + a.style.bad("its time has run out: ids can be read, not made")
	}
	label("ends", end)
	if info.JavaScript {
		label("JavaScript", "ids are exact as numbers")
	} else {
		label("JavaScript", a.style.warn("ids are not exact as numbers: send them as strings"))
	}
	if l.Unsigned {
		label("sign", a.style.warn("ids of the upper half are negative as an int64: no key of a database"))
	}
	return nil
}

func (a *app) layouts() error {
	infos := []layoutInfo{}
	rows := [][]string{{"NAME", "BITS", "TICK", "WORKERS", "IDS/S", "EPOCH", "ENDS"}}
	for _, p := range core.Presets() {
		info := layoutOf(p.Name, p.Description, p.Layout.WithDefaults(), a.now())
		infos = append(infos, info)
		rows = append(rows, []string{p.Name, bits(info.layout), info.layout.Tick.String(), grouped(info.Workers), perSecond(info.layout), info.layout.Epoch.Format(time.DateOnly), info.layout.End().Format(time.DateOnly)})
	}
	if a.json {
		return a.object(infos)
	}
	a.table(rows)
	return nil
}

// bits are the widths from high to low, those of no bits left out.
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
