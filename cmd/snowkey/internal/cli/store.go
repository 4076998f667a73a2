package cli

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// storeFlags are the flags that name a store of worker IDs.
type storeFlags struct {
	flag      string // --dsn, --lease or --store
	text      string
	tokenFile string
	namespace string
	flags     *pflag.FlagSet
	dependent []string // the flags that need a DSN
}

// add adds the flag of the DSN, its token, and --namespace.
func (p *storeFlags) add(cmd *cobra.Command, flag, what string) {
	f := cmd.Flags()
	p.flag, p.flags, p.dependent = "--"+flag, f, []string{"token-file", "namespace"}
	f.StringVar(&p.text, flag, "", what+", a `DSN`: "+dsn.Forms)
	f.StringVar(&p.tokenFile, "token-file", "", "`FILE` with the token for an http(s) DSN (default $SNOWKEY_TOKEN)")
	f.StringVar(&p.namespace, "namespace", "default", "`NAMESPACE` in which ids are unique; each has its own worker IDs")
}

// unused rejects flags that need a DSN if there is none.
func (p *storeFlags) unused() error {
	for _, name := range p.dependent {
		if p.text == "" && p.flags.Changed(name) {
			return usage("--%s requires %s", name, p.flag)
		}
	}
	return nil
}

// parseStore validates the flags without connecting.
func (a *app) parseStore(p *storeFlags) (*dsn.DSN, error) {
	if p.text == "" {
		return nil, usage("%s is required: %s", p.flag, dsn.Forms)
	}
	text := p.text
	if name, ok := strings.CutPrefix(text, "env:"); ok {
		if text = strings.TrimSpace(a.Getenv(name)); text == "" {
			return nil, usage("%s %q: the environment variable %q is not set", p.flag, truncate(p.text), truncate(name))
		}
		a.secrets = append(a.secrets, dsn.Secrets(text)...)
	}
	d, err := dsn.Parse(text)
	if err != nil {
		return nil, usage("%s: %w", p.flag, err) // not quoted: it may contain a password
	}
	if p.namespace != "" {
		if err := driver.CheckNamespace(p.namespace); err != nil {
			return nil, usage("--namespace %q: must be 1 to 64 ASCII letters, digits and . _ - : /", truncate(p.namespace))
		}
	}
	return d, nil
}

// open parses and connects.
func (a *app) open(ctx context.Context, p *storeFlags, create bool) (*dsn.Target, error) {
	d, err := a.parseStore(p)
	if err != nil {
		return nil, err
	}
	token := ""
	if d.Kind == dsn.HTTP {
		if token, err = a.secret(p.tokenFile); err != nil {
			return nil, err
		}
		if token == "" {
			return nil, usage("%s: %s requires a token: give --token-file or set SNOWKEY_TOKEN", p.flag, d.Name)
		}
	} else if p.tokenFile != "" && p.flag != "--store" {
		return nil, usage("--token-file requires an http(s) DSN: %s takes none", d.Kind)
	}
	return d.Open(ctx, token, create)
}

// openStore opens a lease store.
func (a *app) openStore(ctx context.Context, p *storeFlags, create bool) (*dsn.Target, dsn.Store, error) {
	target, err := a.open(ctx, p, create)
	if err != nil {
		return nil, nil, err
	}
	store, err := target.Store()
	if err != nil {
		target.Close()
	}
	return target, store, err
}

// maxToken bounds a token file.
const maxToken = 4096

// secret returns the token of the file or, without one, of the environment.
func (a *app) secret(file string) (string, error) {
	source, token := "SNOWKEY_TOKEN", strings.TrimSpace(a.Getenv("SNOWKEY_TOKEN"))
	if file != "" {
		content, err := readSome(file, maxToken+1)
		if err != nil {
			return "", usage("--token-file %q: %w", file, dsn.Bare(err))
		}
		source, token = "--token-file", strings.TrimSpace(content)
		if token == "" || len(token) > maxToken || strings.ContainsAny(token, "\r\n") {
			return "", usage("--token-file %q: must contain one line, the token", file)
		}
	}
	if token == "" {
		return "", nil
	}
	a.secrets = append(a.secrets, token)
	// As in httpstore. It is not quoted, because it is a secret.
	if len(token) < 16 || len(token) > 512 || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", usage("%s: must be 16 to 512 printable ASCII characters without spaces", source)
	}
	return token, nil
}

// readSome reads a file up to a limit.
func readSome(file string, limit int64) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, limit))
	return string(content), err
}
