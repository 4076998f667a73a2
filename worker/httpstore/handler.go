package httpstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/hung"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// HandlerConfig configures NewHandler. Tokens is required.
type HandlerConfig struct {
	// Tokens are those that clients may use: each has 16 to 512 printable ASCII characters,
	// without spaces. With two tokens, the clients can change from one to the other one by one.
	Tokens []string
	// Admin also offers driver.Admin, if the store has it. Its records contain the claim IDs of
	// the leases, and every client may then free any worker ID, and raise any floor.
	Admin bool
	// Timeout limits one call of the store. Zero: 10s.
	Timeout time.Duration
}

type handler struct {
	store   driver.Store
	admin   driver.Admin   // nil: not offered
	counter driver.Counter // nil: the store has none
	tokens  [][sha256.Size]byte
	timeout time.Duration
	calls   hung.Calls                  // of the store
	verbs   map[string]http.HandlerFunc // by path
}

// NewHandler returns a handler that offers a store to clients with one of the tokens. The
// error is a *core.ConfigError.
func NewHandler(store driver.Store, cfg HandlerConfig) (http.Handler, error) {
	var wrong fields.Errors
	if fields.IsNil(store) {
		wrong.Add("store", nil, "must be given")
	}
	if len(cfg.Tokens) == 0 {
		wrong.Add("Tokens", nil, "must hold at least one: without a token, anyone could claim every worker ID")
	}
	for i, token := range cfg.Tokens {
		checkToken(&wrong, fmt.Sprintf("Tokens[%d]", i), token)
	}
	if cfg.Timeout < 0 {
		wrong.Add("Timeout", cfg.Timeout, "must not be negative")
	}
	if err := wrong.Err("httpstore"); err != nil {
		return nil, err
	}
	h := &handler{store: store, timeout: cmp.Or(cfg.Timeout, 10*time.Second), verbs: make(map[string]http.HandlerFunc)}
	for _, token := range cfg.Tokens {
		h.tokens = append(h.tokens, sha256.Sum256([]byte(token)))
	}
	if cfg.Admin {
		h.admin, _ = store.(driver.Admin)
	}
	h.counter, _ = store.(driver.Counter)
	offer(h, "claim", h.store.Claim)
	offer(h, "renew", h.store.Renew)
	offer(h, "release", func(ctx context.Context, q driver.Release) (nothing, error) {
		return nothing{}, h.store.Release(ctx, q)
	})
	offer(h, "list", func(ctx context.Context, q listRequest) (driver.State, error) {
		if h.admin == nil {
			return driver.State{}, errors.ErrUnsupported
		}
		return h.admin.List(ctx, q.Namespace)
	})
	offer(h, "free", func(ctx context.Context, q freeRequest) (nothing, error) {
		if h.admin == nil {
			return nothing{}, errors.ErrUnsupported
		}
		return nothing{}, h.admin.Free(ctx, q.Namespace, q.Worker, q.FencingToken)
	})
	offer(h, "raise", func(ctx context.Context, q raiseRequest) (driver.Namespace, error) {
		if h.admin == nil {
			return driver.Namespace{}, errors.ErrUnsupported
		}
		return h.admin.Raise(ctx, q.Namespace, q.FenceWindow)
	})
	offer(h, "reserve", func(ctx context.Context, q reserveRequest) (reserveResult, error) {
		if h.counter == nil {
			return reserveResult{}, errors.ErrUnsupported
		}
		first, err := h.counter.Reserve(ctx, q.Key, q.N)
		return reserveResult{First: first}, err
	})
	return h, nil
}

// length prints a token as its length.
type length string

func (s length) String() string { return fmt.Sprintf("of %d bytes", len(s)) }

// checkToken does not quote the token, which is a secret.
func checkToken(wrong *fields.Errors, field, token string) {
	if len(token) < 16 || len(token) > 512 || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		wrong.Add(field, length(token), "must have 16 to 512 printable ASCII characters, without spaces")
	}
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if !h.authorized(r.Header.Get("Authorization")) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, "", http.StatusUnauthorized, "the bearer token is missing or wrong")
		return
	}
	verb := h.verbs[r.URL.Path]
	switch {
	case verb == nil:
		refuse(w, "", http.StatusNotFound, fmt.Sprintf("there is no %.100q here", r.URL.Path))
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, "", http.StatusMethodNotAllowed, "the method must be POST")
	default:
		verb(w, r)
	}
}

// authorized takes as long for a wrong token as for a right one.
func (h *handler) authorized(header string) bool {
	scheme, token, _ := strings.Cut(header, " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	found := 0
	for _, known := range h.tokens {
		found |= subtle.ConstantTimeCompare(sum[:], known[:])
	}
	return strings.EqualFold(scheme, "Bearer") && found == 1
}

// offer adds a verb, which is served by call.
func offer[Q, A any](h *handler, verb string, call func(context.Context, Q) (A, error)) {
	h.verbs["/v1/"+verb] = func(w http.ResponseWriter, r *http.Request) {
		if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
			refuse(w, "", http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
			return
		}
		var q question[json.RawMessage]
		if err := decode(http.MaxBytesReader(w, r.Body, maxRequest), &q, true); err != nil {
			status := http.StatusBadRequest
			var tooLarge *http.MaxBytesError
			if errors.As(err, &tooLarge) {
				status = http.StatusRequestEntityTooLarge
			}
			refuse(w, "", status, "cannot read the request: "+err.Error())
			return
		}
		if q.ID == "" || len(q.ID) > maxID || q.Request == nil {
			refuse(w, "", http.StatusBadRequest, fmt.Sprintf("the request must have an id of 1 to %d bytes, and a request", maxID))
			return
		}
		request, err := decodeRequest[Q](*q.Request)
		if err != nil {
			refuse(w, q.ID, http.StatusBadRequest, "cannot read the request: "+err.Error())
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), h.timeout)
		defer cancel()
		result, err := hung.Do(ctx, &h.calls, "the store: "+verb, func() (A, error) { return call(ctx, request) })
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			refuse(w, q.ID, http.StatusNotImplemented, verb+" is not offered here")
		case err != nil:
			e := encode(err)
			if l, ok := any(result).(driver.Lease); ok {
				e.FloorRaised = l.FloorRaised
			}
			reply(w, e.status(), answer[A]{ID: q.ID, Error: e})
		default:
			reply(w, http.StatusOK, answer[A]{ID: q.ID, Result: &result})
		}
	}
}

func refuse(w http.ResponseWriter, id string, status int, message string) {
	reply(w, status, answer[nothing]{ID: id, Error: &wireError{Kind: kindOther, Message: message}})
}

func reply(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil { // cannot happen: all fields have types that JSON has
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that does not get it asks again
}
