package web

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/httpstore"
)

// LeasesPath is where the lease store is offered. A client's httpstore.Config.URL is
// the server's URL with this behind it.
const LeasesPath = "/leases"

// Config is what a server is made of. The zero Config serves the page and its API.
type Config struct {
	Store  driver.Store // is offered below LeasesPath; nil: it is not
	Token  string       // clients of the store must have it: 16 to 512 printable bytes of ASCII; required with a Store
	Admin  bool         // offers listing and freeing the store's numbers as well
	Hosts  []string     // names, without port, under which it may be asked over loopback, beside localhost; for a proxy on this machine
	Pairs  int          // 0: 4096; pairs of layout and worker number that ids are made for, each remembered until the process ends
	Logger *slog.Logger // what failed, and each request at debug level; nil: nothing

	patience time.Duration // 0: 2s; how long one request may wait for places in time
}

const defaultPairs = 4096

// New makes the server. What is wrong with the configuration is told in one
// *core.ConfigError.
func New(cfg Config) (http.Handler, error) {
	var faults []core.FieldError
	if cfg.Pairs < 0 {
		faults = append(faults, core.FieldError{Field: "Pairs", Value: quote(cfg.Pairs), Reason: "must not be negative"})
	}
	for _, h := range cfg.Hosts {
		if h == "" || strings.ContainsAny(h, "/: \t") {
			faults = append(faults, core.FieldError{Field: "Hosts", Value: quote(h), Reason: "must be a name without scheme, port and path"})
		}
	}
	var leases http.Handler
	if cfg.Store != nil {
		var err error
		leases, err = httpstore.NewHandler(cfg.Store, httpstore.HandlerConfig{Tokens: []string{cfg.Token}, Admin: cfg.Admin})
		if err != nil {
			faults = append(faults, storeFaults(err)...)
		}
	}
	if len(faults) > 0 {
		return nil, &core.ConfigError{Fields: faults}
	}
	if cfg.Pairs == 0 {
		cfg.Pairs = defaultPairs
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	files, err := newAssets()
	if err != nil {
		return nil, err
	}
	s := &server{makers: newMakers(cfg.Pairs, cfg.patience), logger: cfg.Logger}
	if leases != nil {
		leases = http.StripPrefix(LeasesPath, leases)
	}
	// Not a ServeMux, which answers with a page where a path has dots in it.
	route := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api" || strings.HasPrefix(r.URL.Path, "/api/"):
			s.api(w, r)
		case leases != nil && strings.HasPrefix(r.URL.Path, LeasesPath+"/"):
			leases.ServeHTTP(w, r)
		default:
			files.ServeHTTP(w, r)
		}
	}
	return guard(http.HandlerFunc(route), cfg.Hosts, cfg.Logger), nil
}

// storeFaults names the fields of Config for those of httpstore.
func storeFaults(err error) []core.FieldError {
	config, ok := err.(*core.ConfigError) //nolint:errorlint // NewHandler wraps nothing
	if !ok {
		return []core.FieldError{{Field: "Store", Value: "given", Reason: err.Error()}}
	}
	for i, f := range config.Fields {
		if strings.HasPrefix(f.Field, "Tokens") {
			config.Fields[i].Field = "Token"
		}
	}
	return config.Fields
}

// server answers the API.
type server struct {
	makers *makers
	logger *slog.Logger
}

// api finds what a path stands for. Each says which methods it has, so that the
// answer to another one is 405 with Allow.
func (s *server) api(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	type answerer func(http.ResponseWriter, *http.Request) (any, error)
	var methods []string
	var answer answerer
	switch r.URL.Path {
	case "/api/layouts":
		methods, answer = []string{http.MethodGet, http.MethodHead}, s.layouts
	case "/api/ids": // no HEAD: it would use ids up
		methods, answer = []string{http.MethodGet}, s.ids
	case "/api/parse":
		methods, answer = []string{http.MethodGet, http.MethodHead, http.MethodPost}, s.parse
	case "/api/range":
		methods, answer = []string{http.MethodGet, http.MethodHead}, s.ranges
	case "/api/openapi.json":
		methods = []string{http.MethodGet, http.MethodHead}
		answer = func(w http.ResponseWriter, r *http.Request) (any, error) { return nil, openAPI(w, r) }
	default:
		s.fail(w, r, refuse(http.StatusNotFound, "path", r.URL.Path, "there is nothing here; /api/openapi.json lists what there is"))
		return
	}
	if !allows(w, r, methods) {
		s.fail(w, r, refuse(http.StatusMethodNotAllowed, "method", r.Method, "must be "+strings.Join(methods, " or ")))
		return
	}
	body, err := answer(w, r)
	switch {
	case err != nil:
		s.fail(w, r, err)
	case body != nil:
		s.write(w, r, http.StatusOK, body)
	}
}

// allows reports whether the method is one of those, and says which are if not.
func allows(w http.ResponseWriter, r *http.Request, methods []string) bool {
	for _, m := range methods {
		if r.Method == m {
			return true
		}
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	return false
}
