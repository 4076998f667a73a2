package worker_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker/driver"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/httpstore"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// refused is a client of any kind that gets one answer.
type refused struct {
	status int
	err    error
}

func (r refused) RoundTrip(q *http.Request) (*http.Response, error) {
	if r.err != nil {
		return nil, r.err
	}
	return &http.Response{StatusCode: r.status, Request: q, Header: http.Header{}, Body: io.NopCloser(bytes.NewBufferString("no"))}, nil
}

func (r refused) Connect(context.Context) (sqldriver.Conn, error) { return nil, r.err }
func (r refused) Driver() sqldriver.Driver                        { return nil }

func (r refused) Eval(context.Context, string, []string, ...any) (any, error) { return nil, r.err }

// state is an error of PostgreSQL's drivers.
type state string

func (s state) Error() string    { return "SQLSTATE " + string(s) }
func (s state) SQLState() string { return string(s) }

// own is an error of a store from another module.
type own bool

func (own) Error() string     { return "its own" }
func (o own) Permanent() bool { return bool(o) }

// An error that lasts until an operator acts is returned at once, not after ClaimWait; after an error
// that may pass, Acquire tries again.
func TestAcquireDoesNotRepeatWhatCannotChange(t *testing.T) {
	inWorld(t, func(w *world) {
		const token = "from-the-secret-store"
		over := func(r refused) driver.Store {
			return mustNew(httpstore.New(httpstore.Config{URL: "https://ids.internal/leases", Token: token, Client: &http.Client{Transport: r}}))
		}
		db := func(err error, cfg sqlstore.Config) driver.Store {
			pool := sql.OpenDB(refused{err: err})
			w.Cleanup(func() { _ = pool.Close() })
			return mustNew(sqlstore.New(pool, cfg))
		}
		redis := func(text string) driver.Store {
			return mustNew(redisstore.New(refused{err: errors.New(text)}.Eval, redisstore.Config{}))
		}
		for name, c := range map[string]struct {
			store driver.Store
			want  string
			again bool
		}{
			"a wrong token":          {over(refused{status: 401}), "set Token to one that the server accepts", false},
			"no right":               {over(refused{status: 403}), "set Token", false},
			"a wrong path":           {over(refused{status: 404}), "set URL to that of the handler", false},
			"another server":         {over(refused{status: 302}), "set URL", false},
			"no handler of ours":     {over(refused{status: 405}), "405 Method Not Allowed", false},
			"a gateway":              {over(refused{status: 502}), "502 Bad Gateway", true},
			"a server that starts":   {over(refused{status: 503}), "503", true},
			"too many requests":      {over(refused{status: 429}), "429", true},
			"a page with 200":        {over(refused{status: 200}), "not the answer of a lease store", true},
			"a stranger's key":       {over(refused{err: &tls.CertificateVerificationError{Err: errors.New("unknown authority")}}), "must trust the issuer", false},
			"no TLS":                 {over(refused{err: http.ErrSchemeMismatch}), "must begin with http://", false},
			"no connection":          {over(refused{err: errNetwork}), errNetwork.Error(), true},
			"a zero store":           {new(sqlstore.Store), "must come from sqlstore.New", false},
			"a wrong password":       {db(state("28P01"), sqlstore.Config{Dialect: ddl.Postgres}), "28P01", false},
			"no such database":       {db(fmt.Errorf("connect: %w", state("3D000")), sqlstore.Config{}), "3D000", false},
			"MySQL's password":       {db(&mysql.MySQLError{Number: 1045, Message: "Access denied for user"}, sqlstore.Config{}), "Access denied", false},
			"SQLite's file":          {db(errors.New("unable to open database file: out of memory (14)"), sqlstore.Config{}), "unable to open", false},
			"a database that starts": {db(state("57P03"), sqlstore.Config{}), "57P03", true},
			"too many connections":   {db(&mysql.MySQLError{Number: 1040, Message: "Too many connections"}, sqlstore.Config{}), "1040", true},
			"Redis's password":       {redis("WRONGPASS invalid username-password pair or user is disabled."), "WRONGPASS", false},
			"Redis without one":      {redis("NOAUTH Authentication required."), "NOAUTH", false},
			"Redis that starts":      {redis("LOADING Redis is loading the dataset in memory"), "LOADING", true},
			"a store of one's own":   {&flaky{down: fmt.Errorf("in other words: %w", own(true))}, "its own", false},
			"and what may pass":      {&flaky{down: own(false)}, "its own", true},
		} {
			began := time.Now()
			_, err := w.keep(worker.Acquire(w.Context(), c.store, w.cfg))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), token) {
				w.Errorf("%s: %v, want %q", name, err, c.want)
			}
			// The last attempt begins within ClaimWait, 5 s, and may take its Timeout, 3 s.
			if took := time.Since(began); (took > 0) != c.again || took > 8*time.Second {
				w.Errorf("%s: given up after %v: %v", name, took, err)
			}
		}
	})
}

// mustNew returns a store that New has made.
func mustNew[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}
