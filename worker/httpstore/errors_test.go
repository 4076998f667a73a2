package httpstore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// failing is a store with one answer.
type failing struct {
	err error
}

func (f *failing) Claim(context.Context, driver.Claim) (driver.Lease, error) {
	return driver.Lease{}, f.err
}
func (f *failing) Renew(context.Context, driver.Renewal) (driver.Lease, error) {
	return driver.Lease{}, f.err
}
func (f *failing) Release(context.Context, driver.Release) error      { return f.err }
func (f *failing) List(context.Context, string) (driver.State, error) { return driver.State{}, f.err }
func (f *failing) Free(context.Context, string, int64, int64) error   { return f.err }
func (f *failing) Raise(context.Context, string, int64) (driver.Namespace, error) {
	return driver.Namespace{}, f.err
}
func (f *failing) Reserve(_ context.Context, _ string, n int64) (int64, error) { return n, f.err }

// Each error arrives as it was sent, whichever verb it answers, also in other words.
func TestErrors(t *testing.T) {
	at := time.UnixMilli(1 << 52)
	store := &failing{}
	s := open(t, handlerOf(t, store))
	client := s.client()
	for _, sent := range []error{
		&core.ConfigError{Package: "worker", Fields: []core.FieldError{{Field: "F", Value: "<&\"é\u2028>", Reason: "r"}, {Field: "G"}}},
		&driver.NoWorkerIDError{Namespace: "s", WorkerIDs: 1 << 60, Leased: 3, Ahead: 2, Wait: 1234 * time.Millisecond},
		&driver.NoWorkerIDError{},
		&driver.SkewError{Local: at, Store: at.Add(-time.Millisecond), Max: 10 * time.Second},
		&driver.LayoutError{Namespace: "s", Have: "a", Want: "b"},
		&driver.WindowError{Namespace: "s", HaveWindow: 1 << 60, WantWindow: 2, HaveSkew: 3, WantSkew: 4},
		&driver.WindowError{Namespace: "s", HaveWindow: 1, WantWindow: 2},
		&driver.FloorError{Namespace: "s", Floor: 1 << 52, Wait: 7},
		&driver.DurabilityError{Setting: "a", Value: "b", Want: "c"},
		driver.ErrNotHeld,
		driver.ErrForgotten,
		driver.ErrLocked,
	} {
		for _, store.err = range []error{sent, fmt.Errorf("in other words: %w", sent)} {
			for verb, got := range verbs(t.Context(), client) {
				if got.Error() != store.err.Error() {
					t.Errorf("%s: %v, want %v", verb, got, store.err)
				}
				if target := reflect.New(reflect.TypeOf(sent)); !errors.As(got, target.Interface()) || !reflect.DeepEqual(target.Elem().Interface(), sent) {
					t.Errorf("%s: %#v, want %#v", verb, target.Elem(), sent)
				}
				for _, is := range []error{driver.ErrNotHeld, driver.ErrForgotten, driver.ErrLocked, driver.ErrNoWorkerID} {
					if errors.Is(got, is) != errors.Is(store.err, is) {
						t.Errorf("%s: %v is %v: %v", verb, got, is, errors.Is(got, is))
					}
				}
				if driver.IsPermanent(got) != driver.IsPermanent(store.err) {
					t.Errorf("%s: %v is permanent: %v", verb, got, driver.IsPermanent(got))
				}
			}
		}
	}
	for _, store.err = range []error{errors.New("disk full"), context.DeadlineExceeded} {
		for verb, got := range verbs(t.Context(), client) {
			var failed *StoreError
			if !errors.As(got, &failed) || failed.Status != http.StatusInternalServerError || !strings.Contains(got.Error(), store.err.Error()) || typed(got) || errors.Is(got, context.DeadlineExceeded) {
				t.Errorf("%s: %#v", verb, got)
			}
		}
	}
	store.err = nil
	if n, err := client.Reserve(t.Context(), "n", 7); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// A verb that the handler does not offer is errors.ErrUnsupported; another server's 501 is not.
func TestUnsupported(t *testing.T) {
	h, err := NewHandler(memstore.New(memstore.Config{}), HandlerConfig{Tokens: []string{secret}})
	if err != nil {
		t.Fatal(err)
	}
	for verb, err := range verbs(t.Context(), open(t, h).client()) {
		if offered := verb == "claim" || verb == "renew" || verb == "release"; errors.Is(err, errors.ErrUnsupported) == offered {
			t.Errorf("%s: %v", verb, err)
		}
	}
	stranger := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotImplemented) })
	for verb, err := range verbs(t.Context(), open(t, stranger).client()) {
		if errors.Is(err, errors.ErrUnsupported) || !driver.IsPermanent(err) {
			t.Errorf("%s, of another server: %v", verb, err)
		}
	}
}

// Whatever a server sends, read returns a result or an error.
func FuzzAnswer(f *testing.F) {
	f.Add(200, []byte(`{"id":"i","result":{"worker_id":0,"fencing_token":1,"start":1,"fence":2}}`))
	f.Add(409, []byte(`{"id":"i","error":{"kind":"not_held","message":"m"}}`))
	f.Add(409, []byte(`{"id":"i","error":{"kind":"no_worker_id","wait":9223372036854775807}}`))
	f.Fuzz(func(t *testing.T, status int, text []byte) {
		result, err := read[driver.Lease](newRedactor(secret), "claim", "i", status, text, maxReply)
		if err == nil {
			if status != http.StatusOK {
				t.Errorf("status %d, %q: %+v", status, text, result)
			}
			return
		}
		_ = err.Error()
		if typed(err) && (status < 400 || !strings.Contains(string(text), `"`)) {
			t.Errorf("status %d, %q: %v", status, text, err)
		}
	})
}

// The handler answers every request, whatever it contains.
func FuzzRequest(f *testing.F) {
	f.Add("claim", `{"id":"i","request":{"namespace":"s"}}`)
	f.Add("list", `{"id":"i","request":{}}`)
	store := memstore.New(memstore.Config{})
	h, err := NewHandler(store, HandlerConfig{Tokens: []string{secret}, Admin: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, verb, body string) {
		status, text := post(h, verb, body)
		if status >= 500 && status != http.StatusNotImplemented || text == "" {
			t.Errorf("%s %q: %d %s", verb, body, status, text)
		}
	})
}
