package main

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"net/http"
	"runtime/debug"
	"time"
)

//go:embed page/index.html page/app.js page/style.css
var pageFiles embed.FS

//go:embed openapi.yaml
var openAPI []byte

// patience is how long one request may keep the database busy, or wait for it. The
// tests, which a busy machine may hold up, have more.
var patience = 8 * time.Second

// handler is the whole service: its routes, and around them what all of them need.
func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /orders":         s.list,
		"POST /orders":        s.create,
		"GET /orders/{id}":    s.get,
		"PATCH /orders/{id}":  s.patch,
		"DELETE /orders/{id}": s.remove,
		"GET /healthz":        s.health,
	} {
		mux.Handle(pattern, s.answer(handle))
	}
	mux.HandleFunc("GET /openapi.yaml", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write(openAPI)
	})
	files, err := fs.Sub(pageFiles, "page")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	static := http.FileServerFS(files)
	for _, name := range []string{"/{$}", "/app.js", "/style.css"} {
		mux.Handle("GET "+name, static)
	}
	// No other site's page may send what changes something here.
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, newProblem(http.StatusForbidden, "pages of other sites may not change orders"))
	}))
	return s.around(guard.Handler(noRoute(mux)))
}

// answer turns the error of a handler into a problem.
func (s *service) answer(handle func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		err := handle(w, r.WithContext(ctx))
		if err == nil {
			return
		}
		p := problemOf(err)
		if errors.Is(r.Context().Err(), context.Canceled) {
			p.Status = 499 // for the log: the client has gone, nobody reads the answer
		} else if p.Status >= 500 {
			s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		}
		writeProblem(w, p)
	})
}

// around sets the headers that every answer has, logs every request, and lets no
// panic reach a client.
func (s *service) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, seen := time.Now(), &statusWriter{ResponseWriter: w, status: http.StatusOK}
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Content-Security-Policy",
			"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		defer func() {
			if cause := recover(); cause != nil {
				known, _ := cause.(error)
				s.log.Error("panic", "method", r.Method, "path", r.URL.Path, "cause", cause, "stack", string(debug.Stack()))
				if seen.began || errors.Is(known, http.ErrAbortHandler) {
					panic(http.ErrAbortHandler) // too late for another answer: the connection is cut
				}
				writeProblem(seen, newProblem(http.StatusInternalServerError, "something went wrong; the log has the reason"))
			}
			s.log.Info("request", "method", r.Method, "uri", r.URL.RequestURI(), "status", seen.status, "took", time.Since(began).Round(time.Microsecond))
		}()
		next.ServeHTTP(seen, r)
	})
}

// statusWriter remembers what was answered.
type statusWriter struct {
	http.ResponseWriter
	status int
	began  bool
}

func (w *statusWriter) WriteHeader(status int) {
	w.status, w.began = status, true
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	w.began = true
	return w.ResponseWriter.Write(p)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// noRoute gives the mux's own 404 and 405 the form of all other problems; the
// header Allow of a 405 stays.
func noRoute(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		said := &bodyless{header: w.Header(), status: http.StatusOK}
		handler.ServeHTTP(said, r)
		switch said.status {
		case http.StatusNotFound:
			writeProblem(w, newProblem(said.status, "there is nothing at "+short(r.URL.Path)))
		case http.StatusMethodNotAllowed:
			writeProblem(w, newProblem(said.status, r.Method+" is not for "+short(r.URL.Path)+", only "+w.Header().Get("Allow")))
		default: // the path in its shortest form is elsewhere
			w.WriteHeader(said.status)
		}
	})
}

// bodyless is answered to in place of the client.
type bodyless struct {
	header http.Header
	status int
}

func (b *bodyless) Header() http.Header         { return b.header }
func (b *bodyless) WriteHeader(status int)      { b.status = status }
func (b *bodyless) Write(p []byte) (int, error) { return len(p), nil }
