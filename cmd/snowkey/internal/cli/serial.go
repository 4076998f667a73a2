package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/layoutflag"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/notation"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/serial"
)

// serials is what the flags of serial say.
type serials struct {
	format serial.Config
	scheme serialScheme
	from   notation.Notation // of the ids; empty: guess
	layout *layoutflag.Flags
}

// serialScheme is a serial.Scheme by name.
type serialScheme string

var schemes = map[serialScheme]serial.Scheme{"mod97": serial.Mod97, "mod11": serial.Mod11, "mod1110": serial.Mod1110, "luhn": serial.Luhn} //nolint:gochecknoglobals // constant

const serialAbout = `Write ids as serials that people can read, type and check, and read them back:

  PAY-20251204133341165-0697-0333-51

the prefix, date and time, worker number, sequence, and check digits. The same
flags must be given for both ways.`

func (a *app) serialCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "serial",
		Short:   "write ids as serials for people, and read them back",
		Long:    serialAbout,
		Example: "  snowkey serial encode --prefix PAY --separator - --check 1996573624012345677\n  snowkey serial decode --prefix PAY --separator - --check PAY-20251204133341165-0697-0333-51",
		Args:    noSuchCommand,
		RunE:    func(*cobra.Command, []string) error { return usage("want a command: encode or decode") },
	}
	encode := &serials{}
	encoding := a.serialWay(encode, "encode [ID…]", "write ids as serials", "Write ids as serials, one a line. Ids are arguments or come from standard input, in\nany notation that parse takes; most in base 58 need --from.",
		"  snowkey serial encode --prefix PAY --separator - --check 1996573624012345677\n  snowkey gen -n 3 --worker 3 | snowkey serial encode", idsOf, encodeSerial)
	encoding.Flags().Var(flagval.New(&encode.from, "NOTATION", "", flagval.OneOf(notation.All()...)), "from", "notation of the ids, in place of guessing: "+flagval.List(notation.All()))
	completeWith(encoding, "from", notation.All())
	cmd.AddCommand(encoding,
		a.serialWay(&serials{}, "decode [SERIAL…]", "read serials back", "Read serials back to ids, one a line. What is no serial of this format is\nreported with the part that is wrong; the others go on, and the exit status is 1.",
			"  snowkey serial decode --prefix PAY --separator - --check PAY-20251204133341165-0697-0333-51", oneText, decodeSerial))
	return cmd
}

// oneText is an argument or a line as a whole: a serial may hold what parts ids.
func oneText(line string) []string {
	if line = notation.Unquote(line); line == "" {
		return nil
	}
	return []string{line}
}

type serialJSON struct {
	ID     string `json:"id"`
	Serial string `json:"serial"`
}

type serialFunc func(c *serial.Codec, from notation.Notation, text string) (serialJSON, string, error)

func encodeSerial(c *serial.Codec, from notation.Notation, text string) (serialJSON, string, error) {
	id, _, err := read(from, text, c.Config().Layout.Unsigned)
	if err != nil {
		return serialJSON{}, "", err
	}
	out, err := c.Encode(id)
	return serialJSON{notation.Decimal.Text(id, c.Config().Layout.Unsigned), out}, out, err
}

func decodeSerial(c *serial.Codec, _ notation.Notation, text string) (serialJSON, string, error) {
	id, err := c.Decode(text)
	decimal := notation.Decimal.Text(id, c.Config().Layout.Unsigned)
	return serialJSON{decimal, text}, decimal, err
}

func (a *app) serialWay(s *serials, use, brief, long, example string, split func(string) []string, turn serialFunc) *cobra.Command {
	s.format, s.scheme = serial.Config{Location: time.UTC}, "mod97"
	cmd := &cobra.Command{
		Use: use, Short: brief, Long: long, Example: example,
		RunE: a.action(func(cmd *cobra.Command, args []string) error { return a.serial(cmd, s, args, split, turn) }),
	}
	f := cmd.Flags()
	f.StringVar(&s.format.Prefix, "prefix", "", "`TEXT` that stands first, such as PAY")
	f.StringVar(&s.format.Separator, "separator", "", "`TEXT` that stands between the parts, such as -")
	f.BoolVar(&s.format.Check, "check", false, "check digits stand at the end")
	f.Var(flagval.New(&s.scheme, "NAME", "mod97", flagval.OneOf[serialScheme]("mod97", "mod11", "mod1110", "luhn")), "scheme", "of the check digits: mod97, mod11, mod1110 or luhn")
	f.Var(flagval.New(&s.format.Location, "ZONE", "UTC", flagval.Zone), "tz", "time zone of the date and time; one with summer time needs --fold")
	f.BoolVar(&s.format.Fold, "fold", false, "a digit behind the time tells the hour that comes twice in autumn")
	a.jsonFlag(cmd, "an object on each line")
	s.layout = layoutflag.Add(f)
	completeWith(cmd, "scheme", []string{"mod97", "mod11", "mod1110", "luhn"})
	completeWith(cmd, "preset", layoutflag.Presets())
	return cmd
}

func (a *app) serial(cmd *cobra.Command, s *serials, args []string, split func(string) []string, turn serialFunc) error {
	l, err := s.layout.Layout()
	if err != nil {
		return &usageError{err}
	}
	if cmd.Flags().Changed("scheme") && !s.format.Check {
		return usage("--scheme is of use with --check only")
	}
	s.format.Layout, s.format.Scheme = l, schemes[s.scheme]
	codec, err := serial.New(s.format)
	if err != nil {
		return serialFaults(err)
	}
	bad := false
	err = a.each(cmd, args, split, func(where, text string) {
		both, line, err := turn(codec, s.from, text)
		switch {
		case err != nil:
			bad = true
			a.report(cmd, where, text, plainSerial(err))
		case a.json:
			_ = a.line(both)
		default:
			fmt.Fprintln(a.out, line)
		}
	})
	if err == nil && bad {
		return errTold
	}
	return err
}

// serialFaults says what is wrong with the format by the flags it comes from.
func serialFaults(err error) error {
	var faults *core.ConfigError
	if !errors.As(err, &faults) {
		return usage("%w", err)
	}
	for i, f := range faults.Fields { // its advice is for programs
		faults.Fields[i].Reason = strings.Replace(f.Reason, "set Fold", "give --fold", 1)
	}
	return usage("%s", byFlag(faults.Fields, map[string]string{"Prefix": "--prefix", "Separator": "--separator", "Scheme": "--scheme", "Location": "--tz", "Layout.Epoch": "--epoch"}))
}

// plainSerial is the reason of an error that stands beside its input already.
func plainSerial(err error) error {
	var parse *serial.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("%s %q: %s", parse.Part, parse.Value, parse.Reason)
	}
	return plainRange(err)
}
