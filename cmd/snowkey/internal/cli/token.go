package cli

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/contrib/token"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// tokenFlags are the flags of the command.
type tokenFlags struct {
	keyFile  string
	typeName string
	prefix   string
	from     describe.Format
	sealer   *token.Sealer
}

const tokenAbout = `Seal ids into tokens that do not show them, and open tokens, as package token
does.

Keys are in a file, or in the variable SNOWKEY_TOKEN_KEYS: never on a command
line, which others can see. There is one key per line, 32 bytes in hexadecimal
digits or base 64, newest first. The first key seals, all open.`

func (a *app) tokenCommand() *cobra.Command {
	const rotation = "Print a new random key, as a line of a key file. To rotate keys, first add it\nbelow the others. When all programs have it, move it above them."
	key := a.command("key", "print a new key", rotation, "  (umask 077; snowkey token key > token.keys)\n  snowkey token key >> token.keys", arguments(0, 0, "no arguments"), func(*cobra.Command, []string) error {
		fmt.Fprint(a.out, token.GenerateSecret(), "\n")
		return nil
	})
	sealer := &tokenFlags{from: describe.Auto}
	seal := a.tokenVariant(sealer, "seal [ID…]", "seal ids into tokens", `Seal ids into tokens, one per line. Ids are arguments or come from standard
input, in any format that parse reads; most in base58 need --from. With the same
key, type and flags, an id always becomes the same token.`,
		"  snowkey token seal --key-file token.keys --type order \\\n    --prefix ord 1996573624012345677\n"+
			"  psql -Atc 'SELECT id FROM orders' |\n    snowkey token seal --key-file token.keys --type order", (*tokenFlags).seal)
	fromFlag(seal, &sealer.from)
	open := a.tokenVariant(&tokenFlags{}, "open [TOKEN…]", "open tokens", `Open tokens and print their ids, one per line. Tokens are arguments or come from
standard input. Use the flags with which they were sealed. The first ten texts
that are not tokens of that type and these keys are reported with their
position. The others are opened, and the exit status is 1.`,
		`  snowkey token open --key-file token.keys --type order \
    --prefix ord ord_JwIQ0ko2krM3BCBlyjpo9g`, (*tokenFlags).open)
	return parent("token", "seal ids into tokens, and open tokens", tokenAbout,
		"  (umask 077; snowkey token key > token.keys)\n  snowkey token seal --key-file token.keys --type order 1996573624012345677", "seal, open or key", key, seal, open)
}

// tokenFunc turns an id into a token, or back.
type tokenFunc func(t *tokenFlags, text string) (tokenJSON, string, error)

type tokenJSON struct {
	ID    string `json:"id"`
	Token string `json:"token"`
}

func (a *app) tokenVariant(t *tokenFlags, use, brief, long, example string, turn tokenFunc) *cobra.Command {
	cmd := a.command(use, brief, long, example, nil, func(cmd *cobra.Command, args []string) error { return a.tokens(cmd, t, args, turn) })
	f := cmd.Flags()
	f.StringVar(&t.keyFile, "key-file", "", "`FILE` with the keys (default $"+keysVariable+")")
	f.Var(flagval.New(&t.typeName, "NAME", "", typeName), "type", "name of the type, such as order: each has tokens of its own")
	f.Var(flagval.New(&t.prefix, "PREFIX", "", typeName), "prefix", "prefix before the token and an underscore, such as ord")
	a.jsonFlag(cmd, `{"id": "…", "token": "…"} per line`)
	return cmd
}

// typeName parses the name of a type; a prefix has the same rules.
func typeName(s string) (string, error) {
	if describe.Format(s+"_").Prefix() == "" {
		return "", errors.New("must be 1 to 63 of a-z and _, first and last a letter")
	}
	return s, nil
}

func (a *app) tokens(cmd *cobra.Command, t *tokenFlags, args []string, turn tokenFunc) error {
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
	return a.convert(cmd, args, describe.Split, func(text string) (any, string, error) {
		both, line, err := turn(t, text)
		if _, isSecret := token.ParseSecret(text); err != nil && isSecret == nil {
			a.secrets = append(a.secrets, text) // a key in the wrong place
		}
		return both, line, err
	})
}

func (t *tokenFlags) seal(text string) (tokenJSON, string, error) {
	id, _, err := describe.Parse(text, t.from, false)
	if err != nil {
		return tokenJSON{}, "", suggestFrom(err)
	}
	line := make([]byte, 0, 96)
	if t.prefix != "" {
		line = append(append(line, t.prefix...), '_')
	}
	line, err = t.sealer.AppendSeal(line, sqltype.ID(id))
	return tokenJSON{describe.Decimal.Text(id, false), string(line)}, string(line), err
}

func (t *tokenFlags) open(text string) (tokenJSON, string, error) {
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

// keysVariable is the environment variable for the text of a key file.
const keysVariable = "SNOWKEY_TOKEN_KEYS"

// maxKeys bounds a key file.
const maxKeys = 64 << 10

// ring returns the keys of a file or, without one, of the environment. No error contains a
// part of them, and from now on no message does.
func (a *app) ring(file string) (*token.Ring, error) {
	source, text := "$"+keysVariable, a.Getenv(keysVariable)
	switch {
	case file != "":
		source = fmt.Sprintf("--key-file %q", truncate(file))
		var err error
		if text, err = readSome(file, maxKeys+1); err != nil {
			if _, isSecret := token.ParseSecret(file); isSecret == nil {
				return nil, usage("--key-file: must be the name of a file; this is a secret, which others can see on a command line")
			}
			return nil, usage("%s: %w", source, dsn.Bare(err))
		}
		if len(text) > maxKeys {
			return nil, usage("%s: must have at most %d bytes", source, maxKeys)
		}
	case strings.TrimSpace(text) == "":
		return nil, usage("--key-file is required, or the variable %s; snowkey token key prints a new key", keysVariable)
	default:
		text = strings.ReplaceAll(text, ",", "\n")
	}
	a.secrets = append(a.secrets, secretsOf(text)...)
	ring, err := parseKeys(text)
	if err != nil {
		return nil, usage("%s: %w", source, err)
	}
	return ring, nil
}

// secretsOf returns all words of a key file that may be secrets, also of wrong lines.
func secretsOf(text string) (words []string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || r == '#' }) {
		if len(word) >= 16 {
			words = append(words, word)
		}
	}
	return words
}

// parseKeys reads a key file: a key on each line, newest first, and comments after #.
func parseKeys(text string) (*token.Ring, error) {
	var cfg token.Config
	var errs []error
	names := []string{"token: ", "", " token.Secret(hidden)", ""} // what an error says of cfg, and what to say instead
	n := 0
	for line := range strings.Lines(text) {
		n++
		key, _, _ := strings.Cut(line, "#")
		if key = strings.TrimSpace(key); key == "" {
			continue
		}
		where := fmt.Sprintf("line %d", n)
		secret, err := token.ParseSecret(key)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s", where, strings.TrimPrefix(err.Error(), "token: ParseSecret: ")))
			continue
		}
		names = append(names, fmt.Sprintf("Keys[%d]", len(cfg.Keys)), where)
		cfg.Keys = append(cfg.Keys, secret)
	}
	switch {
	case errs != nil:
		return nil, errors.Join(errs...)
	case len(cfg.Keys) == 0:
		return nil, errors.New("has no key; snowkey token key prints one")
	}
	ring, err := token.New(cfg)
	if err != nil {
		return nil, errors.New(strings.NewReplacer(names...).Replace(err.Error()))
	}
	return ring, nil
}
