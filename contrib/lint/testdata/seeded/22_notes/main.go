// Command notes stores notes.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"os/signal"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Note struct {
	ID   sqltype.ID `json:"id"`
	Text string     `json:"text"`
}

func main() {
	addr := flag.String("addr", ":8080", "address")
	dsn := flag.String("dsn", "", "database")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *addr, *dsn); err != nil {
		slog.Error("stopped", slog.Any("err", err))
	}
}

func run(ctx context.Context, addr, dsn string) error {
	db, err := gorm.Open(postgres.Open(dsn), &gorm.Config{})
	if err != nil {
		return err
	}
	var plugin gormplugin.Plugin
	if err := db.Use(&plugin); err != nil { // FAULT 070 snowclose: never closed, so the worker ID is held for 40s after each deployment
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		if err := plugin.Generator().Failing(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("POST /notes", func(w http.ResponseWriter, r *http.Request) {
		var n Note
		err := json.NewDecoder(r.Body).Decode(&n)
		if err == nil {
			err = db.WithContext(r.Context()).Create(&n).Error
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(n)
	})
	server := &http.Server{Addr: addr, Handler: mux}
	context.AfterFunc(ctx, func() { server.Shutdown(context.WithoutCancel(ctx)) })
	return server.ListenAndServe()
}
