package web

import (
	"net/http"
	"strings"
	"testing"
)

// /api answers browsers with a page and programs with JSON; the page's files have one address each.
func TestReference(t *testing.T) {
	h := handler(t, Config{})
	for name, c := range map[string]struct {
		method, path, accept string
		status               int
		media, text          string
	}{
		"a browser":        {http.MethodGet, "/api", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", 200, "text/html; charset=utf-8", `id="reference"`},
		"curl":             {http.MethodGet, "/api", "*/*", 200, "application/json; charset=utf-8", `"openapi": "3.1.0"`},
		"no Accept":        {http.MethodGet, "/api", "", 200, "application/json; charset=utf-8", `"openapi": "3.1.0"`},
		"HEAD":             {http.MethodHead, "/api", "text/html", 200, "text/html; charset=utf-8", ""},
		"POST":             {http.MethodPost, "/api", "text/html", 405, "text/plain; charset=utf-8", "must be GET or HEAD"},
		"our script":       {http.MethodGet, "/reference/reference.js", "", 200, "text/javascript; charset=utf-8", "SwaggerUIBundle"},
		"Swagger's script": {http.MethodGet, "/reference/swagger-ui-bundle.js", "", 200, "application/javascript", "swagger-ui-bundle.js.LICENSE"},
		"the page again":   {http.MethodGet, "/reference/index.html", "", 404, "text/plain; charset=utf-8", "404 page not found"},
		"a folder":         {http.MethodGet, "/reference/", "", 404, "text/plain; charset=utf-8", "404 page not found"},
		"above the folder": {http.MethodGet, "/reference/../openapi.json", "", 404, "text/plain; charset=utf-8", "404 page not found"},
	} {
		t.Run(name, func(t *testing.T) {
			w := ask(h, c.method, c.path, "", "Accept", c.accept)
			if w.Code != c.status || w.Header().Get("Content-Type") != c.media || !strings.Contains(w.Body.String(), c.text) {
				t.Errorf("%d %s %.200s", w.Code, w.Header().Get("Content-Type"), w.Body)
			}
			csp := w.Header().Get("Content-Security-Policy")
			if page := c.path == "/api" && c.media == mediaTypes[".html"]; strings.Contains(csp, "trusted-types") == page || strings.Contains(csp, "script-src 'self' 'unsafe") {
				t.Errorf("the policy is %s", csp)
			}
		})
	}
}
