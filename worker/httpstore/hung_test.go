package httpstore

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// deaf is a transport that gets no answer, and does not heed the request's context.
type deaf struct{ ended chan struct{} }

func (d deaf) RoundTrip(*http.Request) (*http.Response, error) {
	<-d.ended
	return nil, http.ErrServerClosed
}

func deafClient(t *testing.T) driver.Store {
	d := deaf{make(chan struct{})}
	t.Cleanup(func() { close(d.ended) })
	return mustNew(New(Config{URL: "http://127.0.0.1:1", Token: secret, Client: &http.Client{Transport: d}}))
}

// deafStore is a store whose client does not heed contexts.
type deafStore struct {
	driver.Store
	ended chan struct{}
}

func (s deafStore) Claim(context.Context, driver.Claim) (driver.Lease, error) {
	<-s.ended
	return driver.Lease{}, context.Canceled
}

// The handler answers when its Timeout is over, whatever its store does.
func TestHandlerOfAHungStore(t *testing.T) {
	store := deafStore{memstore.New(memstore.Config{}), make(chan struct{})}
	defer close(store.ended)
	h, err := NewHandler(store, HandlerConfig{Tokens: []string{secret}, Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := mustNew(New(Config{URL: server.URL, Token: secret}))
	_, err = client.Claim(ctx, claim())
	var failed *StoreError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "claim: no answer in ") {
		t.Error(err)
	}
}
