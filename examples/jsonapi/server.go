package main

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"net/http"
	"time"
)

//go:embed page/index.html page/app.js page/style.css
var pageFiles embed.FS

//go:embed openapi.yaml
var openAPI []byte

// patience is how long one request may use the database, or wait for it. Tests set a longer one.
var patience = 8 * time.Second

// handler has all routes.
func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /orders":         s.list,
		"POST /orders":        s.create,
		"GET /orders/{id}":    s.get,
		"PATCH /orders/{id}":  s.patch,
		"DELETE /orders/{id}": s.remove,
		"POST /customers":     s.createCustomer,
		"GET /customers/{id}": s.getCustomer,
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
	// Pages of other sites must not change anything.
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, newProblem(http.StatusForbidden, "pages of other sites may not change orders"))
	}))
	return secure(guard.Handler(mux))
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
			return // the client is gone
		}
		if p.Status >= 500 {
			s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		}
		writeProblem(w, p)
	})
}

// secure sets the headers that every answer has.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Content-Security-Policy",
			"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		next.ServeHTTP(w, r)
	})
}
