// Command tutorial is the service of docs/tutorial.md: notes over HTTP, whose keys are
// Snowflake ids, in an SQLite file that several replicas share.
//
//	go run ./examples/tutorial -addr :8080
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
)

type Note struct {
	ID   sqltype.ID `json:"id"`
	Text string     `json:"text"`
}

func main() {
	addr := flag.String("addr", ":8080", "address to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr); err != nil {
		slog.Error("stopped", slog.Any("err", err))
	}
}

func run(ctx context.Context, addr string) error {
	db, err := gorm.Open(sqlite.Open("file:notes.sqlite?_pragma=busy_timeout(5000)"), &gorm.Config{})
	if err != nil {
		return err
	}
	var plugin gormplugin.Plugin
	if err := db.Use(&plugin); err != nil {
		return err
	}
	defer plugin.Close(context.Background()) // ctx is done by then
	gen := plugin.Generator()
	if err := gormplugin.Migrator(db).AutoMigrate(&Note{}); err != nil {
		return err
	}
	slog.Info("listening", slog.String("addr", addr), slog.Int64("worker", gen.Worker()))
	server := &http.Server{Addr: addr, Handler: routes(db, gen), ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(done)
		_ = server.Shutdown(context.Background())
	})
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-done // all requests have ended
	return nil
}

func routes(db *gorm.DB, gen *worker.Generator) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /notes", func(w http.ResponseWriter, r *http.Request) {
		var input struct { // without a key: clients must not choose it
			Text string `json:"text"`
		}
		err := json.NewDecoder(r.Body).Decode(&input)
		note := Note{Text: input.Text}
		if err == nil {
			err = db.WithContext(r.Context()).Create(&note).Error
		}
		reply(w, note, err)
	})
	mux.HandleFunc("GET /notes/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := sqltype.Parse(r.PathValue("id"))
		var note Note
		if err == nil {
			err = db.WithContext(r.Context()).First(&note, id).Error
		}
		reply(w, note, err)
	})
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		stats := gen.Stats()
		if stats.FenceLeft <= 0 {
			http.Error(w, "no ids", http.StatusServiceUnavailable)
			return
		}
		reply(w, map[string]any{"worker": stats.Worker, "ids_for": stats.FenceLeft.Round(time.Second).String()}, nil)
	})
	return mux
}

func reply(w http.ResponseWriter, value any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(value)
}
