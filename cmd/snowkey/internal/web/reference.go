package web

import (
	"embed"
	"net/http"
	"path"
	"strings"

	swagger "github.com/swaggest/swgui/v5/static"
	"github.com/vearutop/statigz"
)

// The page that shows the API to people. Swagger UI renders it from openapi.json.
//
//go:embed reference
var referenceFiles embed.FS

//go:embed reference/index.html
var referencePage []byte

const referencePath = "/reference/"

// referencePolicy is policy for Swagger UI, which writes markup and draws its icons from data.
const referencePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// reference serves the files below referencePath: our own, then those of Swagger UI.
func reference() http.Handler {
	swaggerUI := http.StripPrefix(strings.TrimSuffix(referencePath, "/"), statigz.FileServer(swagger.FS))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		name := strings.TrimPrefix(r.URL.Path, referencePath)
		kind := path.Ext(name)
		text, err := referenceFiles.ReadFile("reference/" + name)
		switch {
		case kind != ".js" && kind != ".css": // the page is at /api
			http.NotFound(w, r)
		case err == nil:
			serve(w, r, mediaTypes[kind], text)
		default:
			swaggerUI.ServeHTTP(w, r)
		}
	})
}

// describeAPI answers at /api: browsers get the page, programs openapi.json.
func describeAPI(w http.ResponseWriter, r *http.Request) {
	if !allows(w, r, []string{http.MethodGet, http.MethodHead}) {
		http.Error(w, "The method must be GET or HEAD.", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Vary", "Accept")
	if !strings.Contains(r.Header.Get("Accept"), "text/html") { // browsers name it, programs do not
		serve(w, r, "application/json; charset=utf-8", openAPIText)
		return
	}
	w.Header().Set("Content-Security-Policy", referencePolicy)
	serve(w, r, mediaTypes[".html"], referencePage)
}
