// Command gateway gives ids to programs that cannot make them.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func main() {
	if len(os.Args) > 1 {
		if err := command(os.Args[1]); err != nil {
			log.Fatal(err) // OK 55: this process leases nothing any more
		}
		return
	}
	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	gen, err := sqlstore.Open(context.Background(), db, worker.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close(context.Background()) // ALSO 071: this does not run
	http.HandleFunc("GET /id", func(w http.ResponseWriter, r *http.Request) {
		id, err := gen.Next(r.Context())
		if err != nil {
			http.Error(w, "no id", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, id)
	})
	log.Fatal(http.ListenAndServe(":8080", nil)) // FAULT 071 snowclose: log.Fatal ends the process without the deferred Close
}

func command(name string) error {
	switch name {
	case "once":
		return once()
	case "watch":
		return watch(os.Stdin)
	}
	return fmt.Errorf("no command %q", name)
}

// once prints one id.
func once() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer db.Close()
	gen, err := sqlstore.Open(ctx, db, worker.Config{})
	if err != nil {
		return err
	}
	defer gen.Close(context.Background()) // OK 56: with a context that does not end with ctx
	id, err := gen.Next(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Println(id)
	return err
}

// watch prints an id for each line, until it is interrupted.
func watch(r io.Reader) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer db.Close()
	gen, err := sqlstore.Open(ctx, db, worker.Config{})
	if err != nil {
		return err
	}
	defer gen.Close(ctx) // FAULT 072 snowclose: closed with a context that is done by then, so the worker ID is not released
	for lines := bufio.NewScanner(r); lines.Scan() && ctx.Err() == nil; {
		id, err := gen.Next(ctx)
		if err != nil {
			return err
		}
		fmt.Println(id, lines.Text())
	}
	return ctx.Err()
}
