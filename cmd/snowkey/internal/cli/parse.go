package cli

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
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
	layout core.Layout
	shown  int
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
	addLayout(cmd, &p.layout)
	completeWith(cmd, "to", idtext.Formats())
	return cmd
}

// fromFlag adds --from, the format of the IDs that a command reads.
func fromFlag(cmd *cobra.Command, to *idtext.Format) {
	cmd.Flags().Var(flagval.New(to, "FORMAT", "", flagval.OneOf(idtext.Formats()...)), "from", "format of the IDs, detected by default: "+flagval.List(idtext.Formats()))
	completeWith(cmd, "from", idtext.Formats())
}

func (a *app) parse(cmd *cobra.Command, p *parse, args []string) error {
	switch {
	case p.to == "":
	case a.json, p.brief, p.zone != nil:
		return usage("--to prints converted IDs only: it excludes --json, --brief and --tz")
	case p.layout.Unsigned && p.to.Signed():
		return usage("--to %s ends at the largest int64: use decimal or hex with --unsigned", p.to)
	}
	return a.each(cmd, args, idtext.Split, func(text string) error { return a.parseOne(p, text) })
}

func (a *app) parseOne(p *parse, text string) error {
	d, id, err := describe.Parse(p.layout, text, p.from, a.now(), p.zone)
	if err != nil {
		return withFrom(err)
	}
	p.shown++
	switch {
	case p.to != "":
		fmt.Fprintln(a.out, p.to.Text(id, p.layout.Unsigned))
	case a.json:
		_ = a.line(d)
	case p.brief:
		at := d.Time
		if d.Local != "" {
			at = d.Local
		}
		fmt.Fprintf(a.out, "%s\t%s\t%d\t%d\n", idtext.Decimal.Text(id, p.layout.Unsigned), at, d.WorkerID, d.Sequence)
	default:
		if p.shown > 1 {
			fmt.Fprintln(a.out)
		}
		a.show(p.layout, id, d)
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

// label prints a name and a value on a line.
func (a *app) label(name, text string) {
	if text != "" {
		fmt.Fprintf(a.out, "  %s %s\n", a.style.faint(fmt.Sprintf("%-10s", name)), text)
	}
}

// show prints an ID for people.
func (a *app) show(l core.Layout, id int64, d describe.ID) {
	s := a.style
	fmt.Fprintln(a.out, s.bold(idtext.Decimal.Text(id, l.Unsigned)))
	a.label("time", fmt.Sprintf("%s  %s", d.Time, s.faint(d.Relative)))
	a.label("local", d.Local)
	if l.RollbackBits > 0 {
		a.label("rollback", strconv.FormatInt(d.Rollback, 10))
	}
	worker := strconv.FormatInt(d.Worker, 10)
	if l.DatacenterBits > 0 {
		a.label("datacenter", strconv.FormatInt(d.Datacenter, 10))
		worker += s.faint(fmt.Sprintf("  worker ID %d with the datacenter", d.WorkerID))
	}
	if l.WorkerBits+l.DatacenterBits > 0 {
		a.label("worker", worker)
	}
	a.label("sequence", strconv.FormatInt(d.Sequence, 10))
	a.label("hex", d.Hex)
	a.label("base58", d.Base58)
	a.label("base62", d.Base62)
	a.label("base32", d.Base32)
	a.label("JavaScript", a.javascriptNote(id, d.JavaScript))
	if explained, err := l.Explain(id); err == nil {
		fmt.Fprintln(a.out)
		for line := range strings.Lines(explained) {
			fmt.Fprint(a.out, "  ", line)
		}
	}
}

func (a *app) javascriptNote(id int64, js describe.JavaScript) string {
	if js.Safe {
		return "exact as a number"
	}
	number, _ := new(big.Int).SetString(js.Value, 10)
	if off := number.Sub(number, big.NewInt(id)); off.Sign() != 0 {
		return a.style.warn(fmt.Sprintf("JSON.parse turns it into %s, off by %+d: send it as a string", js.Value, off))
	}
	return a.style.warn("exact by chance, most IDs near it are not: send it as a string")
}
