package httpstore

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

func claim() driver.Claim {
	return driver.Claim{
		Namespace: "s", Layout: "l", WorkerIDs: 4, Preferred: -1, Exclude: -1, ClaimID: fmt.Sprintf("%016x", rand.Uint64()), Owner: "o",
		Now: time.Now().UnixMilli(), FenceWindow: 30_000,
	}
}

// verbs calls each method once.
func verbs(ctx context.Context, s *Store) map[string]error {
	_, claimed := s.Claim(ctx, claim())
	_, renewed := s.Renew(ctx, driver.Renewal{Namespace: "s", ClaimID: "t"})
	_, raised := s.Raise(ctx, "s", 0)
	_, list := s.List(ctx, "s")
	_, reserve := s.Reserve(ctx, "s", 1)
	return map[string]error{
		"claim": claimed, "renew": renewed, "raise": raised, "list": list, "reserve": reserve, "free": s.Free(ctx, "s", 0, 1),
		"release": s.Release(ctx, driver.Release{Namespace: "s", ClaimID: "t"}),
	}
}

// typed reports whether an error is one that the lease acts upon.
func typed(err error) bool {
	var config *core.ConfigError
	var skew *driver.SkewError
	var layout *driver.LayoutError
	var window *driver.WindowError
	var floor *driver.FloorError
	return errors.Is(err, driver.ErrNotHeld) || errors.Is(err, driver.ErrLocked) || errors.As(err, &window) || errors.As(err, &floor) || errors.Is(err, driver.ErrNoWorkerID) || errors.Is(err, core.ErrLost) ||
		errors.As(err, &config) || errors.As(err, &skew) || errors.As(err, &layout)
}

// What does not come from a lease store, or is the answer to something else, is
// neither a worker ID nor the loss of one; and it is asked once.
func TestStrangeAnswers(t *testing.T) {
	echo := func(status int, format string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var q question[json.RawMessage]
			_ = json.NewDecoder(r.Body).Decode(&q)
			w.WriteHeader(status)
			fmt.Fprint(w, strings.ReplaceAll(format, "ID", q.ID))
		}
	}
	const good = `{"worker_id":0,"fencing_token":1,"start":1,"fence":2}`
	for what, answer := range map[string]http.HandlerFunc{
		"empty":            echo(200, ``),
		"a proxy's 409":    echo(409, `<html>Conflict</html>`),
		"a bad gateway":    echo(502, `{"error":{"kind":"not_held","message":"m"}}`),
		"no id":            echo(200, `{"result":`+good+`}`),
		"another id":       echo(200, `{"id":"IDx","result":`+good+`}`),
		"a stale loss":     echo(409, `{"id":"x","error":{"kind":"not_held","message":"m"}}`),
		"a loss, no id":    echo(409, `{"error":{"kind":"not_held","message":"m"}}`),
		"a loss as 200":    echo(200, `{"id":"ID","error":{"kind":"not_held","message":"m"}}`),
		"both":             echo(409, `{"id":"ID","result":`+good+`,"error":{"kind":"not_held","message":"m"}}`),
		"neither":          echo(200, `{"id":"ID"}`),
		"a failing result": echo(500, `{"id":"ID","result":`+good+`}`),
		"an unknown kind":  echo(409, `{"id":"ID","error":{"kind":"?","message":"m"}}`),
		"cut off":          echo(200, `{"id":"ID","result":{"worker_id":0,"fenc`),
		"more behind":      echo(200, `{"id":"ID","result":`+good+`}{}`),
		"a fraction":       echo(200, `{"id":"ID","result":{"worker_id":0.5,"fencing_token":1,"start":1,"fence":2,"first":0.5,"records":0.5}}x`),
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		},
		"an endless one": func(w http.ResponseWriter, _ *http.Request) {
			for err := error(nil); err == nil; {
				_, err = w.Write(make([]byte, 4096))
			}
		},
		"a hang-up": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(what, func(t *testing.T) {
			var asked atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				answer(w, r)
			}))
			errs := verbs(t.Context(), mustNew(New(Config{URL: server.URL, Token: secret, Client: server.Client()})))
			for verb, err := range errs {
				if err == nil || typed(err) || !strings.HasPrefix(err.Error(), "httpstore: ") || len(err.Error()) > 1500 || strings.Contains(err.Error(), secret) {
					t.Errorf("%s, %s: %v", what, verb, err)
				}
			}
			if n := asked.Load(); n != int64(len(errs)) {
				t.Errorf("%s: %d requests for %d calls", what, n, len(errs))
			}
			server.Close()
		})
	}
}

