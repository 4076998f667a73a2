package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/layoutflag"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/notation"
	"github.com/seed-299c1d6b/snowkey/core"
)

// parse is what its flags say.
type parse struct {
	from   notation.Notation // empty: guess
	to     notation.Notation // empty: all that is known
	zone   *time.Location    // nil: UTC only
	brief  bool
	layout *layoutflag.Flags
	l      core.Layout
	shown  int
	bad    int
}

const parseAbout = `Take ids apart: their time, worker and sequence, their bits, how else they are
written, and what JavaScript would make of them.

Ids are arguments, or, with none or with -, come from standard input, any number
to a line, also with quotes and commas between them, or one to a line as --json
writes them. They may be decimal, hex (0x…), base 58, base 62 or base 32; digits
alone are decimal. A text that is an id in two of the others is refused: --from
says which it is, as it is needed for most ids in base 58.

With --to they are written in another notation and nothing more is said of them.
What is no id is reported with its line; the others go on, and the exit status is 1.`

func (a *app) parseCommand() *cobra.Command {
	p := &parse{}
	cmd := &cobra.Command{
		Use:     "parse [ID…]",
		Aliases: []string{"inspect"},
		Short:   "take ids apart",
		Long:    parseAbout,
		Example: "  snowkey parse 1996573624012345677\n  snowkey parse --preset discord --tz Europe/Vienna 0x1236e0a2b3c00001\n  snowkey parse --from base58 --to decimal 5doYnWboBWc\n  psql -Atc 'SELECT id FROM orders' | snowkey parse --brief",
		RunE:    a.action(func(cmd *cobra.Command, args []string) error { return a.parse(cmd, p, args) }),
	}
	f := cmd.Flags()
	f.Var(flagval.New(&p.from, "NOTATION", "", flagval.OneOf(notation.All()...)), "from", "notation of the ids, in place of guessing: "+flagval.List(notation.All()))
	f.Var(flagval.New(&p.to, "NOTATION", "", flagval.OneOf(notation.All()...)), "to", "write the ids alone, one a line, in this notation: "+flagval.List(notation.All()))
	f.Var(flagval.New(&p.zone, "ZONE", "", flagval.Zone), "tz", "time zone in which times are shown as well, such as Europe/Vienna or local")
	f.BoolVar(&p.brief, "brief", false, "one line for each id: id, time, worker number, sequence")
	a.jsonFlag(cmd, "an object on each line")
	p.layout = layoutflag.Add(f)
	completeWith(cmd, "from", notation.All())
	completeWith(cmd, "to", notation.All())
	completeWith(cmd, "preset", layoutflag.Presets())
	return cmd
}

func (a *app) parse(cmd *cobra.Command, p *parse, args []string) error {
	var err error
	if p.l, err = p.layout.Layout(); err != nil {
		return &usageError{err}
	}
	if err := p.alone(a.json); err != nil {
		return err
	}
	err = a.each(cmd, args, idsOf, func(where, text string) { a.parseOne(cmd, p, where, text) })
	if err == nil && p.bad > 0 {
		return errTold
	}
	return err
}

// alone checks --to, which leaves nothing to be shown beside the id.
func (p *parse) alone(asJSON bool) error {
	switch {
	case p.to == "":
	case asJSON, p.brief, p.zone != nil:
		return usage("--to writes the ids alone: it goes with none of --json, --brief and --tz")
	case p.l.Unsigned && p.to.Signed():
		return usage("--to %s ends at the largest int64: with --unsigned take decimal or hex", p.to)
	}
	return nil
}

// parseOne shows one id, or reports it.
func (a *app) parseOne(cmd *cobra.Command, p *parse, where, text string) {
	id, as, err := read(p.from, text, p.l.Unsigned)
	var parts core.Parts
	if err == nil {
		parts, err = p.l.Decode(id)
	}
	if err != nil {
		p.bad++
		a.report(cmd, where, text, plainRange(err))
		return
	}
	p.shown++
	if p.to != "" {
		fmt.Fprintln(a.out, p.to.Text(id, p.l.Unsigned))
		return
	}
	info := describe(p, text, id, as, parts, a.now())
	switch {
	case a.json:
		_ = a.line(info)
	case p.brief:
		a.showBrief(info)
	default:
		if p.shown > 1 {
			fmt.Fprintln(a.out)
		}
		a.show(p, info)
	}
}

// idsOf takes the ids out of an argument or a line. Of a JSON object, such as --json
// writes, its id counts.
func idsOf(line string) []string {
	if strings.HasPrefix(strings.TrimSpace(line), "{") {
		var object struct {
			ID json.RawMessage `json:"id"` // a number of more than 53 bits as well
		}
		if json.Unmarshal([]byte(line), &object) == nil && len(object.ID) > 0 {
			return []string{notation.Unquote(string(object.ID))}
		}
	}
	return notation.Split(line)
}

// read reads an id in the notation that was given, or else in the one it looks like.
func read(from notation.Notation, text string, unsigned bool) (int64, notation.Notation, error) {
	if from == "" {
		return notation.Guess(text, unsigned)
	}
	id, err := from.Read(text, unsigned)
	if err != nil {
		return 0, "", fmt.Errorf("not %s: %w", from, err)
	}
	return id, from, nil
}

// plainRange says why an id is not of the layout, without core's name for it.
func plainRange(err error) error {
	var outside *core.RangeError
	if errors.As(err, &outside) {
		return errors.New("is not of this layout: " + outside.Limit)
	}
	return err
}

func quote(text string) string { return notation.Quote(text) }
