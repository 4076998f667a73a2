package httpstore

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
	"github.com/seed-299c1d6b/snowkey/worker/storetest"
)

const secret = "correct-horse-battery-staple"

func handlerOf(t *testing.T, store driver.Store) http.Handler {
	t.Helper()
	h, err := NewHandler(store, HandlerConfig{Tokens: []string{"another-token-of-the-server", secret}, Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// site is an address at which a server can go away and another can come.
type site struct {
	t       *testing.T
	server  *httptest.Server
	handler atomic.Pointer[http.Handler]
}

func open(t *testing.T, h http.Handler) *site {
	t.Helper()
	s := &site{t: t}
	s.start(h)
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := s.handler.Load()
		if h == nil {
			panic(http.ErrAbortHandler)
		}
		(*h).ServeHTTP(w, r)
	}))
	t.Cleanup(s.server.Close)
	return s
}

func (s *site) start(h http.Handler) { s.handler.Store(&h) }

func (s *site) stop() {
	s.handler.Store(nil)
	s.server.CloseClientConnections()
}

// client is a client with its own connections.
func (s *site) client() *Store {
	transport := &http.Transport{}
	s.t.Cleanup(transport.CloseIdleConnections)
	return mustNew(New(Config{URL: s.server.URL, Token: secret, Client: &http.Client{Transport: transport}}))
}

// Two servers offer one store, below a path, over TLS.
func TestStore(t *testing.T) {
	mux, store := http.NewServeMux(), new(memstore.Store)
	mux.Handle("/a/leases/", http.StripPrefix("/a/leases", handlerOf(t, store)))
	one, two := httptest.NewTLSServer(mux), httptest.NewTLSServer(mux)
	defer one.Close()
	defer two.Close()
	var mu sync.Mutex
	n := 0
	storetest.Run(t, storetest.Config{Hung: deafClient, Put: func(_ *testing.T, s driver.State) { store.Put(s) }, Open: func(*testing.T) driver.Store {
		mu.Lock()
		defer mu.Unlock()
		server := []*httptest.Server{one, two}[n%2]
		n++
		return mustNew(New(Config{URL: server.URL + "/a/leases/", Token: secret, Client: server.Client()}))
	}})
}

// patience is for what is certain to come, on a machine that is busy.
const patience = 2 * time.Minute

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
	}
}

// The server goes away under a lease, and another comes in its place over the same
// store: the lease continues, and no other holder has its worker ID.
func TestServerReplaced(t *testing.T) {
	store := memstore.New(memstore.Config{})
	s := open(t, handlerOf(t, store))
	gen, err := worker.Open(t.Context(), s.client(), worker.Config{FenceWindow: 10 * time.Minute, RenewInterval: 50 * time.Millisecond, Timeout: 3 * time.Second, ClaimWait: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close(context.Background())
	seen := map[int64]bool{}
	draw := func() {
		t.Helper()
		for range 1000 {
			id, err := gen.Next(t.Context())
			if err != nil || seen[id] {
				t.Fatalf("%d, %v", id, err)
			}
			seen[id] = true
		}
	}
	for range 3 {
		draw()
		s.stop()
		failures := gen.Stats().Failures
		await(t, "failure", func() bool { return gen.Stats().Failures > failures })
		draw()
		s.start(handlerOf(t, store))
		renewals := gen.Stats().Renewals
		await(t, "renewal", func() bool { return gen.Stats().Renewals > renewals })
	}
	if st := gen.Stats(); st.Losses > 0 || st.Claims != 1 {
		t.Errorf("%+v", st)
	}
	if err := gen.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	st, err := store.List(context.Background(), "default")
	if err != nil || len(st.Records) != 1 || st.Records[0].Status != driver.Released {
		t.Errorf("%+v, %v", st, err)
	}
}

// post sends a body to a handler.
func post(h http.Handler, verb, body string) (status int, text string) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.URL.Path = "/v1/" + verb
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+secret)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// mustNew returns a store that New has made.
func mustNew[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}
