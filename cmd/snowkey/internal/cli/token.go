package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/idtext"
	"github.com/seed-299c1d6b/snowkey/contrib/token"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// tokens holds the flags.
type tokens struct {
	keyFile  string
	typeName string
	prefix   string
	short    bool
	alphabet string
	from     idtext.Format
	sealer   sqltype.Sealer
}

const tokenAbout = `Seal IDs into tokens that do not show them, and open tokens, as package token does.

Keys are in a file, or in the variable SNOWKEY_TOKEN_KEYS: never on a command line,
which others can see. A key file has one key per line, newest first. The first key
seals, all open:

  # comment
  SECRET            a key; a secret is 32 bytes in hexadecimal digits or base 64
  short N SECRET    a key of short tokens, and its number from 0 to 57

In the variable, commas may separate keys.`

func (a *app) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "token",
		Short:   "seal IDs into tokens, and open tokens",
		Long:    tokenAbout,
		Example: "  (umask 077; snowkey token key > token.keys)\n  snowkey token seal --key-file token.keys --type order 1996573624012345677",
		Args:    noSuchCommand,
		RunE:    func(*cobra.Command, []string) error { return usage("requires a command: seal, open or key") },
	}
	seal := &tokens{from: idtext.Auto}
	sealing := a.tokenWay(seal, "seal [ID…]", "seal IDs into tokens", `Seal IDs into tokens, one per line. IDs are arguments or come from standard input, in
any format that parse reads; most in base58 need --from. With the same key, type and
flags, an ID always becomes the same token.`,
		"  snowkey token seal --key-file token.keys --type order --prefix ord 1996573624012345677\n"+
			"  psql -Atc 'SELECT id FROM orders' | snowkey token seal --key-file token.keys --type order --short", (*tokens).seal)
	fromFlag(sealing, &seal.from)
	cmd.AddCommand(a.tokenKeyCommand(), sealing,
		a.tokenWay(&tokens{}, "open [TOKEN…]", "open tokens", `Open tokens and print their IDs, one per line. Tokens are arguments or come from
standard input. Use the flags with which they were sealed. A text that is not a token
of that type and these keys is reported with its position. The others are opened, and
the exit status is 1.

Short tokens have no check: many made-up ones open to some ID.`,
			"  snowkey token open --key-file token.keys --type order --prefix ord ord_JwIQ0ko2krM3BCBlyjpo9g", (*tokens).open))
	return cmd
}

func (a *app) tokenKeyCommand() *cobra.Command {
	number := int64(-1)
	cmd := &cobra.Command{
		Use:   "key",
		Short: "print a new key",
		Long: `Print a new random key, as a line of a key file. To rotate keys, first add it below
the others. When all programs have it, move it above them. Short tokens contain the
number of their key: give each key a number of its own, and never change it.`,
		Example: "  (umask 077; snowkey token key > token.keys)\n  snowkey token key --number 0 >> token.keys",
		Args:    arguments(0, 0, "no arguments"),
		RunE: a.action(func(*cobra.Command, []string) error {
			line := token.GenerateSecret()
			if number >= 0 {
				line = fmt.Sprintf("short %d %s", number, line)
			}
			a.print(line, "\n")
			return nil
		}),
	}
	cmd.Flags().Var(flagval.New(&number, "N", "", flagval.Whole(0, 57)), "number", "print a key of short tokens with this number, 0 to 57")
	return cmd
}

// tokenFunc turns an ID into a token, or back.
type tokenFunc func(t *tokens, text string) (tokenJSON, string, error)

type tokenJSON struct {
	ID    string `json:"id"`
	Token string `json:"token"`
}

