package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

const secret = "a-token-of-the-tests"

func handler(t testing.TB, cfg Config) http.Handler {
	t.Helper()
	h, err := New(cfg)
	must(t, err)
	return h
}

// ask sends a request and returns the response; headers are pairs of name and value.
func ask(h http.Handler, method, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, http.NoBody)
	for ; len(headers) > 0; headers = headers[2:] {
		r.Header.Set(headers[0], headers[1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// get decodes the JSON of a response.
func get[T any](t testing.TB, h http.Handler, target string) (body T) {
	t.Helper()
	w := ask(h, http.MethodGet, target)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", target, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatalf("%s: %v in %s", target, err, w.Body)
	}
	return body
}

func TestConfigErrors(t *testing.T) {
	store := memstore.New(memstore.Config{})
	for want, cfg := range map[string]Config{
		"Token of 0 bytes": {Store: store},
		"Token of 5 bytes": {Store: store, Token: "short"},
		"Hosts http://a":   {Store: store, Token: "short", Hosts: []string{"http://a", "b"}},
	} {
		h, err := New(cfg)
		var config *core.ConfigError
		if h != nil || !errors.As(err, &config) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "short") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Every response has the headers, including rejections.
func TestSecurityHeaders(t *testing.T) {
	h := handler(t, Config{Store: memstore.New(memstore.Config{}), Token: secret})
	for _, path := range []string{"/", "/app.js", "/missing", "/api/layouts", "/api/parse?id=x", "/api/missing", LeasesPath + "/v1/claim"} {
		w := ask(h, http.MethodGet, path)
		for name, want := range map[string]string{
			"Content-Security-Policy":      "default-src 'none'; script-src 'self'",
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"X-Frame-Options":              "DENY",
			"Permissions-Policy":           "camera=()",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := w.Header().Get(name); !strings.Contains(got, want) {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s: %v", path, w.Header())
		}
	}
	if strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Error(policy)
	}
}

// The page's files contain no inline script and no URL of another host.
func TestAssets(t *testing.T) {
	files, err := static.ReadDir("static")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	h := handler(t, Config{})
	for _, file := range files {
		name := "/" + file.Name()
		path := name
		if name == "/index.html" {
			path = "/"
		}
		content, err := static.ReadFile("static" + name)
		must(t, err)
		media := mediaTypes[filepath.Ext(name)]
		w := ask(h, http.MethodGet, path)
		tag := w.Header().Get("ETag")
		if w.Code != http.StatusOK || w.Body.Len() != len(content) || tag == "" || w.Header().Get("Cache-Control") != "no-cache" || media == "" || w.Header().Get("Content-Type") != media {
			t.Errorf("%s: %d, %d bytes, %v", path, w.Code, w.Body.Len(), w.Header())
		}
		if w := ask(h, http.MethodGet, path, "If-None-Match", tag); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
			t.Errorf("%s: %d", path, w.Code)
		}
		if w := ask(h, http.MethodHead, path); w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("Content-Length") == "" {
			t.Errorf("HEAD %s: %d, %d bytes", path, w.Code, w.Body.Len())
		}
		if w := ask(h, http.MethodPost, path); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: %d %v", path, w.Code, w.Header())
		}
		text := strings.NewReplacer("http://www.w3.org/2000/svg", "", `<a href="https://`, "").Replace(string(content)) // a link loads nothing
		for _, bad := range []string{"http://", "https://", " style=", "innerHTML", "eval(", " onclick=\"", "<script>", "<style"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s holds %q", name, bad)
			}
		}
	}
	for _, path := range []string{"/index.html", "/static/app.js", "/..%2fweb.go", "/app.js/", "/favicon.ico"} {
		if w := ask(h, http.MethodGet, path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// Cross-site requests reach neither the API nor the leases; links to the page work.
func TestOtherSites(t *testing.T) {
	h := handler(t, Config{Store: memstore.New(memstore.Config{}), Token: secret})
	for path, want := range map[string]int{"/": 200, "/api/ids?worker=1": 403, "/api/layouts": 403, LeasesPath + "/v1/claim": 403} {
		for _, site := range []string{"cross-site", "same-site"} {
			if w := ask(h, http.MethodGet, path, "Sec-Fetch-Site", site, "Authorization", "Bearer "+secret); w.Code != want {
				t.Errorf("%s from %s: %d %s", path, site, w.Code, w.Body)
			}
		}
	}
	for origin, want := range map[string]int{"http://evil.example": 403, "null": 403, "http://example.com.evil.example": 403, "http://example.com": 200} {
		if w := ask(h, http.MethodGet, "/api/parse?id=1", "Origin", origin); w.Code != want {
			t.Errorf("from %s: %d", origin, w.Code)
		}
	}
	for _, site := range []string{"same-origin", "none", ""} {
		if w := ask(h, http.MethodGet, "/api/layouts", "Sec-Fetch-Site", site); w.Code != http.StatusOK {
			t.Errorf("from %q: %d", site, w.Code)
		}
	}
}

// Over loopback, foreign host names are rejected: DNS rebinding.
func TestForeignNames(t *testing.T) {
	server := httptest.NewServer(handler(t, Config{Hosts: []string{"ids.example"}}))
	defer server.Close()
	for host, want := range map[string]int{
		"": 200, "localhost:80": 200, "LOCALHOST": 200, "x.localhost": 200, "127.0.0.1": 200, "[::1]:9": 200, "192.0.2.7:80": 200, "ids.example": 200, "IDS.example.:443": 200,
		"evil.example": 421, "localhost.evil.example": 421, "evil.example:80": 421, "xlocalhost": 421,
	} {
		for _, path := range []string{"/", "/api/layouts"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, http.NoBody)
			must(t, err)
			r.Host = host
			answer, err := server.Client().Do(r)
			must(t, err)
			_ = answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%q: %d, want %d", host, answer.StatusCode, want)
			}
		}
	}
}

func TestMethods(t *testing.T) {
	h := handler(t, Config{})
	for _, c := range []struct{ method, target, allow string }{
		{http.MethodPost, "/api/ids?worker=1", "GET"},
		{http.MethodHead, "/api/ids?worker=1", "GET"}, // it would use up ids
		{http.MethodPost, "/api/layouts", "GET, HEAD"},
		{http.MethodDelete, "/api/parse", "GET, HEAD"},
		{http.MethodOptions, "/api/range", "GET, HEAD"},
		{http.MethodPut, "/api/openapi.json", "GET, HEAD"},
	} {
		if w := ask(h, c.method, c.target); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow %q", c.method, c.target, w.Code, w.Header().Get("Allow"))
		}
	}
	w, whole := ask(h, http.MethodHead, "/api/openapi.json"), ask(h, http.MethodGet, "/api/openapi.json")
	if w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("Content-Length") != fmt.Sprint(whole.Body.Len()) {
		t.Errorf("HEAD: %d, %d bytes, %v", w.Code, w.Body.Len(), w.Header())
	}
}

// A panic is a 500 and a log line, and neither leaks secrets.
func TestPanic(t *testing.T) {
	var log bytes.Buffer
	h := guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a bug") }), nil, slog.New(slog.NewTextHandler(&log, nil)))
	w := ask(h, http.MethodGet, "/api/parse?id=1234567")
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "a bug") || !strings.Contains(log.String(), "a bug") || strings.Contains(log.String(), "1234567") {
		t.Errorf("%d %s\n%s", w.Code, w.Body, &log)
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
