package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
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
