package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

const freeAbout = `Release a worker ID for a holder that cannot do it, such as one that has crashed, before
its TTL ends.

This cannot cause a duplicate, even if the holder is still running: it issues ids up
to its recorded fence, learns that the worker ID is lost, and claims another one. The
next holder of this one starts at the fence.

A worker ID of a generator in the database is not released: drop the generator.

"workers list" shows the fencing token. A worker ID that has changed hands since has
another one and is left unchanged.`

func (a *app) workersCommand() *cobra.Command {
	listed, freed := &storeFlags{}, &storeFlags{}
	held, token := false, int64(-1)
	list := a.command("list --dsn DSN", "list worker IDs and their holders", "List the worker IDs of a namespace that were ever leased: the holder of each, its\nfence (all its ids are earlier), and when the lease expires. Nothing is changed.",
		"  snowkey workers list --dsn postgres://localhost/app\n  snowkey workers list --dsn file:ids.db --namespace orders --json",
		arguments(0, 0, "no arguments"), func(cmd *cobra.Command, _ []string) error { return a.listWorkers(cmd.Context(), listed, held) })
	listed.add(list, "dsn", "store of the worker IDs", false)
	list.Flags().BoolVar(&held, "held", false, "only held ones")
	a.jsonFlag(list, "one object")
	free := a.command("free WORKERID --fencing-token N --dsn DSN", "release a worker ID whose holder is gone", freeAbout,
		"  snowkey workers free 7 --fencing-token 3 --dsn postgres://localhost/app",
		arguments(1, 1, "one worker ID"), func(cmd *cobra.Command, args []string) error {
			return a.freeWorker(cmd.Context(), freed, args[0], token)
		})
	freed.add(free, "dsn", "store of the worker IDs", false)
	free.Flags().Var(flagval.New(&token, "N", "", flagval.Whole(1, math.MaxInt64)), "fencing-token", `fencing token of its holder, from "workers list"; required`)
	return parent("workers", "list and free worker IDs", "List the leased worker IDs of a store, and free one whose holder is gone.",
		"  snowkey workers list --dsn postgres://localhost/app\n  snowkey workers free 7 --fencing-token 3 --dsn postgres://localhost/app", "list or free", list, free)
}

// records opens a store and lists the worker IDs of the namespace.
func (a *app) records(ctx context.Context, p *storeFlags) (*dsn.Target, dsn.Store, []driver.Record, error) {
	target, store, err := a.openStore(ctx, p, false)
	if err != nil {
		return nil, nil, nil, err
	}
	var rows []driver.Record
	has, err := target.HasWorkers(ctx)
	if has || err != nil { // List explains the error
		rows, err = store.List(ctx, p.namespace)
	}
	if err != nil {
		target.Close()
		return nil, nil, nil, fmt.Errorf("%s: %w", target.Name, unsupported(err))
	}
	return target, store, rows, nil
}

// workerInfo is the JSON of a worker ID.
type workerInfo struct {
	WorkerID     int64  `json:"worker_id"`
	State        string `json:"state"`               // held, expired, free
	Generator    bool   `json:"generator,omitempty"` // in the database: see ddl generator
	Owner        string `json:"owner"`
	FencingToken int64  `json:"fencing_token"`
	Fence        string `json:"fence"`             // its ids end before
	Expires      string `json:"expires,omitempty"` // when others may claim it

	fence, expires time.Time
	forever        bool
}

func describeWorker(row driver.Record, now time.Time) workerInfo {
	info := workerInfo{WorkerID: row.Worker, Owner: row.Owner, FencingToken: row.FencingToken, fence: time.UnixMilli(row.Fence).UTC(), expires: time.UnixMilli(row.Expires).UTC()}
	info.forever = info.expires.Year() > 9999
	switch {
	case row.ClaimID == "":
		info.State = "free"
	case row.OfGenerator():
		info.State, info.Generator = "held", true
	case row.Free(now.UnixMilli()):
		info.State = "expired"
	default:
		info.State = "held"
	}
	info.Fence = timetext.Format(info.fence)
	if row.ClaimID != "" && !info.forever && row.Expires > 0 {
		info.Expires = timetext.Format(info.expires)
	}
	return info
}

