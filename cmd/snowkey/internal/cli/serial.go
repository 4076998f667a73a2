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
	"github.com/seed-299c1d6b/snowkey/serial"
)

// serialFlags are the flags of the command.
type serialFlags struct {
	format serial.Config
	check  bool
	scheme serial.Scheme
	from   describe.Format
}

var schemes = []string{"mod97", "mod11", "mod1110", "luhn"} //nolint:gochecknoglobals // constant, in the order of serial's

func scheme(s string) (serial.Scheme, error) {
	name, err := flagval.OneOf(schemes...)(s)
	return serial.Mod97 + serial.Scheme(slices.Index(schemes, name)), err
}

const serialAbout = `Convert ids to serial numbers that people can read, type and check, and back:

  PAY-20251204133341165-0697-0333-51

This is the prefix, date and time, worker ID, sequence, and check digits.
Encoding and decoding require the same flags.`

func (a *app) serialCommand() *cobra.Command {
	encode := &serialFlags{from: describe.Auto}
	encoding := a.serialVariant(encode, "encode [ID…]", "convert ids to serial numbers", "Convert ids to serial numbers, one per line. Ids are arguments or come from\nstandard input, in any format that parse reads; most in base58 need --from.",
		"  snowkey serial encode --prefix PAY --separator - --check 1996573624012345677\n  snowkey gen -n 3 --worker 3 | snowkey serial encode", describe.Split, encodeSerial)
	fromFlag(encoding, &encode.from)
	return parent("serial", "convert ids to serial numbers, and back", serialAbout,
		`  snowkey serial encode --prefix PAY --separator - --check 1996573624012345677
  snowkey serial decode --prefix PAY --separator - \
    --check PAY-20251204133341165-0697-0333-51`, "encode or decode",
		encoding, a.serialVariant(&serialFlags{}, "decode [SERIAL…]", "convert serial numbers back to ids", `Convert serial numbers back to ids, one per line. They may be typed: in any
case, with spaces or any dashes, O for 0, and I or L for 1. The first ten texts
that are not serial numbers of this format are reported with the wrong part; the
others are processed, and the exit status is 1.`,
			`  snowkey serial decode --prefix PAY --separator - \
    --check PAY-20251204133341165-0697-0333-51`, wholeLine, decodeSerial))
}

// wholeLine returns an argument or a line whole: a serial may contain separators.
func wholeLine(line string) []string {
	if line = describe.Unquote(line); line == "" {
		return nil
	}
	return []string{line}
}

type serialJSON struct {
	ID     string `json:"id"`
	Serial string `json:"serial"`
}

type serialFunc func(c *serial.Codec, from describe.Format, text string) (serialJSON, string, error)

func encodeSerial(c *serial.Codec, from describe.Format, text string) (serialJSON, string, error) {
	id, _, err := describe.Parse(text, from, c.Config().Layout.Unsigned)
	if err != nil {
		return serialJSON{}, "", suggestFrom(err)
	}
	out, err := c.Encode(id)
	return serialJSON{describe.Decimal.Text(id, false), out}, out, err
}

func decodeSerial(c *serial.Codec, _ describe.Format, text string) (serialJSON, string, error) {
	id, err := c.DecodeTyped(text)
	if err == nil {
		text, err = c.Encode(id)
	}
	return serialJSON{describe.Decimal.Text(id, false), text}, describe.Decimal.Text(id, c.Config().Layout.Unsigned), err
}

func (a *app) serialVariant(s *serialFlags, use, brief, long, example string, split splitFunc, turn serialFunc) *cobra.Command {
	s.format = serial.Config{Location: time.UTC}
	cmd := a.command(use, brief, long, example, nil, func(cmd *cobra.Command, args []string) error { return a.serial(cmd, s, args, split, turn) })
	f := cmd.Flags()
	f.StringVar(&s.format.Prefix, "prefix", "", "`TEXT` at the start, such as PAY")
	f.StringVar(&s.format.Separator, "separator", "", "`TEXT` between the parts, such as -")
	f.BoolVar(&s.check, "check", false, "add check digits at the end")
	enumVar(cmd, flagval.New(&s.scheme, "NAME", "mod97", scheme), "scheme", "scheme of the check digits: "+flagval.List(schemes), schemes)
	f.Var(flagval.New(&s.format.Location, "ZONE", "UTC", flagval.Zone), "tz", "time zone of the date and time; one with summer time requires --fold")
	f.BoolVar(&s.format.Fold, "fold", false, "add a digit that tells the repeated hours of autumn apart")
	a.jsonFlag(cmd, "an object per line")
	addLayout(cmd, &s.format.Layout)
	return cmd
}

func (a *app) serial(cmd *cobra.Command, s *serialFlags, args []string, split splitFunc, turn serialFunc) error {
	if cmd.Flags().Changed("scheme") && !s.check {
		return usage("--scheme requires --check")
	}
	if s.check {
		s.format.Check = max(s.scheme, serial.Mod97)
	}
	codec, err := serial.New(s.format)
	if err != nil {
		return usage("%s", strings.Replace(byFlag(err).Error(), "set Fold", "give --fold", 1)) // that advice is for programs
	}
	return a.convert(cmd, args, split, func(text string) (any, string, error) {
		both, line, err := turn(codec, s.from, text)
		return both, line, plainSerial(codec.Config(), text, err)
	})
}

// plainSerial drops the input from an error whose message quotes it already, and names the flag
// of encode that may be missing.
func plainSerial(c serial.Config, text string, err error) error {
	var parse *serial.ParseError
	if !errors.As(err, &parse) {
		return describe.Outside(err)
	}
	prefix := strings.TrimRight(text[:max(strings.IndexAny(text, "0123456789"), 0)], "-–_./ ")
	if c.Prefix == "" && prefix != "" {
		return fmt.Errorf("begins with %q: give it as --prefix", truncate(prefix))
	}
	if parse.Part == "length" {
		parse.Reason += "; encoding and decoding require the same --check, --scheme and --fold"
	}
	return fmt.Errorf("%s %q: %s", parse.Part, parse.Value, parse.Reason)
}