// A long answer of something else is not searched for the token to its end, which would take minutes.
func TestLongAnswer(t *testing.T) {
	page := []byte(strings.Repeat("the quick brown fox jumps over the lazy dog\n", 25_000))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for err := error(nil); err == nil; {
			_, err = w.Write(page)
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := mustNew(New(Config{URL: server.URL, Token: strings.Repeat(secret, 10)})).List(ctx, "s")
	if failed := new(StoreError); !errors.As(err, &failed) || !strings.Contains(err.Error(), `the quick brown fox`) {
		t.Error(err)
	}
}

// An answer below 1 is an error, as no counter gives it. A request without n is refused.
func TestReserveAnswers(t *testing.T) {
	for _, result := range []string{`{}`, `{"first":0}`, `{"first":-7}`} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var q question[json.RawMessage]
			_ = json.NewDecoder(r.Body).Decode(&q)
			fmt.Fprintf(w, `{"id":%q,"result":%s}`, q.ID, result)
		}))
		defer server.Close()
		first, err := mustNew(New(Config{URL: server.URL, Token: secret})).Reserve(t.Context(), "a", 5)
		if first != 0 || err == nil || !strings.Contains(err.Error(), `reserve 5 numbers of key "a": the server returned`) {
			t.Errorf("%s: %d, %v", result, first, err)
		}
	}
	status, text := post(handlerOf(t, &failing{}), "reserve", `{"id":"i","request":{"key":"a"}}`)
	if status != http.StatusBadRequest || !strings.Contains(text, `the field \"n\" is missing`) {
		t.Errorf("%d %s", status, text)
	}
}

// A renewal whose answer is another lease has not succeeded.
func TestRenewAnswers(t *testing.T) {
	for result, ok := range map[string]bool{
		`{"worker_id":7,"fencing_token":3,"start":1,"fence":9}`: true, `{"worker_id":8,"fencing_token":3,"start":1,"fence":9}`: false, `{"worker_id":7,"fencing_token":4,"start":1,"fence":9}`: false, `{}`: false,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var q question[json.RawMessage]
			_ = json.NewDecoder(r.Body).Decode(&q)
			fmt.Fprintf(w, `{"id":%q,"result":%s}`, q.ID, result)
		}))
		defer server.Close()
		l, err := mustNew(New(Config{URL: server.URL, Token: secret})).Renew(t.Context(), driver.Renewal{Namespace: "s", Worker: 7, ClaimID: "t", FencingToken: 3})
		if (err == nil) != ok || (l.Fence == 9) != ok {
			t.Errorf("%s: %+v, %v", result, l, err)
		}
	}
}

// drained is closed when its lease has nothing left to release.
type drained struct {
	*Store
	closed chan struct{}
}

func (d drained) CloseWithGenerator() error {
	close(d.closed)
	return nil
}

