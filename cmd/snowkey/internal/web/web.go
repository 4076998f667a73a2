// Package web is the page that `snowkey serve` shows and its HTTP API: ids generated
// and decoded, the ids of a time range, the capacity of a layout. With a store it is
// also the lease server of package httpstore.
//
//	GET  /                    the page, whose files are embedded
//	GET  /api/layouts         the presets, or one layout, with figures
//	GET  /api/ids             new ids of a worker ID, or those of a given time
//	GET  /api/parse           ids decoded
//	GET  /api/range           the ids of a time range, for WHERE
//	GET  /api/openapi.json    the description of the API, also at /api
//	GET  /healthz, /readyz    whether the server is alive, and whether it can serve
//	POST /leases/v1/…         worker IDs, behind a token
//	GET  /metrics             what the server does, for Prometheus; on a separate address
//
// One server process never generates an id of a layout twice, however the layout is written:
// layouts whose ids are the same numbers share a generator. It cannot know which other process
// uses a worker ID, so there is no default for it. Ids of a given time are composed: bounds and
// test data, the same each time.
//
// Wrong input gets status 400 and a list of all errors: the field, the value, and what it must
// be. Ids and times are read as the command reads them; see packages describe and timetext.
//
// The page has no inline script and loads nothing from elsewhere, and its policy forbids both.
// Cross-site browser requests are rejected, and so are requests over loopback under a foreign
// name, which DNS rebinding causes. The page seals and opens tokens by itself: the server gets
// neither them nor their key. All that the server remembers of requests is bounded.
package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/httpstore"
)

// LeasesPath is the path of the lease store. A client's httpstore.Config.URL is the
// server's URL followed by it.
const LeasesPath = "/leases"

// Config configures a server. The zero Config serves the page and its API.
type Config struct {
	Store   driver.Store // served below LeasesPath; nil: no leases
	Token   string       // authenticates the clients of the store: 16 to 512 printable ASCII bytes; required with a Store
	Admin   bool         // lets clients list and free worker IDs
	Hosts   []string     // further names, without port, that are accepted over loopback; for a proxy on this machine
	NoIDs   bool         // generates no ids; those of a given time are composed
	Logger  *slog.Logger // failures; nil: none
	Metrics bool         // counts requests, and has a handler of metrics

	pairs    int           // 0: 4096; pairs of layout and worker ID for which ids are generated at a time
	patience time.Duration // 0: 2s; how long one request may wait for free slots
}

// A Handler serves the page, the API and the leases. Make it with New.
type Handler struct {
	http.Handler
	health  *health
	counts  *metrics     // nil: none
	metrics http.Handler // nil: none
}

// Metrics returns the handler of /metrics, or nil without Config.Metrics. Serve it on a
// separate address: the Handler does not have that path.
func (h *Handler) Metrics() http.Handler { return h.metrics }

// Drain makes the handler answer that it is not ready, so that load balancers send no more
// requests. Requests that come are answered as before.
func (h *Handler) Drain() { h.health.draining.Store(true) }

// New returns the server's handler. An invalid Config is reported as one
// *core.ConfigError.
func New(cfg Config) (*Handler, error) {
	var errs []core.FieldError
	for _, h := range cfg.Hosts {
		if h == "" || strings.ContainsAny(h, "/: \t") {
			errs = append(errs, core.FieldError{Field: "Hosts", Value: quote(h), Reason: "must be a host name without scheme, port and path"})
		}
	}
	var leases http.Handler
	if cfg.Store != nil {
		var err error
		leases, err = httpstore.NewHandler(cfg.Store, httpstore.HandlerConfig{Tokens: []string{cfg.Token}, Admin: cfg.Admin})
		if err != nil {
			var config *core.ConfigError
			if !errors.As(err, &config) {
				return nil, err
			}
			for _, f := range config.Fields {
				f.Field = strings.Replace(f.Field, "Tokens[0]", "Token", 1)
				errs = append(errs, f)
			}
		}
	}
	if len(errs) > 0 {
		return nil, &core.ConfigError{Fields: errs}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &server{
		generators: newGenerators(cmp.Or(cfg.pairs, 4096), cmp.Or(cfg.patience, 2*time.Second)),
		logger:     cfg.Logger, noIDs: cfg.NoIDs,
	}
	health := &health{logger: cfg.Logger}
	health.store, _ = cfg.Store.(driver.Admin)
	if leases != nil {
		leases = http.StripPrefix(LeasesPath, leases)
	}
	// A ServeMux would redirect paths with dots to an HTML page.
	route := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api", strings.HasPrefix(r.URL.Path, "/api/"):
			s.api(w, r)
		case r.URL.Path == alivePath:
			health.alive(w, r)
		case r.URL.Path == readyPath:
			health.ready(w, r)
		case leases != nil && strings.HasPrefix(r.URL.Path, LeasesPath+"/"):
			leases.ServeHTTP(w, r)
		default:
			page(w, r)
		}
	}
	h := &Handler{health: health}
	if cfg.Metrics {
		h.counts = newMetrics(s.generators, health)
		h.metrics = guard(h.counts.handler(), cfg.Hosts, cfg.Logger)
	}
	h.Handler = h.counts.count(guard(http.HandlerFunc(route), cfg.Hosts, cfg.Logger))
	return h, nil
}

