// Command bot answers questions in a chat. It has no fault.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		slog.Error("stopped", slog.Any("err", err))
		os.Exit(1) // OK 88: run has closed what it opened
	}
}

func run(ctx context.Context) (err error) {
	port, err := strconv.ParseInt(os.Getenv("PORT"), 10, 32) // OK 89: a port
	if err != nil {
		return err
	}
	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer db.Close()
	cfg := worker.Config{Namespace: "bot", Observer: core.LogTo(slog.Default())}
	if os.Getenv("POD_INDEX") != "" {
		ordinal, err := worker.FromOrdinal(core.Twitter(), "POD_INDEX", "")
		if err != nil {
			return err
		}
		cfg.Preferred = &ordinal // OK 90: a lease that prefers the ordinal of the pod
	}
	gen, err := sqlstore.Open(ctx, db, cfg) // OK 91: one generator in the program, closed at the end
	if err != nil {
		return err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, gen.Close(end)) // OK 92: in a deferred function
	}()
	b := &bot{db: db, ids: gen, started: time.Now()}
	server := &http.Server{Addr: ":" + strconv.FormatInt(port, 10), Handler: b}
	context.AfterFunc(ctx, func() { server.Shutdown(context.WithoutCancel(ctx)) })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type bot struct {
	db      *sql.DB
	ids     sqltype.Source
	started time.Time
}

// answer is a row, and the reply to the chat's server.
type answer struct {
	ID   sqltype.ID `json:"id"`
	Text string     `json:"text"`
}

func (b *bot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var u update
	if err := json.NewDecoder(r.Body).Decode(&u); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a := answer{Text: u.Message.reply()}
	var err error
	if a.ID, err = sqltype.NextID(r.Context(), b.ids); err == nil { // OK 93: a key for each request, by one generator
		_, err = b.db.ExecContext(r.Context(), "INSERT INTO answers (id, chat, text) VALUES ($1, $2, $3)", a.ID, u.Message.Chat, a.Text)
	}
	if err != nil {
		http.Error(w, "no answer", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"answer": a, "uptime": time.Since(b.started).Seconds()}) // OK 94: the ID is a string, the number is a duration
}
