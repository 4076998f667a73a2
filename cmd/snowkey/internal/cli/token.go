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
	from     idtext.Format
	sealer   *token.Sealer
}

const tokenAbout = `Seal IDs into tokens that do not show them, and open tokens, as package token does.

Keys are in a file, or in the variable SNOWKEY_TOKEN_KEYS: never on a command line,
which others can see. A key file has one key per line, newest first. The first key
seals, all open:

  # comment
  SECRET     32 bytes in hexadecimal digits or base 64

In the variable, commas may separate keys.`

func (a *app) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "token",
		Short:   "seal IDs into tokens, and open tokens",
		Long:    tokenAbout,
		Example: "  (umask 077; snowkey token key > token.keys)\n  snowkey token seal --key-file token.keys --type order 1996573624012345677",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return usage("requires a command: seal, open or key") },
	}
	seal := &tokens{from: idtext.Auto}
	sealing := a.tokenWay(seal, "seal [ID…]", "seal IDs into tokens", `Seal IDs into tokens, one per line. IDs are arguments or come from standard input, in
any format that parse reads; most in base58 need --from. With the same key, type and
flags, an ID always becomes the same token.`,
		"  snowkey token seal --key-file token.keys --type order --prefix ord 1996573624012345677\n"+
			"  psql -Atc 'SELECT id FROM orders' | snowkey token seal --key-file token.keys --type order", (*tokens).seal)
	fromFlag(sealing, &seal.from)
	cmd.AddCommand(a.tokenKeyCommand(), sealing,
		a.tokenWay(&tokens{}, "open [TOKEN…]", "open tokens", `Open tokens and print their IDs, one per line. Tokens are arguments or come from
standard input. Use the flags with which they were sealed. A text that is not a token
of that type and these keys is reported with its position. The others are opened, and
the exit status is 1.`,
			"  snowkey token open --key-file token.keys --type order --prefix ord ord_JwIQ0ko2krM3BCBlyjpo9g", (*tokens).open))
	return cmd
}

func (a *app) tokenKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "key",
		Short: "print a new key",
		Long: `Print a new random key, as a line of a key file. To rotate keys, first add it below
the others. When all programs have it, move it above them.`,
		Example: "  (umask 077; snowkey token key > token.keys)\n  snowkey token key >> token.keys",
		Args:    arguments(0, 0, "no arguments"),
		RunE: a.action(func(*cobra.Command, []string) error {
			a.print(token.GenerateSecret(), "\n")
			return nil
		}),
	}
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
	f := cmd.Flags()
	f.StringVar(&t.keyFile, "key-file", "", "`FILE` with the keys (default $"+keysVariable+")")
	f.Var(flagval.New(&t.typeName, "NAME", "", typeName), "type", "name of the type, such as order: each has tokens of its own")
	f.Var(flagval.New(&t.prefix, "PREFIX", "", typeName), "prefix", "prefix before the token and an underscore, such as ord")
	a.jsonFlag(cmd, `{"id": "…", "token": "…"} per line`)
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
	ring, err := a.ring(t.keyFile)
	if err != nil {
		return err
	}
	if t.sealer, err = ring.Sealer(t.typeName); err != nil {
		return err
	}
	return a.convert(cmd, args, idtext.Split, func(text string) (any, string, error) {
		both, line, err := turn(t, text)
		if _, isSecret := token.ParseSecret(text); err != nil && isSecret == nil {
			a.secrets = append(a.secrets, text) // a key in the wrong place
		}
		return both, line, err
	})
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
