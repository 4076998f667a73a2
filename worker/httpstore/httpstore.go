package httpstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/hung"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Config configures New. URL and Token are required.
type Config struct {
	// URL is the URL of the handler, such as "https://ids.internal/leases".
	URL string
	// Token is one of HandlerConfig.Tokens.
	Token string
	// Client sends the requests. It is copied; the copy follows no redirect and keeps no
	// cookies. Nil: a client with http.DefaultTransport.
	Client *http.Client
}

// A Store is a client of the store that a handler offers. Make it with New; every method of a
// nil or zero Store returns a *core.ConfigError. All methods are safe for concurrent use.
type Store struct {
	base    string
	token   string
	redact  redactor
	client  http.Client
	calls   hung.Calls
	limiter driver.Limiter
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.Admin   = (*Store)(nil)
	_ driver.Counter = (*Store)(nil)
)

// New returns a client, or a *core.ConfigError. It does not connect.
func New(cfg Config) (*Store, error) {
	var wrong fields.Errors
	checkURL(&wrong, cfg.URL)
	checkToken(&wrong, "Token", cfg.Token)
	if err := wrong.Err("httpstore"); err != nil {
		return nil, err
	}
	s := &Store{base: strings.TrimRight(cfg.URL, "/") + "/v1/", token: cfg.Token, redact: newRedactor(cfg.Token)}
	s.redact.public = letters(s.base)
	if cfg.Client != nil {
		s.client = *cfg.Client
	}
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.client.Jar = nil
	return s, nil
}

func checkURL(wrong *fields.Errors, text string) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		wrong.Add("URL", text, "must be a URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		wrong.Add("URL", u.Redacted(), "must begin with https:// or http:// and name a host")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		wrong.Add("URL", u.Redacted(), "must have no user, query or fragment")
	}
}

// ask sends a request, once, when the limiter lets it, and returns its result. An answer of more than limit bytes is an
// error.
func ask[Q, A any](ctx context.Context, s *Store, verb string, request Q, limit int64) (result A, err error) {
	if s == nil || s.base == "" {
		return result, fields.Error("httpstore", "Store", nil, "must come from httpstore.New")
	}
	err = s.limiter.Do(ctx, func() error {
		result, err = send[Q, A](ctx, s, verb, request, limit)
		return err
	})
	return result, err
}

// send is ask without the limiter.
func send[Q, A any](ctx context.Context, s *Store, verb string, request Q, limit int64) (result A, err error) {
	q := question[Q]{ID: rand.Text(), Request: &request}
	body, err := json.Marshal(q)
	if err != nil {
		return result, fmt.Errorf("httpstore: %s: %w", verb, err)
	}
	sent, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+verb, bytes.NewReader(body))
	if err != nil {
		return result, fmt.Errorf("httpstore: %s: %w", verb, err)
	}
	sent.Header.Set("Authorization", "Bearer "+s.token)
	sent.Header.Set("Content-Type", "application/json")
	sent.Header.Set("Accept", "application/json")
	return hung.Do(ctx, &s.calls, "httpstore: "+verb, func() (result A, err error) {
		got, err := s.do(sent)
		if err != nil {
			return result, s.failed(ctx, verb, err)
		}
		defer got.Body.Close()
		text, err := io.ReadAll(io.LimitReader(got.Body, limit+1))
		if err != nil {
			return result, s.failed(ctx, verb, err)
		}
		return read[A](s.redact, verb, q.ID, got.StatusCode, text, limit)
	})
}

// do sends a request. A panic of the client becomes an error, because its text may have the token.
func (s *Store) do(r *http.Request) (got *http.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the client panicked: " + s.redact.hide(fmt.Sprint(p)))
		}
	}()
	return s.client.Do(r)
}

// read returns the result or the error in an answer, if it answers this request.
func read[A any](redact redactor, verb, id string, status int, text []byte, limit int64) (result A, err error) {
	strange := func(why string) error { // the answer of something else
		shown := redact.quote(string(text[:min(len(text), maxSearched)]))
		return &StoreError{Verb: verb, Status: status, Message: why + ": " + shown}
	}
	if int64(len(text)) > limit {
		return result, strange(fmt.Sprintf("the answer has more than %d bytes", limit))
	}
	var a answer[A]
	if err := decode(bytes.NewReader(text), &a, false); err != nil {
		return result, strange("this is not the answer of a lease store (" + err.Error() + ")")
	}
	if a.ID != id {
		if a.ID == "" && a.Error != nil && status >= 400 { // the server has not read the id
			return result, &StoreError{Verb: verb, Status: status, Message: redact.hide(a.Error.Message)}
		}
		return result, strange("this is the answer to another request")
	}
	switch {
	case a.Error != nil && a.Result == nil && status >= 400:
		if l, ok := any(&result).(*driver.Lease); ok {
			l.FloorRaised = a.Error.FloorRaised
		}
		a.Error.Message = redact.hidden.Replace(a.Error.Message) // the handler's own words, so no part of the token
		return result, a.Error.decoded(verb, status)
	case a.Error == nil && a.Result != nil && status == http.StatusOK:
		return *a.Result, nil
	}
	return result, strange("this is neither a result nor an error")
}