func (a *app) tokenWay(t *tokens, use, brief, long, example string, turn tokenFunc) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: brief, Long: long, Example: example,
		RunE: a.action(func(cmd *cobra.Command, args []string) error { return a.tokens(cmd, t, args, turn) }),
	}
	alphabets := []string{"base62", "base58"}
	f := cmd.Flags()
	f.StringVar(&t.keyFile, "key-file", "", "`FILE` with the keys (default $"+keysVariable+")")
	f.Var(flagval.New(&t.typeName, "NAME", "", typeName), "type", "name of the type, such as order: each has tokens of its own")
	f.Var(flagval.New(&t.prefix, "PREFIX", "", typeName), "prefix", "prefix before the token and an underscore, such as ord")
	f.BoolVar(&t.short, "short", false, "short tokens: 12 characters instead of 22, but without a check")
	f.Var(flagval.New(&t.alphabet, "ALPHABET", "base62", flagval.OneOf(alphabets...)), "alphabet", "digits of the tokens: "+flagval.List(alphabets))
	a.jsonFlag(cmd, `{"id": "…", "token": "…"} per line`)
	completeWith(cmd, "alphabet", alphabets)
	return cmd
}

// typeName parses the name of a type; a prefix has the same rules.
func typeName(s string) (string, error) {
	if idtext.Format(s+"_").Prefix() == "" {
		return "", errors.New("must be 1 to 63 of a-z and _, first and last a letter")
	}
	return s, nil
}

func (a *app) tokens(cmd *cobra.Command, t *tokens, args []string, turn tokenFunc) error {
	if t.typeName == "" {
		return usage("--type is required: the name under which the tokens are sealed, such as order")
	}
	alphabet := token.Base62
	if t.alphabet == "base58" {
		alphabet = token.Base58
	}
	ring, err := a.ring(t.keyFile, alphabet)
	if err != nil {
		return err
	}
	if err := t.useRing(ring); err != nil {
		return err
	}
	return a.each(cmd, args, idtext.AppendSplit, func(text string) error {
		both, line, err := turn(t, text)
		switch {
		case err != nil:
			if _, isSecret := token.ParseSecret(text); isSecret == nil {
				a.secrets = append(a.secrets, text) // a key in the wrong place
			}
			return err
		case a.json:
			_ = a.line(both)
		default:
			a.print(line, "\n")
		}
		return nil
	})
}

// useRing chooses the keys of long or of short tokens.
func (t *tokens) useRing(ring *token.Ring) error {
	if t.short {
		short, err := ring.ShortSealer(t.typeName)
		if err != nil {
			return usage("--short: there is no key of short tokens; snowkey token key --number 0 prints one")
		}
		t.sealer = short
		return nil
	}
	long, err := ring.Sealer(t.typeName)
	if err != nil {
		return usage("there are keys of short tokens only: give --short, or add a key that snowkey token key prints")
	}
	t.sealer = long
	return nil
}

func (t *tokens) seal(text string) (tokenJSON, string, error) {
	id, _, err := idtext.Parse(text, t.from, false)
	if err != nil {
		return tokenJSON{}, "", withFrom(err)
	}
	line := make([]byte, 0, 96)
	if t.prefix != "" {
		line = append(append(line, t.prefix...), '_')
	}
	line, err = t.sealer.AppendSeal(line, sqltype.ID(id))
	return tokenJSON{idtext.Decimal.Text(id, false), string(line)}, string(line), err
}

func (t *tokens) open(text string) (tokenJSON, string, error) {
	body := text
	if end := strings.LastIndexByte(text, '_') + 1; end > 0 || t.prefix != "" {
		switch {
		case t.prefix == "":
			return tokenJSON{}, "", errors.New("has a prefix: give --prefix, or the token alone, which has no underscore")
		case end != len(t.prefix)+1 || !strings.EqualFold(text[:end-1], t.prefix):
			return tokenJSON{}, "", fmt.Errorf("is not %q and a token", t.prefix+"_")
		}
		body = text[end:]
	}
	id, err := t.sealer.Unseal(body)
	if err != nil {
		return tokenJSON{}, "", plainToken(err)
	}
	return tokenJSON{id.String(), text}, id.String(), nil
}

// plainToken drops the input from an error, because the message quotes it already.
func plainToken(err error) error {
	if reason := errors.Unwrap(err); reason != nil && errors.Is(err, sqltype.ErrSyntax) {
		return fmt.Errorf("is %w", reason)
	}
	return err
}
