package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
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

type asset struct {
	media, tag string
	text       []byte
}

// assets are the files of the page. Their names do not change between versions, so
// browsers revalidate them each time and mostly get a 304.
type assets map[string]asset

func newAssets() (assets, error) {
	all := assets{}
	files, err := static.ReadDir("static")
	for _, f := range files {
		text, failed := static.ReadFile("static/" + f.Name())
		err = errors.Join(err, failed)
		media := mediaTypes[path.Ext(f.Name())]
		if media == "" {
			err = errors.Join(err, fmt.Errorf("web: the embedded file %s has an unknown type", f.Name()))
		}
		all["/"+f.Name()] = asset{media: media, tag: tagOf(text), text: text}
	}
	return all, err
}

func tagOf(text []byte) string { return fmt.Sprintf(`"%.16x"`, sha256.Sum256(text)) }

func (a assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path
	if name == "/" {
		name = "/index.html"
	}
	file, ok := a[name]
	w.Header().Set("Cache-Control", "no-store") // of an error
	switch {
	case !ok || r.URL.Path == "/index.html": // the page has one address
		http.Error(w, "Not found. The page is at /.", http.StatusNotFound)
	case !allows(w, r, []string{http.MethodGet, http.MethodHead}):
		http.Error(w, "The method must be GET or HEAD.", http.StatusMethodNotAllowed)
	default:
		serve(w, r, file)
	}
}

func serve(w http.ResponseWriter, r *http.Request, file asset) {
	w.Header().Set("Content-Type", file.media)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", file.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file.text))
}

// openAPI serves the description of the API. It takes no parameters.
func (s *server) openAPI(p *params, w http.ResponseWriter, r *http.Request) (any, error) {
	if err := p.end(); err != nil {
		return nil, err
	}
	serve(w, r, asset{media: "application/json; charset=utf-8", tag: tagOf(openAPIText), text: openAPIText})
	return nil, nil
}
