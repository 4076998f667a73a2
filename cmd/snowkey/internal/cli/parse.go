package cli

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
)

// parseFlags are the flags of the command.
type parseFlags struct {
	from    describe.Format
	to      describe.Format // empty: everything
	column  string
	missing bool // the column
	brief   bool
	layout  core.Layout
	view    describe.View
	rounded float64 // ids that look rounded
	chance  float64 // of them that would by chance
}

const parseAbout = `Decode ids: their time, worker ID and sequence, their bits, their other formats,
and what JavaScript makes of them.

Ids are the arguments. Without any, or with -, they come from standard input: a
line has any number of ids, with or without quotes and commas, or one object of
--json. If the first line is the header of a table or of CSV and names a column
"id", or the one of --column, only that column is read. Of a URL, such as that
of a tweet, the long numbers are.

If no flag names the layout, it is the default, unless the time is then
impossible: in the future, in the first half day, or before 2000. Then it is the
first preset where it is not. Arguments, or ids on a line of input, get the
preset that is possible for most. The others are shown as well, but never
many-workers, whose ids have the times of the default.

Digits alone are decimal, also with separators: 1,996,573,624,012,345,677. A
text that fits two formats, or may be a word, is rejected: choose a format with
--from. Most ids in base58 need it, because bwmarrin/snowflake has another
alphabet of 58 digits. --from ord_ accepts no other prefix.

A number above 2^53 that has the digits that JavaScript or a spreadsheet makes
of its neighbours may have been rounded: then the ids that it may have been are
shown, the likeliest first. --workers names the worker IDs that are in use.

With --to, ids are only converted. The first ten texts that are not ids are
reported with their position; the others are processed, and the exit status is
1.`

func (a *app) parseCommand() *cobra.Command {
	p := &parseFlags{from: describe.Auto}
	cmd := a.command("parse [ID…]", "decode ids", parseAbout,
		`  snowkey parse 1996573624012345677
  snowkey parse --preset discord --tz Europe/Vienna 0x1236e0a2b3c00001
  snowkey parse --from base58 --to decimal 5doYnWboBWc
  snowkey parse --workers 0,1,2 2124686841461342200
  psql -c 'SELECT id FROM orders' --csv | snowkey parse --brief`,
		nil, func(cmd *cobra.Command, args []string) error { return a.parse(cmd, p, args) })
	f := cmd.Flags()
	fromFlag(cmd, &p.from)
	enumVar(cmd, flagval.New(&p.to, "FORMAT", "", describe.FormatOf), "to", "convert the ids to this format, one per line: "+describe.Forms, describe.FormatNames())
	f.Var(flagval.New(&p.view.Zone, "ZONE", "", flagval.Zone), "tz", "also show times in this time zone, such as Europe/Vienna or local")
	f.BoolVar(&p.brief, "brief", false, "one line per id: id, time, worker ID, sequence, and the preset that is assumed")
	f.StringVar(&p.column, "column", "", "`NAME` of the column to read; the first line of standard input has the names")
	f.Var(flagval.New(&p.view.Workers, "IDS", "", flagval.WorkerIDs), "workers", "worker IDs in use, such as 0,1,2: of what a rounded id may have been, theirs come first")
	a.jsonFlag(cmd, "an object per line")
	addLayout(cmd, &p.layout)
	return cmd
}

// fromFlag adds --from, the format of the ids that a command reads.
func fromFlag(cmd *cobra.Command, to *describe.Format) {
	enumVar(cmd, flagval.New(to, "FORMAT", "", describe.FormatOf), "from", "format of the ids, detected by default: "+describe.Forms, describe.FormatNames())
}

