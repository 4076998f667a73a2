package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// place is where worker numbers are kept, as flags say it.
type place struct {
	flag             string // --dsn, or what the command calls it
	text             string
	token, tokenFile string
	space            string
	lossy            bool
	flags            *pflag.FlagSet
	use              []string // the flags that are of no use without a DSN
}

func (p *place) add(cmd *cobra.Command, flag, what string) {
	p.flag = "--" + flag
	p.flags, p.use = cmd.Flags(), append(p.use, "token", "token-file")
	cmd.Flags().StringVar(&p.text, flag, "", what+", a `DSN`: "+dsn.Forms)
	cmd.Flags().StringVar(&p.token, "token", "", "`TOKEN` for an http(s) DSN; others on this machine can see it, so rather use --token-file or SNOWKEY_TOKEN")
	cmd.Flags().StringVar(&p.tokenFile, "token-file", "", "`FILE` that holds the token (default SNOWKEY_TOKEN in the environment)")
}

func (p *place) addSpace(cmd *cobra.Command, standard string) {
	p.use = append(p.use, "space")
	cmd.Flags().StringVar(&p.space, "space", standard, "`SPACE` of the ids, those that must be unique together; each has its own numbers")
}

func (p *place) addLossy(cmd *cobra.Command) {
	p.flags, p.use = cmd.Flags(), append(p.use, "allow-lossy")
	cmd.Flags().BoolVar(&p.lossy, "allow-lossy", false, "accept a server whose settings let it lose what it has acknowledged: ids may then be issued twice")
}

// unused complains about flags that say more of a DSN where there is none.
func (p *place) unused() error {
	for _, name := range p.use {
		if p.text == "" && p.flags.Changed(name) {
			return usage("--%s is of use with %s only", name, p.flag)
		}
	}
	return nil
}

// parsePlace checks what can be checked without asking the server.
func (a *app) parsePlace(p *place) (*dsn.DSN, error) {
	if p.text == "" {
		return nil, usage("%s is required: %s", p.flag, dsn.Forms)
	}
	text := p.text
	if name, ok := strings.CutPrefix(text, "env:"); ok {
		if text = strings.TrimSpace(a.Getenv(name)); text == "" {
			return nil, usage("%s %q: the environment has no variable %q", p.flag, short(p.text), short(name))
		}
		a.secrets = append(a.secrets, dsn.Secrets(text)...)
	}
	d, err := dsn.Parse(text)
	if err != nil {
		return nil, usage("%s: %w", p.flag, err) // not quoted: it may hold a password
	}
	if p.space != "" {
		if err := driver.CheckNamespace(p.space); err != nil {
			return nil, usage("--space %q: must be 1 to 64 letters, digits and . _ - : / of ASCII", short(p.space))
		}
	}
	return d, nil
}

// open parses and connects.
func (a *app) open(ctx context.Context, p *place, create bool) (*dsn.Target, error) {
	d, err := a.parsePlace(p)
	if err != nil {
		return nil, err
	}
	token := ""
	if d.Kind == dsn.HTTP {
		if token, err = a.secret(p.token, p.tokenFile); err != nil {
			return nil, err
		}
	} else if p.token != "" || p.tokenFile != "" && p.flag != "--store" {
		return nil, usage("--token and --token-file are for an http(s) DSN: %s takes none", d.Kind)
	}
	return d.Open(ctx, dsn.Options{Token: token, Create: create})
}

// mostToken is what a file with a token may have.
const mostToken = 4096

// secret is the token: of the flag, of the file, or of the environment.
func (a *app) secret(flag, file string) (string, error) {
	token := flag
	switch {
	case flag != "" && file != "":
		return "", usage("--token and --token-file: give one of them")
	case file != "":
		f, err := os.Open(file)
		if err != nil {
			return "", usage("--token-file %q: %w", file, bare(err))
		}
		defer f.Close()
		content, err := io.ReadAll(io.LimitReader(f, mostToken+1))
		if err != nil {
			return "", usage("--token-file %q: %w", file, bare(err))
		}
		content = bytes.TrimSpace(content)
		if len(content) == 0 || len(content) > mostToken || bytes.ContainsAny(content, "\r\n") {
			return "", usage("--token-file %q: must hold one line, the token", file)
		}
		token = string(content)
	case flag == "":
		token = strings.TrimSpace(a.Getenv("SNOWKEY_TOKEN"))
	}
	if token == "" {
		return "", nil
	}
	a.secrets = append(a.secrets, token)
	// As httpstore wants it. It is not quoted: it is a secret, if a bad one.
	if len(token) < 16 || len(token) > 512 || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		source := "SNOWKEY_TOKEN in the environment"
		if flag != "" {
			source = "--token"
		} else if file != "" {
			source = "--token-file"
		}
		return "", usage("%s: the token must be 16 to 512 printable characters of ASCII without space", source)
	}
	return token, nil
}

// bare is the error without the path that the message names already.
func bare(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// tell makes an error of a store one that an operator can act on.
func tell(err error) error {
	var lossy *worker.DurabilityError
	if errors.As(err, &lossy) {
		return fmt.Errorf("%w; correct it, or accept it with --allow-lossy", err)
	}
	return err
}
