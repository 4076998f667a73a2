package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // testserver.Database

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// The file is loaded once. The second time the database refuses an order, and nothing is written.
func TestRun(t *testing.T) {
	dsn := testserver.Database(t, "pgx", testserver.Postgres(t).DSN)
	var out bytes.Buffer
	if err := run(t.Context(), &out, "", dsn, 1); err != nil || !strings.Contains(out.String(), "360 orders, 1310 rows in one transaction") {
		t.Fatalf("%v\n%s", err, &out)
	}
	if err := run(t.Context(), io.Discard, "", dsn, 2); err == nil || !strings.Contains(err.Error(), `SO-10001`) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, io.Discard, "", dsn, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var orders, lines int
	if err := conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM pgxload_orders), (SELECT count(*) FROM pgxload_lines l JOIN pgxload_orders o ON o.id = l.order_id)`).Scan(&orders, &lines); err != nil || orders != 360 || lines != 950 {
		t.Errorf("%d orders, %d lines, %v", orders, lines, err)
	}
}

// A bad file is refused before the database is touched, and no error shows a password.
func TestErrors(t *testing.T) {
	const none = "postgres://u:secret@127.0.0.1:1/x?connect_timeout=2"
	empty := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, dsn, in string
		worker        int64
		want          string
	}{
		{"empty file", none, empty, 1, "in.csv: no orders"},
		{"no server", none, "", 1, "-dsn: "},
		{"worker", none, "", 1024, "-worker 1024: core: Worker 1024"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := run(t.Context(), io.Discard, c.in, c.dsn, c.worker); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
