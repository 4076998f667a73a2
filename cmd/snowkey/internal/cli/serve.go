package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/web"
)

// serving holds the flags.
type serving struct {
	addr      string
	hosts     []string
	store     storeFlags
	admin     bool
	cert, key string
}

const serveAbout = `Serve the web page, which decodes IDs in the browser, and its HTTP API. With --store
it also leases worker IDs from a database to programs that have the token but cannot
reach the database. They use the server's URL followed by /leases, as a DSN or as
httpstore.Config.URL:

  snowkey gen --lease https://ids.example.org/leases --token-file token

With --admin they may also list and free worker IDs, as "snowkey workers" does.
--store takes the same DSNs as --dsn; snowkey --help lists them.

After SIGINT or SIGTERM, requests in progress are completed.`

func (a *app) serveCommand() *cobra.Command {
	s := &serving{store: storeFlags{flag: "--store"}}
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "serve the web page, and lease worker IDs over HTTP",
		Long:    serveAbout,
		Example: "  snowkey serve\n  snowkey serve --addr :8443 --tls-cert cert.pem --tls-key key.pem --store postgres://localhost/app --token-file token",
		Args:    arguments(0, 0, "no arguments"),
		RunE:    a.action(func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), s) }),
	}
	f := cmd.Flags()
	f.StringVar(&s.addr, "addr", "127.0.0.1:8080", "`HOST:PORT` to listen on; port 0 takes a free one")
	f.StringSliceVar(&s.hosts, "host", nil, "host `NAME` that a proxy on this machine sends; other requests over loopback must name localhost or an IP address")
	f.StringVar(&s.store.text, "store", "", "store of the worker IDs to lease, a `DSN`; requires a token")
	f.StringVar(&s.store.tokenFile, "token-file", "", "`FILE` with the token of the clients (default $SNOWKEY_TOKEN)")
	s.store.addDataLoss(cmd)
	f.BoolVar(&s.admin, "admin", false, "let clients with the token list and free worker IDs")
	s.store.dependent = append(s.store.dependent, "token-file", "admin")
	f.StringVar(&s.cert, "tls-cert", "", "`FILE` of the certificate with its chain, PEM")
	f.StringVar(&s.key, "tls-key", "", "`FILE` of its key, PEM")
	return cmd
}

func (a *app) serve(ctx context.Context, s *serving) error {
	host, err := checkAddr(s.addr)
	if err != nil {
		return wrong("--addr", s.addr, err)
	}
	certificates, err := s.certificates()
	if err != nil {
		return err
	}
	if err := s.store.unused(); err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(a.Err, nil))
	cfg := web.Config{Logger: logger, Hosts: s.hosts, Admin: s.admin}
	leases := ""
	if s.store.text != "" {
		leases = web.LeasesPath
		if cfg.Token, err = a.secret("", s.store.tokenFile); err != nil {
			return err
		}
		if cfg.Token == "" {
			return usage("--store requires a token, otherwise anyone could lease worker IDs: give --token-file or set SNOWKEY_TOKEN")
		}
		target, store, err := a.openStore(ctx, &s.store, true)
		if err != nil {
			return err
		}
		defer target.Close()
		cfg.Store = store
	}
	handler, err := web.New(cfg)
	if err != nil {
		return byFlag(err, map[string]string{"Hosts": "--host", "Token": "--token-file"})
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if s.cert == "" && !loopback(host) {
		a.note("%s %s is reachable from other machines and not encrypted: give --tls-cert and --tls-key, or put it behind a proxy with TLS", a.errStyle.warn("snowkey serve:"), s.addr)
	}
	return a.listen(ctx, certificates, listener, handler, logger, leases)
}

// certificates are read before the server listens.
func (s *serving) certificates() ([]tls.Certificate, error) {
	if (s.cert == "") != (s.key == "") {
		return nil, usage("--tls-cert %q and --tls-key %q: give both or none", short(s.cert), short(s.key))
	}
	if s.cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(s.cert, s.key)
	if err != nil {
		return nil, usage("--tls-cert %q, --tls-key %q: %w", short(s.cert), short(s.key), err)
	}
	return []tls.Certificate{pair}, nil
}

// shutdownWithin is the time that requests in progress have at the end.
const shutdownWithin = 10 * time.Second

func (a *app) listen(ctx context.Context, certificates []tls.Certificate, listener net.Listener, handler http.Handler, logger *slog.Logger, leases string) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	scheme := "http"
	serve := func() error { return server.Serve(listener) }
	if len(certificates) > 0 {
		scheme = "https"
		server.TLSConfig = &tls.Config{Certificates: certificates, MinVersion: tls.VersionTLS12}
		serve = func() error { return server.ServeTLS(listener, "", "") }
	}
	a.note("serving %s://%s", scheme, listener.Addr())
	if leases != "" {
		a.note("worker IDs at %s://%s%s", scheme, listener.Addr(), leases)
	}
	ended := make(chan error, 1)
	go func() { ended <- serve() }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	a.note("shutting down")
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWithin)
	defer cancel()
	if err := server.Shutdown(limit); err != nil {
		_ = server.Close()
		return fmt.Errorf("requests were aborted after %v: %w", shutdownWithin, err)
	}
	return nil
}

// checkAddr returns the host of an address.
func checkAddr(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", errors.New("must be host:port, such as 127.0.0.1:8080 or :8080")
	}
	return host, nil
}

// loopback reports whether the host is reachable from this machine only.
func loopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }
