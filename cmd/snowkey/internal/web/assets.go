package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"net/http"
	"path"
	"time"
)

//go:embed static
var static embed.FS

//go:embed openapi.json
var openAPIText []byte

// mediaTypes replaces package mime, whose table depends on the machine.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// page serves the files of the page. Their names do not change between versions, so
// browsers revalidate them each time and mostly get a 304.
func page(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path
	if name == "/" {
		name = "/index.html"
	}
	text, err := static.ReadFile("static" + name)
	w.Header().Set("Cache-Control", "no-store") // of an error
	switch {
	case err != nil || r.URL.Path == "/index.html": // the page has one address
		http.Error(w, "Not found. The page is at /.", http.StatusNotFound)
	case !allows(w, r, []string{http.MethodGet, http.MethodHead}):
		http.Error(w, "The method must be GET or HEAD.", http.StatusMethodNotAllowed)
	default:
		serve(w, r, mediaTypes[path.Ext(name)], text)
	}
}

func serve(w http.ResponseWriter, r *http.Request, media string, text []byte) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", fmt.Sprintf(`"%.16x"`, sha256.Sum256(text)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// openAPI serves the description of the API. It takes no parameters.
func (s *server) openAPI(p *params, w http.ResponseWriter, r *http.Request) (any, error) {
	if err := p.end(); err != nil {
		return nil, err
	}
	serve(w, r, "application/json; charset=utf-8", openAPIText)
	return nil, nil
}
