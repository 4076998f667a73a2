package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
)

func routes(gen *worker.Generator) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ids", func(w http.ResponseWriter, r *http.Request) { ids(w, r, gen) })
	// Alive as long as it answers. If a pod is killed because the database is down, it loses
	// a worker ID, and its successor cannot lease one.
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	// Ready as long as it can make ids.
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		st := gen.Stats()
		if st.FenceLeft <= 0 {
			http.Error(w, fmt.Sprintf("no ids: %v", gen.Failing()), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, "worker %d, ids for %v\n", st.Worker, st.FenceLeft)
	})
	return mux
}

const most = 1000

func ids(w http.ResponseWriter, r *http.Request, gen *worker.Generator) {
	n := 1
	if text := r.URL.Query().Get("n"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 || n > most {
			http.Error(w, fmt.Sprintf("n %.20q must be 1 to %d", text, most), http.StatusBadRequest)
			return
		}
	}
	block := make([]int64, n)
	if err := gen.Fill(r.Context(), block); err != nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	out := make([]sqltype.ID, n) // strings in JSON
	for i, id := range block {
		out[i] = sqltype.ID(id)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out) // an error means that the client is gone
}
