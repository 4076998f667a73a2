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

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/web"
)

// serveFlags are the flags of the command.
type serveFlags struct {
	addr      string
	metrics   string
	hosts     []string
	noIDs     bool
	drain     time.Duration
	store     storeFlags
	admin     bool
	cert, key string
	export    string
}

const serveAbout = `Serve the web page, which decodes ids in the browser, and its HTTP API. With
--store it also leases worker IDs from a database to programs that have the
token but cannot reach the database. They use the server's URL followed by
/leases, as a DSN or as httpstore.Config.URL. snowkey --help lists the DSNs that
--store takes.

For probes, /healthz says that the server is alive, and /readyz that its store
answers. With --metrics-addr, Prometheus finds /metrics on that address, and on
no other. After SIGINT or SIGTERM, /readyz says no, and after --drain the server
accepts no more requests and completes those in progress.`

func (a *app) serveCommand() *cobra.Command {
	s := &serveFlags{store: storeFlags{flag: "--store"}}
	cmd := a.command("serve", "serve the web page, and lease worker IDs over HTTP", serveAbout,
		"  snowkey serve\n  snowkey serve --addr :8443 --tls-cert cert.pem --tls-key key.pem \\\n    --store postgres://localhost/app --token-file token",
		arguments(0, 0, "no arguments"), func(cmd *cobra.Command, _ []string) error {
			switch {
			case s.export == "":
				return a.serve(cmd.Context(), s)
			case cmd.Flags().NFlag() > 1:
				return usage("--export only writes files: it excludes all other flags")
			}
			if err := web.Export(s.export); err != nil {
				return invalidValue("--export", s.export, err)
			}
			return nil
		})
	f := cmd.Flags()
	f.StringVar(&s.addr, "addr", "127.0.0.1:8080", "`HOST:PORT` to listen on; port 0 takes a free one")
	f.StringVar(&s.metrics, "metrics-addr", "", "`HOST:PORT` to serve /metrics on, for Prometheus; without it there are no metrics")
	f.StringSliceVar(&s.hosts, "host", nil, "host `NAME` that a proxy on this machine sends; other requests over loopback must name localhost or an IP address")
	f.BoolVar(&s.noIDs, "no-ids", false, "generate no ids; /api/ids composes those of a given time only")
	f.Var(flagval.New(&s.drain, "DURATION", "0s", flagval.Duration(0, time.Hour)), "drain", "before it shuts down, serve for this DURATION while /readyz says no")
	f.StringVar(&s.store.text, "store", "", "store of the worker IDs to lease, a `DSN`; requires a token")
	f.StringVar(&s.store.tokenFile, "token-file", "", "`FILE` with the token of the clients (default $SNOWKEY_TOKEN)")
	s.store.flags, s.store.dependent = f, []string{"token-file", "admin"}
	f.BoolVar(&s.admin, "admin", false, "let clients with the token manage worker IDs: list and free them, and raise the floor")
	f.StringVar(&s.cert, "tls-cert", "", "`FILE` of the certificate with its chain, PEM")
	f.StringVar(&s.key, "tls-key", "", "`FILE` of its key, PEM")
	f.StringVar(&s.export, "export", "", "write the page to this `DIR` instead, as files for any host, or to open from a disk")
	return cmd
}

func (a *app) serve(ctx context.Context, s *serveFlags) error {
	host, err := checkAddr(s.addr)
	if err != nil {
		return invalidValue("--addr", s.addr, err)
	}
	if s.metrics != "" {
		if _, err := checkAddr(s.metrics); err != nil {
			return invalidValue("--metrics-addr", s.metrics, err)
		}
	}
	secure, err := s.tls()
	if err != nil {
		return err
	}
	if err := s.store.unused(); err != nil {
		return err
	}
	cfg := web.Config{
		Hosts: s.hosts, Admin: s.admin, NoIDs: s.noIDs, Metrics: s.metrics != "",
		Logger: slog.New(slog.NewTextHandler(a.Err, nil)),
	}
	if s.store.text != "" {
		if cfg.Token, err = a.secret(s.store.tokenFile); err != nil {
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
		return byFlag(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if s.cert == "" && !loopback(host) {
		a.note("%s %s is reachable from other machines and not encrypted: give --tls-cert and --tls-key, or put it behind a proxy with TLS", a.errStyle.paint(yellow, "snowkey serve:"), s.addr)
	}
	if s.metrics != "" {
		stop, err := a.serveMetrics(ctx, s.metrics, handler.Metrics(), cfg.Logger)
		if err != nil {
			_ = listener.Close()
			return err
		}
		defer stop()
	}
	server := newServer(handler, cfg.Logger)
	server.TLSConfig = secure
	return a.listen(ctx, s, server, listener, handler.Drain)
}

// tls reads the certificate, before the server listens. It returns nil if there is none.
func (s *serveFlags) tls() (*tls.Config, error) {
	if (s.cert == "") != (s.key == "") {
		return nil, usage("--tls-cert %q and --tls-key %q: give both or none", truncate(s.cert), truncate(s.key))
	}
	if s.cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(s.cert, s.key)
	if err != nil {
		return nil, usage("--tls-cert %q, --tls-key %q: %w", truncate(s.cert), truncate(s.key), err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// shutdownWithin is the time that requests in progress have at the end.
const shutdownWithin = 10 * time.Second

// listen serves until ctx is done, then drains for s.drain, and completes the requests in progress.
func (a *app) listen(ctx context.Context, s *serveFlags, server *http.Server, listener net.Listener, drain func()) error {
	scheme, serve := "http", func() error { return server.Serve(listener) }
	if server.TLSConfig != nil {
		scheme, serve = "https", func() error { return server.ServeTLS(listener, "", "") }
	}
	a.note("serving %s://%s", scheme, listener.Addr())
	if s.store.text != "" {
		a.note("worker IDs at %s://%s%s", scheme, listener.Addr(), web.LeasesPath)
	}
	ended := make(chan error, 1)
	go func() { ended <- serve() }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	a.note("shutting down")
	drain()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-time.After(s.drain):
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWithin)
	defer cancel()
	if err := server.Shutdown(limit); err != nil {
		_ = server.Close()
		return fmt.Errorf("requests were aborted after %v: %w", shutdownWithin, err)
	}
	return nil
}

// serveMetrics serves metrics until stop is called: also while requests in progress are completed.
func (a *app) serveMetrics(ctx context.Context, addr string, handler http.Handler, logger *slog.Logger) (stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for --metrics-addr: %w", err)
	}
	server := newServer(handler, logger)
	a.note("metrics at http://%s/metrics", listener.Addr())
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("the metrics are not served any more", "error", err)
		}
	}()
	return func() { _ = server.Close() }, nil
}

func newServer(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
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
