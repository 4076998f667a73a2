package main

import (
	"context"
	_ "embed" // for go:embed
	"errors"
	"net/http"
	"time"
)

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
		"DELETE /orders/{id}": s.remove,
		"GET /healthz":        s.health,
	} {
		mux.Handle(pattern, s.answer(handle))
	}
	mux.HandleFunc("GET /openapi.yaml", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write(openAPI)
	})
	return mux
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