// A claim that does not match the request is an error of the lease, which releases it with its
// fence as it is, unless the answer is nonsense.
func TestImpossibleClaims(t *testing.T) {
	now := time.Now().UnixMilli()
	sane := fmt.Sprintf(`"start":%d,"fence":%d`, now, now+30_000)
	for result, released := range map[string]bool{
		`{}`: false, `{"worker_id":4,"fencing_token":1,` + sane + `}`: true, `{"worker_id":-1,"fencing_token":1,` + sane + `}`: true, `{"worker_id":2,"fencing_token":1,` + sane + `}`: true,
		`{"worker_id":0,"fencing_token":0,` + sane + `}`: true, `{"worker_id":0,"fencing_token":1,"start":2,"fence":2}`: false,
		`{"worker_id":0,"fencing_token":1}`: false,
	} {
		var releases []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var q question[json.RawMessage]
			_ = json.NewDecoder(r.Body).Decode(&q)
			answer := result
			if strings.HasSuffix(r.URL.Path, "/release") {
				releases = append(releases, string(*q.Request))
				answer = "{}"
			}
			fmt.Fprintf(w, `{"id":%q,"result":%s}`, q.ID, answer)
		}))
		preferred := int64(0)
		store := drained{mustNew(New(Config{URL: server.URL, Token: secret})), make(chan struct{})}
		gen, err := worker.Open(t.Context(), store, worker.Config{
			Layout: core.Layout{Epoch: core.Twitter().Epoch, TimeBits: 41, WorkerBits: 2, SequenceBits: 12}, Preferred: &preferred, RequirePreferred: true, ClaimWait: -1,
		})
		if err == nil || !strings.Contains(err.Error(), "does not match the claim") {
			t.Errorf("%s: %v, %v", result, gen, err)
		}
		<-store.closed
		server.Close()
		if len(releases) > 1 || (len(releases) == 1) != released || released && !strings.Contains(releases[0], fmt.Sprintf(`"unused":%d`, now+30_000)) {
			t.Errorf("%s: released by %q", result, releases)
		}
	}
}

func TestTokens(t *testing.T) {
	for header, want := range map[string]int{
		"": 401, "Bearer " + secret[1:]: 401, "Bearer " + strings.ToUpper(secret): 401, "Bearer": 401, "Bearer ": 401, secret: 401, "Basic " + secret: 401, "Bearer " + secret: 400, "bearer another-token-of-the-server": 400, "Bearer " + secret + " x": 401,
	} {
		r := httptest.NewRequest(http.MethodPost, "/v1/claim", strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", header)
		w := httptest.NewRecorder()
		handlerOf(t, memstore.New(memstore.Config{})).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%q: %d, want %d", header, w.Code, want)
		}
	}
}

// A malformed request does not reach the store.
func TestBadRequests(t *testing.T) {
	h := handlerOf(t, &failing{err: errors.New("it was asked")})
	const fields = `"namespace":"s","worker_id":0,"claim_id":"t","fencing_token":1,"fence_window":1,"keep":false`
	const good = `{"id":"i","request":{` + fields + `}}`
	with := func(old, by string) string { return strings.Replace(good, old, by, 1) }
	for _, c := range []struct {
		method, path, media, body string
		want                      int
	}{
		{"POST", "/v1/renew", "application/json; charset=utf-8", good, 500}, // this is one
		{"GET", "/v1/renew", "application/json", ``, 405},
		{"POST", "/v1/steal", "application/json", `{}`, 404},
		{"POST", "/v2/renew", "application/json", good, 404}, // of a newer client
		{"POST", "/v1/renew", "text/plain", good, 415},
		{"POST", "/v1/renew", "", good, 415},
		{"POST", "/v1/renew", "application/json", with(`"s"`, `"`+strings.Repeat("x", maxRequest)+`"`), 413},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.media)
		r.Header.Set("Authorization", "Bearer "+secret)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want || (w.Code == 500) != strings.Contains(w.Body.String(), "it was asked") {
			t.Errorf("%s %s %.80s: %d %.200s", c.method, c.path, c.body, w.Code, w.Body)
		}
	}
	for _, body := range []string{
		``, `{"id":"i"}`, `{"id":"i","request":[]}`, good + ` {}`, with(`"i"`, `""`), with(`"i"`, `"`+strings.Repeat("i", 65)+`"`), with(`"keep"`, `"force":true,"keep"`),
		with(`,"fence_window":1`, ``), with(`"worker_id":0`, `"worker_id":null`), with(`"worker_id"`, `"Worker_ID"`), with(`"fence_window":1`, `"fence_window":1e400`), with(`"fence_window":1`, `"fence_window":9223372036854775808`),
	} {
		if status, text := post(h, "renew", body); status != http.StatusBadRequest {
			t.Errorf("%.80s: %d %.200s", body, status, text)
		}
	}
}

