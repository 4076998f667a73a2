package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/idtext"
	"github.com/seed-299c1d6b/snowkey/core"
)

// parse holds the flags.
type parse struct {
	from   idtext.Format
	to     idtext.Format  // empty: everything
	zone   *time.Location // nil: UTC only
	brief  bool
	layout *layoutFlags
	l      core.Layout
	shown  int
	failed bool
}

const parseAbout = `Decode IDs: their time, worker ID and sequence, their bits, their other formats,
and what JavaScript makes of them.

IDs are arguments or, with none or with -, come from standard input, any number per
line, also with quotes and commas, or one per line as --json writes them. They may
be decimal, hex (0x…), base32, base58 or base62; digits alone are decimal. A text
that can be read in two formats is rejected: choose one with --from, which most IDs
in base58 need.

With --to, IDs are only converted. A text that is not an ID is reported with its
line number; the others are processed, and the exit status is 1.`

func (a *app) parseCommand() *cobra.Command {
	p := &parse{from: idtext.Auto}
	cmd := &cobra.Command{
		Use:     "parse [ID…]",
		Aliases: []string{"inspect"},
		Short:   "decode IDs",
		Long:    parseAbout,
		Example: "  snowkey parse 1996573624012345677\n  snowkey parse --preset discord --tz Europe/Vienna 0x1236e0a2b3c00001\n  snowkey parse --from base58 --to decimal 5doYnWboBWc\n  psql -Atc 'SELECT id FROM orders' | snowkey parse --brief",
		RunE:    a.action(func(cmd *cobra.Command, args []string) error { return a.parse(cmd, p, args) }),
	}
	f := cmd.Flags()
	fromFlag(cmd, &p.from)
	f.Var(flagval.New(&p.to, "FORMAT", "", flagval.OneOf(idtext.Formats()...)), "to", "convert the IDs to this format, one per line: "+flagval.List(idtext.Formats()))
	f.Var(flagval.New(&p.zone, "ZONE", "", flagval.Zone), "tz", "also show times in this time zone, such as Europe/Vienna or local")
	f.BoolVar(&p.brief, "brief", false, "one line per ID: ID, time, worker ID, sequence")
	a.jsonFlag(cmd, "an object per line")
	p.layout = addLayout(cmd)
	completeWith(cmd, "to", idtext.Formats())
	return cmd
}

// fromFlag adds --from, the format of the IDs that a command reads.
func fromFlag(cmd *cobra.Command, to *idtext.Format) {
	cmd.Flags().Var(flagval.New(to, "FORMAT", "", flagval.OneOf(idtext.Formats()...)), "from", "format of the IDs, detected by default: "+flagval.List(idtext.Formats()))
	completeWith(cmd, "from", idtext.Formats())
}

func (a *app) parse(cmd *cobra.Command, p *parse, args []string) error {
	var err error
	if p.l, err = p.layout.layout(); err != nil {
		return err
	}
	switch {
	case p.to == "":
	case a.json, p.brief, p.zone != nil:
		return usage("--to prints converted IDs only: it excludes --json, --brief and --tz")
	case p.l.Unsigned && p.to.Signed():
		return usage("--to %s ends at the largest int64: use decimal or hex with --unsigned", p.to)
	}
	err = a.each(cmd, args, idtext.Split, func(where, text string) {
		if err := a.parseOne(p, text); err != nil {
			p.failed = true
			a.report(cmd, where, text, err)
		}
	})
	if err == nil && p.failed {
		return errReported
	}
	return err
}

func (a *app) parseOne(p *parse, text string) error {
	d, id, err := describe.Parse(p.l, text, p.from, a.now(), p.zone)
	if err != nil {
		return withFrom(err)
	}
	p.shown++
	switch {
	case p.to != "":
		fmt.Fprintln(a.out, p.to.Text(id, p.l.Unsigned))
	case a.json:
		_ = a.line(d)
	case p.brief:
		at := d.Time
		if d.Local != "" {
			at = d.Local
		}
		fmt.Fprintf(a.out, "%s\t%s\t%d\t%d\n", idtext.Decimal.Text(id, p.l.Unsigned), at, d.WorkerID, d.Sequence)
	default:
		if p.shown > 1 {
			fmt.Fprintln(a.out)
		}
		a.show(p.l, id, d)
	}
	return nil
}

// withFrom adds the flag that settles an ambiguity.
func withFrom(err error) error {
	var ambiguous *idtext.AmbiguousError
	if errors.As(err, &ambiguous) {
		return fmt.Errorf("%w: choose with --from", err)
	}
	return err
}
