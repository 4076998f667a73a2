package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed static
var static embed.FS

//go:embed openapi.json
var openAPIText []byte

// mediaTypes stand here because what mime knows depends on the machine.
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

// assets are the files of the page. They keep their names from version to version, so
// browsers ask each time whether theirs is the present one; mostly the answer is 304.
type assets map[string]asset

func newAssets() (assets, error) {
	all := assets{}
	err := fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		media := mediaTypes[path.Ext(name)]
		if media == "" {
			return fmt.Errorf("web: the embedded file %s is of no known type", name)
		}
		all[strings.TrimPrefix(name, "static")] = asset{media: media, tag: tagOf(text), text: text}
		return nil
	})
	return all, err
}

func tagOf(text []byte) string { return fmt.Sprintf(`"%.16x"`, sha256.Sum256(text)) }

func (a assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path
	if name == "/" {
		name = "/index.html"
	}
	file, ok := a[name]
	if !ok || r.URL.Path == "/index.html" { // the page has one address
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, "There is nothing here. The page is at /.", http.StatusNotFound)
		return
	}
	if !allows(w, r, []string{http.MethodGet, http.MethodHead}) {
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, "The method must be GET or HEAD.", http.StatusMethodNotAllowed)
		return
	}
	serve(w, r, file)
}

func serve(w http.ResponseWriter, r *http.Request, file asset) {
	w.Header().Set("Content-Type", file.media)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", file.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file.text))
}

// openAPI serves the description of the API, which has no parameters either.
func openAPI(w http.ResponseWriter, r *http.Request) error {
	if err := newParams(r).end(); err != nil {
		return err
	}
	serve(w, r, asset{media: "application/json; charset=utf-8", tag: tagOf(openAPIText), text: openAPIText})
	return nil
}