// failed wraps an error of the client. If the context is done, the error is the context's.
func (s *Store) failed(ctx context.Context, verb string, err error) error {
	if text := s.redact.hide(err.Error()); text != err.Error() && !errors.As(err, new(*net.OpError)) {
		err = errors.New(text) // it quotes the answer; a *net.OpError never does
	}
	if done := ctx.Err(); done != nil && !errors.Is(err, done) {
		return fmt.Errorf("httpstore: %s: %w: %v", verb, done, err) //nolint:errorlint // the context's error counts
	}
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &untrusted):
		return driver.Permanent(fmt.Errorf("httpstore: %s: %w; this machine, or Config.Client, must trust the issuer of the certificate, and the URL must have the name in it", verb, err))
	case errors.Is(err, http.ErrSchemeMismatch):
		return driver.Permanent(fmt.Errorf("httpstore: %s: %w; the URL must begin with http://", verb, err))
	}
	return fmt.Errorf("httpstore: %s: %w", verb, err)
}

// Claim implements driver.Store.
func (s *Store) Claim(ctx context.Context, c driver.Claim) (driver.Lease, error) {
	if err := c.Validate(); err != nil {
		return driver.Lease{}, err
	}
	return ask[driver.Claim, driver.Lease](ctx, s, "claim", c, maxReply)
}

// Renew implements driver.Store.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	l, err := ask[driver.Renewal, driver.Lease](ctx, s, "renew", r, maxReply)
	if err == nil && (l.Worker != r.Worker || l.FencingToken != r.FencingToken) {
		return driver.Lease{}, fmt.Errorf("httpstore: renew: the server returned another lease: worker ID %d with fencing token %d, not %d with %d", l.Worker, l.FencingToken, r.Worker, r.FencingToken)
	}
	return l, err
}

// Release implements driver.Store.
func (s *Store) Release(ctx context.Context, r driver.Release) error {
	_, err := ask[driver.Release, nothing](ctx, s, "release", r, maxReply)
	return err
}

// List implements driver.Admin. If the handler or its store does not offer it, the error
// matches errors.ErrUnsupported.
func (s *Store) List(ctx context.Context, namespace string) (driver.State, error) {
	if err := driver.CheckNamespace(namespace); err != nil {
		return driver.State{}, err
	}
	return ask[listRequest, driver.State](ctx, s, "list", listRequest{Namespace: namespace}, maxList)
}

// Free implements driver.Admin. If the handler or its store does not offer it, the error
// matches errors.ErrUnsupported.
func (s *Store) Free(ctx context.Context, namespace string, workerID, fencingToken int64) error {
	if err := driver.CheckNamespace(namespace); err != nil {
		return err
	}
	_, err := ask[freeRequest, nothing](ctx, s, "free", freeRequest{Namespace: namespace, Worker: workerID, FencingToken: fencingToken}, maxReply)
	return err
}

// Raise implements driver.Admin. If the handler or its store does not offer it, the error
// matches errors.ErrUnsupported.
func (s *Store) Raise(ctx context.Context, namespace string, fenceWindow int64) (driver.Namespace, error) {
	if err := driver.CheckNamespace(namespace); err != nil {
		return driver.Namespace{}, err
	}
	return ask[raiseRequest, driver.Namespace](ctx, s, "raise", raiseRequest{Namespace: namespace, FenceWindow: fenceWindow}, maxReply)
}

// Reserve implements driver.Counter: it takes the n numbers first to first+n-1 of a key. If the
// store of the handler does not, the error matches errors.ErrUnsupported. If the answer is lost,
// the numbers are taken and never used.
func (s *Store) Reserve(ctx context.Context, key string, n int64) (first int64, err error) {
	if err := driver.CheckReservation(key, n); err != nil {
		return 0, err
	}
	result, err := ask[reserveRequest, reserveResult](ctx, s, "reserve", reserveRequest{Key: key, N: n}, maxReply)
	if err == nil && result.First < 1 {
		err = fmt.Errorf("httpstore: reserve %d numbers of key %q: the server returned %d", n, key, result.First)
	}
	if err != nil {
		return 0, err
	}
	return result.First, nil
}