func (a *app) parse(cmd *cobra.Command, p *parseFlags, args []string) error {
	fromInput := len(args) == 0 || args[0] == "-"
	switch {
	case p.brief && a.json:
		return usage("--brief excludes --json")
	case p.column != "" && !fromInput:
		return usage("--column %q: requires that the ids come from standard input", truncate(p.column))
	case p.to == "":
	case a.json, p.brief, p.view.Zone != nil, p.view.Workers != nil:
		return usage("--to prints converted ids only: it excludes --json, --brief, --workers and --tz")
	case p.layout.Unsigned && p.to.Signed():
		return usage("--to %s ends at the largest int64: use decimal or hex with --unsigned", p.to)
	}
	p.view.Now = a.now()
	texts := splitFunc(describe.Split)
	if fromInput {
		texts = p.cells()
	}
	shown, split := 0, texts
	if len(givenFlags(cmd, layoutNames)) == 0 && p.to == "" {
		recognize := func(texts []string) []string {
			p.view.Presets = describe.Recognize(texts, p.from, p.view.Now)
			p.layout = p.view.Presets[0].Layout
			return texts
		}
		if fromInput {
			split = func(text string) []string { return recognize(texts(text)) }
		} else { // together
			recognize(describe.Split(strings.Join(args, "\n")))
		}
	}
	err := a.each(cmd, args, split, func(text string) error {
		if p.missing {
			return usage("--column %q: is not in the first line, %q", p.column, truncate(text))
		}
		id, format, err := describe.Parse(text, p.from, p.layout.Unsigned)
		if err != nil {
			return suggestFrom(err)
		}
		if p.to != "" || p.brief {
			return a.parseLine(p, id, format)
		}
		d, err := describe.New(p.layout, id, text, format, p.view)
		switch {
		case err != nil:
			return err
		case a.json:
			return a.line(&d)
		case shown > 0:
			fmt.Fprint(a.out, "\n")
		}
		shown++
		return a.show(p, id, d)
	})
	if p.rounded > 3*p.chance+1 {
		a.note("%s %s look rounded by JavaScript or a spreadsheet, but about %.0f would by chance: see them without --brief",
			a.errStyle.paint(yellow, "snowkey parse:"), plural(int64(p.rounded), "id"), math.Ceil(p.chance))
	}
	return err
}

// cells returns a splitFunc that reads one column of CSV or of a table, whose first line has the names. If none
// is asked for, it is "id", or lines are read as they are.
func (p *parseFlags) cells() splitFunc {
	comma, at, first := "", -1, true
	cells := func(line string) []string {
		r := csv.NewReader(strings.NewReader(line))
		r.Comma, r.LazyQuotes, r.TrimLeadingSpace = []rune(comma)[0], true, true
		record, _ := r.Read() // a quote that does not end is an error, and its cells are there
		for i, cell := range record {
			record[i] = strings.TrimSpace(strings.TrimPrefix(cell, "\ufeff"))
		}
		return record
	}
	return func(line string) []string {
		isRule := strings.Trim(line, "-+| \t\r") == "" // of a table, or nothing
		header := first && !isRule
		if header {
			first, comma = false, ","
			for _, c := range []string{"\t", ";", "|"} {
				if strings.Count(line, c) > strings.Count(line, comma) {
					comma = c
				}
			}
			at = slices.IndexFunc(cells(line), func(cell string) bool { return strings.EqualFold(cell, cmp.Or(p.column, "id")) })
			p.missing = at < 0 && p.column != ""
		}
		switch {
		case isRule && first:
			return nil
		case at < 0 && p.column == "":
			return describe.Split(line)
		case header && at >= 0, isRule, describe.IsTableEnd(line):
			return nil
		}
		if record := cells(line); at >= 0 && at < len(record) {
			return []string{record[at]}
		}
		return []string{line}
	}
}

// parseLine prints the line of --to or --brief, at the speed at which ids are read.
func (a *app) parseLine(p *parseFlags, id int64, format describe.Format) error {
	parts, err := p.layout.Decode(id)
	if err != nil {
		return describe.Outside(err)
	}
	line := a.out.AvailableBuffer()
	if p.to != "" {
		line = p.to.Append(line, id, p.layout.Unsigned)
	} else {
		if rounded, chance := describe.LooksRounded(id); format == describe.Decimal {
			p.chance += chance
			if rounded {
				p.rounded++
			}
		}
		if p.view.Zone != nil {
			parts.Time = parts.Time.In(p.view.Zone)
		}
		line = append(describe.Decimal.Append(line, id, p.layout.Unsigned), '\t')
		line = append(parts.Time.AppendFormat(line, timetext.Stamp), '\t')
		line = append(strconv.AppendInt(line, parts.Datacenter<<p.layout.WorkerBits|parts.Worker, 10), '\t')
		line = strconv.AppendInt(line, parts.Sequence, 10)
		if p.view.Presets != nil {
			line = append(append(line, '\t'), p.view.Presets[0].Name...)
		}
	}
	_, err = a.out.Write(append(line, '\n'))
	return err
}

