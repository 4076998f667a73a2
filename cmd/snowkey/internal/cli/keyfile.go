package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/contrib/token"
)

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
		source = fmt.Sprintf("--key-file %q", short(file))
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
		a.warnOfReaders(source, file)
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

// warnOfReaders warns of a key file that other users can read. On Windows the mode does not
// tell, and a pipe has no other readers.
func (a *app) warnOfReaders(source, file string) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return
	}
	a.note("%s %s has the mode %04o, so other users may have access to the keys: chmod 600", a.errStyle.warn("warning:"), source, info.Mode().Perm())
}

// keyLine returns a line of a key file without its comment.
func keyLine(line string) string {
	line, _, _ = strings.Cut(line, "#")
	return strings.TrimSpace(line)
}

// secretsOf returns all words of a key file that may be secrets, also of wrong lines.
func secretsOf(text string) (words []string) {
	for line := range strings.Lines(text) {
		for word := range strings.FieldsSeq(keyLine(line)) {
			if len(word) >= 16 {
				words = append(words, word)
			}
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
		key := keyLine(line)
		if key == "" {
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
