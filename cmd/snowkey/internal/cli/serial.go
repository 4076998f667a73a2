package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/idtext"
	"github.com/seed-299c1d6b/snowkey/serial"
)

// serials holds the flags.
type serials struct {
	format serial.Config
	check  bool
	scheme serial.Scheme
	from   idtext.Format
}

var schemes = []string{"mod97", "mod11", "mod1110", "luhn"} //nolint:gochecknoglobals // constant, in the order of serial's

func scheme(s string) (serial.Scheme, error) {
	name, err := flagval.OneOf(schemes...)(s)
	return serial.Mod97 + serial.Scheme(slices.Index(schemes, name)), err
}

const serialAbout = `Convert IDs to serial numbers that people can read, type and check, and back:

  PAY-20251204133341165-0697-0333-51

This is the prefix, date and time, worker ID, sequence, and check digits. Encoding
and decoding require the same flags.`

func (a *app) serialCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "serial",
		Short:   "convert IDs to serial numbers, and back",
		Long:    serialAbout,
		Example: "  snowkey serial encode --prefix PAY --separator - --check 1996573624012345677\n  snowkey serial decode --prefix PAY --separator - --check PAY-20251204133341165-0697-0333-51",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return usage("requires a command: encode or decode") },
	}
	encode := &serials{from: idtext.Auto}
	encoding := a.serialWay(encode, "encode [ID…]", "convert IDs to serial numbers", "Convert IDs to serial numbers, one per line. IDs are arguments or come from standard\ninput, in any format that parse reads; most in base58 need --from.",
		"  snowkey serial encode --prefix PAY --separator - --check 1996573624012345677\n  snowkey gen -n 3 --worker 3 | snowkey serial encode", idtext.Split, encodeSerial)
	fromFlag(encoding, &encode.from)
	cmd.AddCommand(encoding,
		a.serialWay(&serials{}, "decode [SERIAL…]", "convert serial numbers back to IDs", "Convert serial numbers back to IDs, one per line. They may be typed: in any case, with\nspaces or any dashes, O for 0, and I or L for 1. A text that is not a serial number\nof this format is reported with the wrong part; the others are processed, and the\nexit status is 1.",
			"  snowkey serial decode --prefix PAY --separator - --check PAY-20251204133341165-0697-0333-51", oneText, decodeSerial))
	return cmd
}

// oneText returns an argument or a line whole: a serial may contain separators.
func oneText(line string) []string {
	if line = idtext.Unquote(line); line == "" {
		return nil
	}
	return []string{line}
}

type serialJSON struct {
	ID     string `json:"id"`
	Serial string `json:"serial"`
}

type serialFunc func(c *serial.Codec, from idtext.Format, text string) (serialJSON, string, error)

func encodeSerial(c *serial.Codec, from idtext.Format, text string) (serialJSON, string, error) {
	id, _, err := idtext.Parse(text, from, c.Config().Layout.Unsigned)
	if err != nil {
		return serialJSON{}, "", withFrom(err)
	}
	out, err := c.Encode(id)
	return serialJSON{idtext.Decimal.Text(id, false), out}, out, err
}

func decodeSerial(c *serial.Codec, _ idtext.Format, text string) (serialJSON, string, error) {
	id, err := c.DecodeTyped(text)
	if err == nil {
		text, err = c.Encode(id)
	}
	return serialJSON{idtext.Decimal.Text(id, false), text}, idtext.Decimal.Text(id, c.Config().Layout.Unsigned), err
}

func (a *app) serialWay(s *serials, use, brief, long, example string, split splitFunc, turn serialFunc) *cobra.Command {
	s.format = serial.Config{Location: time.UTC}
	cmd := &cobra.Command{
		Use: use, Short: brief, Long: long, Example: example,
		RunE: a.action(func(cmd *cobra.Command, args []string) error { return a.serial(cmd, s, args, split, turn) }),
	}
	f := cmd.Flags()
	f.StringVar(&s.format.Prefix, "prefix", "", "`TEXT` at the start, such as PAY")
	f.StringVar(&s.format.Separator, "separator", "", "`TEXT` between the parts, such as -")
	f.BoolVar(&s.check, "check", false, "add check digits at the end")
	f.Var(flagval.New(&s.scheme, "NAME", "mod97", scheme), "scheme", "scheme of the check digits: "+flagval.List(schemes))
	f.Var(flagval.New(&s.format.Location, "ZONE", "UTC", flagval.Zone), "tz", "time zone of the date and time; one with summer time requires --fold")
	f.BoolVar(&s.format.Fold, "fold", false, "add a digit that tells the repeated hours of autumn apart")
	a.jsonFlag(cmd, "an object per line")
	addLayout(cmd, &s.format.Layout)
	completeWith(cmd, "scheme", schemes)
	return cmd
}

func (a *app) serial(cmd *cobra.Command, s *serials, args []string, split splitFunc, turn serialFunc) error {
	if cmd.Flags().Changed("scheme") && !s.check {
		return usage("--scheme requires --check")
	}
	if s.check {
		s.format.Check = max(s.scheme, serial.Mod97)
	}
	codec, err := serial.New(s.format)
	if err != nil {
		err = byFlag(err, map[string]string{"Prefix": "--prefix", "Separator": "--separator", "Location": "--tz", "Layout.Epoch": "--epoch"})
		return usage("%s", strings.Replace(err.Error(), "set Fold", "give --fold", 1)) // that advice is for programs
	}
	return a.convert(cmd, args, split, func(text string) (any, string, error) {
		both, line, err := turn(codec, s.from, text)
		return both, line, plainSerial(err)
	})
}

// plainSerial drops the input from an error whose message quotes it already.
func plainSerial(err error) error {
	var parse *serial.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("%s %q: %s", parse.Part, parse.Value, parse.Reason)
	}
	return describe.Outside(err)
}