// The wire has all fields of package driver, also those of what is inside others.
func TestWire(t *testing.T) {
	numbers := int64(0)
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).Name != "Index" { // it is not on the wire
					fill(v.Field(i))
				}
			}
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			fill(v.Index(0))
			fill(v.Index(1))
		case reflect.Bool:
			v.SetBool(true)
		case reflect.String:
			numbers++
			v.SetString(fmt.Sprint(numbers))
		default:
			numbers++
			v.SetInt(numbers)
		}
	}
	var c driver.Claim
	fill(reflect.ValueOf(&c).Elem())
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeRequest[driver.Claim](text); err != nil || got != c {
		t.Errorf("%+v, %v, want %+v", got, err, c)
	}
	without := strings.Replace(string(text), `,"unused":`, `,"used":`, 1)
	if _, err := decodeRequest[driver.Claim]([]byte(without)); err == nil || !strings.Contains(err.Error(), `the field "unused" is missing`) {
		t.Errorf("%s: %v", without, err)
	}
	var st driver.State
	fill(reflect.ValueOf(&st).Elem())
	st.Locked = nil // is of one call
	if text, err = json.Marshal(st); err != nil {
		t.Fatal(err)
	}
	var sent driver.State
	if err := json.Unmarshal(text, &sent); err != nil || !reflect.DeepEqual(sent, st) {
		t.Errorf("%+v, %v, want %+v", sent, err, st)
	}
}

func TestConfigFaults(t *testing.T) {
	for want, cfg := range map[string]Config{
		`URL "": must begin with`:             {Token: secret},
		`URL "ftp://h": must begin`:           {URL: "ftp://h", Token: secret},
		`must have no user`:                   {URL: "http://u:password@h", Token: secret},
		`URL "http://h?a": must have no user`: {URL: "http://h?a", Token: secret},
		`Token of 0 bytes: must have 16`:      {URL: "http://h"},
		`Token of 17 bytes: must have 16`:     {URL: "http://h", Token: "a secret of yours"},
		`; Token of 0 bytes`:                  {},
	} {
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "password") || strings.Contains(err.Error(), "a secret") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	var config *core.ConfigError
	for _, s := range []*Store{nil, {}} {
		for verb, err := range verbs(t.Context(), s) {
			if !errors.As(err, &config) || config.Fields[0].Field != "Store" {
				t.Errorf("%s: %v", verb, err)
			}
		}
	}
	h, err := NewHandler((*memstore.Store)(nil), HandlerConfig{Tokens: []string{"short"}, Timeout: -1})
	if h != nil || !errors.As(err, &config) || len(config.Fields) != 3 || strings.Contains(err.Error(), "short") {
		t.Errorf("%v, %v", h, err)
	}
	if _, err := NewHandler(memstore.New(memstore.Config{}), HandlerConfig{}); !errors.As(err, &config) || config.Fields[0].Field != "Tokens" {
		t.Error(err)
	}
}

