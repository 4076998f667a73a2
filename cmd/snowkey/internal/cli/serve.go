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
	"github.com/seed-299c1d6b/snowkey/core"
)

// serving is what the flags of serve say.
type serving struct {
	addr      string
	hosts     []string
	store     place
	admin     bool
	cert, key string
}

const serveAbout = `Serve the web page, on which ids are taken apart in the browser, and its HTTP
interface. With --store it also allots worker numbers out of a database to
programs that do not reach it, which must have the token. Their DSN, and their
httpstore.Config.URL, is the server's with /leases behind it:

  snowkey gen --lease https://ids.example.org/leases --token-file token

With --admin they may list and free numbers as well, as "snowkey workers" does.
--store takes what --dsn takes elsewhere; snowkey --help lists it.

SIGINT and SIGTERM let requests under way finish.`

func (a *app) serveCommand() *cobra.Command {
	s := &serving{store: place{flag: "--store"}}
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "serve the web page, and allot worker numbers over HTTP",
		Long:    serveAbout,
		Example: "  snowkey serve\n  snowkey serve --addr :8443 --tls-cert cert.pem --tls-key key.pem --store postgres://localhost/app --token-file token",
		Args:    arguments(0, 0, "no arguments"),
		RunE:    a.action(func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), s) }),
	}
	f := cmd.Flags()
	f.StringVar(&s.addr, "addr", "127.0.0.1:8080", "`HOST:PORT` to listen on; port 0 takes a free one")
	f.StringSliceVar(&s.hosts, "host", nil, "`NAME` by which a proxy on this machine asks; else only localhost and addresses are answered over loopback")
	f.StringVar(&s.store.text, "store", "", "out of which worker numbers are allotted, a `DSN`; needs a token")
	f.StringVar(&s.store.tokenFile, "token-file", "", "`FILE` that holds the token of the clients (default SNOWKEY_TOKEN in the environment)")
	s.store.addLossy(cmd)
	f.BoolVar(&s.admin, "admin", false, "whoever has the token may list and free numbers as well")
	s.store.use = append(s.store.use, "token-file", "admin")
	f.StringVar(&s.cert, "tls-cert", "", "`FILE` of the certificate, with its chain, as PEM")
	f.StringVar(&s.key, "tls-key", "", "`FILE` of its key")
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
			return usage("--store needs a token, without which anybody could take worker numbers: --token-file, or SNOWKEY_TOKEN in the environment")
		}
		target, err := a.open(ctx, &s.store, true)
		if err != nil {
			return err
		}
		defer target.Close()
		if cfg.Store, err = target.Store(storeOptions(&s.store)); err != nil {
			return err
		}
	}
	handler, err := web.New(cfg)
	if err != nil {
		return hostFaults(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if s.cert == "" && !loopback(host) {
		a.note("%s %s can be reached from elsewhere and is not encrypted: give --tls-cert and --tls-key, or put it behind a proxy that encrypts", a.errStyle.warn("snowkey serve:"), s.addr)
	}
	return a.listen(ctx, certificates, listener, handler, logger, leases)
}

// hostFaults says what the server refuses by the flags that it comes from.
func hostFaults(err error) error {
	var wrong *core.ConfigError
	if !errors.As(err, &wrong) {
		return err
	}
	return usage("%s", byFlag(wrong.Fields, map[string]string{"Hosts": "--host", "Token": "--token-file"}))
}

// certificates are read before anything is listened on.
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

// How long a client may take, and a request that is under way at the end.
const (
	headerTimeout  = 5 * time.Second
	readTimeout    = 15 * time.Second
	writeTimeout   = 30 * time.Second
	idleTimeout    = 2 * time.Minute
	shutdownWithin = 10 * time.Second
	mostHeader     = 64 << 10
)

func (a *app) listen(ctx context.Context, certificates []tls.Certificate, listener net.Listener, handler http.Handler, logger *slog.Logger, leases string) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: mostHeader, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
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
		a.note("worker numbers at %s://%s%s", scheme, listener.Addr(), leases)
	}
	ended := make(chan error, 1)
	go func() { ended <- serve() }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	a.note("ending")
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWithin)
	defer cancel()
	if err := server.Shutdown(limit); err != nil {
		_ = server.Close()
		return fmt.Errorf("requests were cut off after %v: %w", shutdownWithin, err)
	}
	return nil
}

// checkAddr gives the host of an address.
func checkAddr(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", errors.New("want host:port, such as 127.0.0.1:8080 or :8080")
	}
	return host, nil
}

// loopback reports whether only this machine reaches the host.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