// server answers the API.
type server struct {
	generators *generators
	logger     *slog.Logger
	noIDs      bool
}

// api routes a request. Each path lists its methods; others get 405 with Allow.
func (s *server) api(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	get := []string{http.MethodGet, http.MethodHead}
	path, ok := map[string]struct {
		methods []string
		answer  func(*params, http.ResponseWriter, *http.Request) (any, error) // nil: it has written the response
	}{
		"/api":              {get, s.openAPI},
		"/api/layouts":      {get, s.layouts},
		"/api/ids":          {get[:1], s.ids}, // HEAD would use up ids
		"/api/parse":        {get, s.parse},
		"/api/range":        {get, s.ranges},
		"/api/openapi.json": {get, s.openAPI},
	}[r.URL.Path]
	if !ok {
		s.fail(w, r, refuse(http.StatusNotFound, "path", r.URL.Path, "does not exist; see /api/openapi.json"))
		return
	}
	if !allows(w, r, path.methods) {
		s.fail(w, r, refuse(http.StatusMethodNotAllowed, "method", r.Method, "must be "+flagval.List(path.methods)))
		return
	}
	body, err := path.answer(newParams(r), w, r)
	switch {
	case err != nil:
		s.fail(w, r, err)
	case body != nil:
		writeJSON(w, r, http.StatusOK, body)
	}
}

type layoutsBody struct {
	Layouts []describe.Layout `json:"layouts"`
}

// layouts answers with all presets, or with the layout that the query describes.
func (s *server) layouts(p *params, _ http.ResponseWriter, _ *http.Request) (any, error) {
	l := p.layout()
	if err := p.end(); err != nil {
		return nil, err
	}
	if len(p.values) == 0 {
		return layoutsBody{describe.Layouts(time.Now())}, nil
	}
	return layoutsBody{[]describe.Layout{describe.NewLayout(l, time.Now())}}, nil
}

// allows reports whether the method is allowed, and lists the allowed ones if not.
func allows(w http.ResponseWriter, r *http.Request, methods []string) bool {
	if slices.Contains(methods, r.Method) {
		return true
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	return false
}

//go:embed static
var static embed.FS

//go:embed openapi.json
var openAPIText []byte

// mediaTypes replaces package mime, whose table depends on the machine.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".png":  "image/png",
}

// page serves the files of the page. Their names do not change between versions, so
// browsers revalidate them each time and mostly get a 304.
func page(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path
	if name == "/" {
		name = "/index.html"
	}
	text, err := static.ReadFile("static" + name)
	w.Header().Set("Cache-Control", "no-store") // of an error
	switch {
	case err != nil || r.URL.Path == "/index.html": // the page has one address
		http.Error(w, "Not found. The page is at /.", http.StatusNotFound)
	case !allows(w, r, []string{http.MethodGet, http.MethodHead}):
		http.Error(w, "The method must be GET or HEAD.", http.StatusMethodNotAllowed)
	default:
		serve(w, r, mediaTypes[path.Ext(name)], text)
	}
}

func serve(w http.ResponseWriter, r *http.Request, media string, text []byte) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", fmt.Sprintf(`"%.16x"`, sha256.Sum256(text)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// openAPI serves the description of the API. It takes no parameters.
func (s *server) openAPI(p *params, w http.ResponseWriter, r *http.Request) (any, error) {
	if err := p.end(); err != nil {
		return nil, err
	}
	serve(w, r, "application/json; charset=utf-8", openAPIText)
	return nil, nil
}