// A gateway that repeats the request's headers in its answer, in whatever form, does not bring the
// token into an error.
func TestEchoedToken(t *testing.T) {
	const token = `tok+en/0123456789~"<&>\x=`
	lines := func(text string) string { return strings.Join(strings.SplitAfter(text, "0123"), "\n\t") }
	for what, echo := range map[string]func(header string) string{
		"literal": func(h string) string { return "Authorization: " + h },
		"quoted":  strconv.Quote,
		"JSON": func(h string) string {
			text, _ := json.Marshal(map[string]string{"Authorization": h})
			return string(text)
		},
		"our JSON": func(h string) string {
			text, _ := json.Marshal(answer[nothing]{Error: &wireError{Message: h}})
			return string(text)
		},
		"HTML":       func(h string) string { return "<p>" + html.EscapeString(h) + "</p>" },
		"query":      url.QueryEscape,
		"path":       url.PathEscape,
		"lower case": func(h string) string { return strings.ToLower(url.QueryEscape(h)) },
		"base64":     func(h string) string { return base64.StdEncoding.EncodeToString([]byte(h)) },
		"base64, 1":  func(h string) string { return base64.StdEncoding.EncodeToString([]byte("x" + h)) },
		"base64, 2":  func(h string) string { return base64.URLEncoding.EncodeToString([]byte("xx" + h)) },
		"split":      lines,
		"cut off":    func(h string) string { return h[:len(h)-5] },
	} {
		for _, status := range []int{200, 403, 502, 0} {
			t.Run(fmt.Sprint(what, " ", status), func(t *testing.T) {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					text := echo(r.Header.Get("Authorization"))
					if status == 0 { // it is not HTTP
						if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
							fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nAuthorization %s\r\n\r\n", text)
							_ = conn.Close()
						}
						return
					}
					w.WriteHeader(status)
					fmt.Fprint(w, text)
				}))
				defer server.Close()
				for verb, err := range verbs(t.Context(), mustNew(New(Config{URL: server.URL, Token: token, Client: server.Client()}))) {
					if err == nil {
						t.Fatalf("%s: no error", verb)
					}
					said := fmt.Sprintf("%v %+v %#v", err, err, err)
					for _, form := range append(newRedactor(token).forms, token[:10]) {
						if strings.Contains(said, form) || strings.Contains(said, form[:10]) {
							t.Errorf("%s: %q has %q", verb, said, form)
						}
					}
				}
			})
		}
	}
}

// A token of words that are also in the URL or in the server's errors hides none of these.
func TestTokenOfWords(t *testing.T) {
	const token = "leases-of-worker-namespaces-by-connection"
	none := &driver.NoWorkerIDError{Namespace: "s", WorkerIDs: 4, Leased: 4}
	store := &failing{err: fmt.Errorf("connection 7: %w", none)}
	handler := mustNew(NewHandler(store, HandlerConfig{Tokens: []string{token}}))
	server := httptest.NewServer(http.StripPrefix("/leases", handler))
	defer server.Close()
	client := func(url string) *Store { return mustNew(New(Config{URL: url, Token: token})) }
	if _, err := client(server.URL+"/leases").Claim(t.Context(), claim()); err == nil || err.Error() != store.err.Error() {
		t.Errorf("%v, want %v", err, store.err)
	}
	_, err := client(server.URL+"/leases/namespaces").Claim(t.Context(), claim())
	if err == nil || !strings.Contains(err.Error(), `there is no "/namespaces/v1/claim" here`) {
		t.Error(err)
	}
	server.Close()
	_, err = client(server.URL+"/leases").Claim(t.Context(), claim())
	if !errors.Is(err, syscall.ECONNREFUSED) || !strings.Contains(err.Error(), "connection refused") {
		t.Error(err)
	}
}

type panicking struct{}

func (panicking) RoundTrip(r *http.Request) (*http.Response, error) { panic(r.Header) }

// A client that panics with what it was given does not show the token either.
func TestTokenOfAPanic(t *testing.T) {
	const secret = "correct-horse-battery-staple"
	store, err := New(Config{URL: "http://ids", Token: secret, Client: &http.Client{Transport: panicking{}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Reserve(t.Context(), "k", 1); err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "panicked") {
		t.Error(err)
	}
}