// suggestFrom adds the flag that settles an ambiguity.
func suggestFrom(err error) error {
	if errors.As(err, new(*describe.AmbiguousError)) {
		return fmt.Errorf("%w: choose with --from", err)
	}
	return err
}

// label prints a name and a value on a line.
func (a *app) label(name, text string) {
	if text != "" {
		fmt.Fprint(a.out, "  ", a.style.paint(faint, fmt.Sprintf("%-10s", name)), " ", text, "\n")
	}
}

// show prints an id for people.
func (a *app) show(p *parseFlags, id int64, d describe.ID) error {
	l, s, decimal := p.layout, a.style, describe.Decimal.Text(id, p.layout.Unsigned)
	fmt.Fprint(a.out, s.paint(bold, decimal), "\n")
	a.label("prefix", d.Prefix)
	a.label("preset", d.Preset)
	a.label("time", d.Time+"  "+s.paint(faint, d.Relative))
	if p.view.Zone != nil {
		a.label("zone", d.ZoneTime+"  "+s.paint(faint, p.view.Zone.String()))
	}
	if !d.Possible {
		a.label("warning", s.paint(yellow, "this time is impossible: another layout made the id, or it is none"))
	}
	for _, preset := range p.view.Presets {
		if other := d.Others[preset.Name]; other != "" {
			a.label("or", other+s.paint(faint, "  with --preset "+preset.Name))
		}
	}
	if l.RollbackBits > 0 {
		a.label("rollback", strconv.FormatInt(d.Rollback, 10))
	}
	worker := strconv.FormatInt(d.WorkerID, 10)
	if l.DatacenterBits > 0 {
		worker += s.paint(faint, fmt.Sprintf("  datacenter %d, machine %d", d.Datacenter, d.Machine))
	}
	if l.WorkerBits+l.DatacenterBits > 0 {
		a.label("worker ID", worker)
	}
	a.label("sequence", strconv.FormatInt(d.Sequence, 10))
	a.label("hex", d.Hex)
	a.label("base58", d.Base58)
	a.label("base62", d.Base62)
	a.label("base32", d.Base32)
	a.label("prefixed", d.Prefixed)
	javascript := "exact as a number"
	switch js := describe.NewJavaScript(decimal); {
	case js.Safe:
	case js.Value == decimal:
		javascript = s.paint(yellow, "it prints this number also for other ids: send ids as strings")
	default:
		javascript = s.paint(yellow, "JSON.parse turns it into "+js.Value+": send it as a string")
	}
	a.label("JavaScript", javascript)
	a.showRounded(l, d.Rounded)
	explained, err := l.Explain(id)
	if err == nil {
		fmt.Fprint(a.out, "\n  ", strings.ReplaceAll(strings.TrimSuffix(explained, "\n"), "\n", "\n  "), "\n")
	}
	return err
}

// showRounded prints what a number was before it was rounded.
func (a *app) showRounded(l core.Layout, r *describe.Rounded) {
	if r == nil {
		return
	}
	by := map[string]string{"javascript": "JavaScript", "spreadsheet": "a spreadsheet"}[r.By]
	what := fmt.Sprintf("perhaps, by %s: the id was one of %s, the likeliest first:", by, humanize.Comma(r.Count))
	a.label("rounded?", a.style.paint(yellow, what))
	for _, c := range r.Likely {
		fields := fmt.Sprintf("sequence %d", c.Sequence)
		if l.WorkerIDs() > 1 {
			fields = fmt.Sprintf("worker ID %d, %s", c.WorkerID, fields)
		}
		a.label("", a.style.paint(bold, c.ID)+"  "+fields)
	}
	a.label("", "find it: id BETWEEN "+r.First+" AND "+r.Last)
}
