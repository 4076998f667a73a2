package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// storeFlags are the flags that name a store of worker IDs.
type storeFlags struct {
	flag             string // --dsn, --lease or --store
	text             string
	token, tokenFile string
	namespace        string
	dataLoss         bool
	flags            *pflag.FlagSet
	dependent        []string // the flags that need a DSN
}

func (p *storeFlags) add(cmd *cobra.Command, flag, what string) {
	p.flag = "--" + flag
	p.flags, p.dependent = cmd.Flags(), append(p.dependent, "token", "token-file")
	cmd.Flags().StringVar(&p.text, flag, "", what+", a `DSN`: "+dsn.Forms)
	cmd.Flags().StringVar(&p.token, "token", "", "`TOKEN` for an http(s) DSN; other users of this machine can see it, so prefer --token-file or SNOWKEY_TOKEN")
	cmd.Flags().StringVar(&p.tokenFile, "token-file", "", "`FILE` with the token (default $SNOWKEY_TOKEN)")
}

func (p *storeFlags) addNamespace(cmd *cobra.Command) {
	p.dependent = append(p.dependent, "namespace")
	cmd.Flags().StringVar(&p.namespace, "namespace", "default", "`NAMESPACE` in which IDs are unique; each has its own worker IDs")
}

func (p *storeFlags) addDataLoss(cmd *cobra.Command) {
	p.flags, p.dependent = cmd.Flags(), append(p.dependent, "allow-data-loss")
	cmd.Flags().BoolVar(&p.dataLoss, "allow-data-loss", false, "accept a server whose settings may lose acknowledged writes: IDs may then be issued twice")
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
			return nil, usage("%s %q: the environment variable %q is not set", p.flag, short(p.text), short(name))
		}
		a.secrets = append(a.secrets, dsn.Secrets(text)...)
	}
	d, err := dsn.Parse(text)
	if err != nil {
		return nil, usage("%s: %w", p.flag, err) // not quoted: it may contain a password
	}
	if p.namespace != "" {
		if err := driver.CheckNamespace(p.namespace); err != nil {
			return nil, usage("--namespace %q: must be 1 to 64 ASCII letters, digits and . _ - : /", short(p.namespace))
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
		if token, err = a.secret(p.token, p.tokenFile); err != nil {
			return nil, err
		}
		if token == "" {
			return nil, usage("%s: %s requires a token: give --token-file or set SNOWKEY_TOKEN", p.flag, d.Name)
		}
	} else if p.token != "" || p.tokenFile != "" && p.flag != "--store" {
		return nil, usage("--token and --token-file require an http(s) DSN: %s takes none", d.Kind)
	}
	return d.Open(ctx, dsn.Options{Token: token, Create: create})
}

// openStore opens a lease store. One that is not created is only read, so lost writes do
// no harm.
func (a *app) openStore(ctx context.Context, p *storeFlags, create bool) (*dsn.Target, dsn.Store, error) {
	target, err := a.open(ctx, p, create)
	if err != nil {
		return nil, nil, err
	}
	store, err := target.Store(p.dataLoss || !create)
	if err != nil {
		target.Close()
	}
	return target, store, err
}

// maxToken bounds a token file.
const maxToken = 4096

// secret returns the token of the flag, the file or the environment.
func (a *app) secret(flag, file string) (string, error) {
	source, token := "SNOWKEY_TOKEN", strings.TrimSpace(a.Getenv("SNOWKEY_TOKEN"))
	switch {
	case flag != "" && file != "":
		return "", usage("--token and --token-file: give one of them")
	case flag != "":
		source, token = "--token", flag
	case file != "":
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

// withAdvice names the flag that accepts a server's settings, instead of the field.
func withAdvice(err error) error {
	var lossy *worker.DurabilityError
	if errors.As(err, &lossy) {
		return errors.New(strings.Replace(err.Error(), "allow it with AllowDataLoss", "accept it with --allow-data-loss", 1))
	}
	return err
}