func (a *app) listWorkers(ctx context.Context, p *storeFlags, held bool) error {
	target, _, rows, err := a.records(ctx, p)
	if err != nil {
		return err
	}
	defer target.Close()
	now := a.now()
	if offset, err := target.Offset(ctx, a.now, 3); err == nil {
		now = now.Add(offset.Ahead)
	}
	infos := []workerInfo{}
	for _, row := range rows {
		if info := describeWorker(row, now); !held || info.State == "held" {
			infos = append(infos, info)
		}
	}
	if a.json {
		return a.object(struct {
			Namespace string       `json:"namespace"`
			Workers   []workerInfo `json:"workers"`
		}{p.namespace, infos})
	}
	if len(infos) == 0 {
		if held && len(rows) > 0 {
			a.note("no worker ID of namespace %q is held; %d were", p.namespace, len(rows))
		} else {
			a.note("no worker ID of namespace %q was ever leased from %s%s", p.namespace, target.Name, otherNamespaces(ctx, target))
		}
		return nil
	}
	table := [][]string{{"WORKER ID", "STATE", "FENCING TOKEN", "FENCE", "", "EXPIRES", "OWNER"}}
	for _, i := range infos {
		expires := timetext.Relative(i.expires, now)
		if i.State == "free" {
			expires = ""
		} else if i.forever {
			expires = "never"
		}
		fence, from := i.Fence, timetext.Relative(i.fence, now)
		if i.Generator { // the end of the layout, so that nothing claims it
			fence, from = "end of layout", ""
		}
		table = append(table, []string{strconv.FormatInt(i.WorkerID, 10), i.State, strconv.FormatInt(i.FencingToken, 10), fence, from, expires, dsn.Printable(i.Owner)})
	}
	a.table(table)
	return nil
}

// otherNamespaces suggests those that exist in a database.
func otherNamespaces(ctx context.Context, target *dsn.Target) string {
	if !target.Kind.SQL() {
		return ""
	}
	layouts, err := target.Layouts(ctx)
	if err != nil || len(layouts) == 0 {
		return ""
	}
	return fmt.Sprintf("; --namespace may be %q", slices.Sorted(maps.Keys(layouts)))
}

func unsupported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return errors.New("the server does not let clients list and free worker IDs; use the DSN of its own store, or serve --admin")
	}
	return err
}

func (a *app) freeWorker(ctx context.Context, p *storeFlags, text string, token int64) error {
	id, err := flagval.Whole(0, math.MaxInt64)(text)
	if err != nil {
		return invalidValue("WORKERID", text, errors.New("must be a worker ID, 0 or more"))
	}
	if token < 0 {
		return usage(`--fencing-token is required: "snowkey workers list" shows it`)
	}
	target, store, rows, err := a.records(ctx, p)
	if err != nil {
		return err
	}
	defer target.Close()
	i := slices.IndexFunc(rows, func(row driver.Record) bool { return row.Worker == id })
	if i < 0 {
		return fmt.Errorf("worker ID %d of namespace %q was never leased from %s", id, p.namespace, target.Name)
	}
	info := describeWorker(rows[i], a.now())
	switch {
	case info.FencingToken != token:
		return fmt.Errorf("worker ID %d of namespace %q now has fencing token %d, not %d; it is left unchanged", id, p.namespace, info.FencingToken, token)
	case info.State == "free":
		return fmt.Errorf("worker ID %d of namespace %q is already free", id, p.namespace)
	case rows[i].OfGenerator():
		return fmt.Errorf("worker ID %d of namespace %q belongs to a generator in the database (%s), which is left unchanged: drop the generator, which releases it: snowkey ddl drop-generator", id, p.namespace, dsn.Printable(info.Owner))
	}
	if err := store.Free(ctx, p.namespace, id, token); err != nil {
		if errors.Is(err, driver.ErrNotHeld) {
			return fmt.Errorf("worker ID %d of namespace %q has just changed hands; it is left unchanged", id, p.namespace)
		}
		return fmt.Errorf("%s: %w", target.Name, unsupported(err))
	}
	a.note("worker ID %d of namespace %q is free; its next holder starts at %s or later", id, p.namespace, info.Fence)
	return nil
}

// storeFlags are the flags that name a store of worker IDs.
type storeFlags struct {
	flag      string // --dsn, --lease or --store
	text      string
	tokenFile string
	namespace string
	dataLoss  bool
	flags     *pflag.FlagSet
	dependent []string // the flags that need a DSN
}

// add adds the flag of the DSN, its token, --namespace and, if the store is written, --allow-data-loss.
func (p *storeFlags) add(cmd *cobra.Command, flag, what string, writes bool) {
	f := cmd.Flags()
	p.flag, p.flags, p.dependent = "--"+flag, f, []string{"token-file", "namespace"}
	f.StringVar(&p.text, flag, "", what+", a `DSN`: "+dsn.Forms)
	f.StringVar(&p.tokenFile, "token-file", "", "`FILE` with the token for an http(s) DSN (default $SNOWKEY_TOKEN)")
	f.StringVar(&p.namespace, "namespace", "default", "`NAMESPACE` in which ids are unique; each has its own worker IDs")
	if writes {
		p.dependent = append(p.dependent, "allow-data-loss")
		f.BoolVar(&p.dataLoss, "allow-data-loss", false, acceptLoss)
	}
}

const acceptLoss = "accept a server whose settings may lose acknowledged writes: ids may then be issued twice"

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

// withAdvice names the flag that accepts a server's settings, instead of the field.
func withAdvice(err error) error {
	var lossy *worker.DurabilityError
	if errors.As(err, &lossy) {
		return errors.New(strings.Replace(err.Error(), "allow it with AllowDataLoss", "accept it with --allow-data-loss", 1))
	}
	return err
}
