package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// enough is far longer than anything here takes on a busy machine.
const enough = 3 * time.Minute

// pod runs the service as a pod does, and gives its address and what ends it.
func pod(t *testing.T, env map[string]string) (url string, end func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	t.Setenv("ADDRESS", address)
	for name, value := range env {
		t.Setenv(name, value)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, slog.New(slog.DiscardHandler)) }()
	url = "http://" + address
	for deadline := time.Now().Add(enough); ; time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-ended:
			cancel()
			t.Fatalf("the pod ended: %v", err)
		default:
		}
		if status, _ := get(t, url+"/livez"); status == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			cancel()
			t.Fatal("the pod does not answer")
		}
	}
	return url, func() {
		t.Helper()
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(enough):
			t.Fatal("the pod does not end")
		}
	}
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestPods(t *testing.T) {
	dsn := testserver.Postgres(t).DSN
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	env := map[string]string{"DATABASE_URL": dsn, "SNOWKEY_NAMESPACE": "pods", "POD_NAME": "ids-3", "POD_INDEX": "3"}
	first, endFirst := pod(t, env)
	env["POD_NAME"] = "ids-3-again" // its twin, while the first is still there
	second, endSecond := pod(t, env)

	seen := map[sqltype.ID]bool{}
	workers := map[string]bool{}
	for _, url := range []string{first, second} {
		status, text := get(t, url+"/readyz")
		if status != http.StatusOK {
			t.Errorf("not ready: %s", text)
		}
		workers[strings.Fields(text)[1]] = true
		_, text = get(t, url+"/ids?n=500")
		var ids []sqltype.ID
		if err := json.Unmarshal([]byte(text), &ids); err != nil || len(ids) != 500 || !strings.HasPrefix(text, `["`) {
			t.Fatalf("%d ids, %v: %.80s", len(ids), err, text)
		}
		for _, id := range ids {
			seen[id] = true
		}
		if status, text := get(t, url+"/ids?n=1001"); status != http.StatusBadRequest || !strings.Contains(text, "1001") {
			t.Errorf("%d %s", status, text)
		}
	}
	if len(seen) != 1000 || len(workers) != 2 || !workers["3,"] {
		t.Errorf("%d ids of workers %v", len(seen), workers)
	}
	endFirst()
	endSecond()
	store, err := sqlstore.New(db, sqlstore.Config{})
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.List(t.Context(), "pods")
	if err != nil || len(st.Records) != 2 {
		t.Fatalf("%+v, %v", st, err)
	}
	for _, rec := range st.Records {
		if rec.Status != driver.Released {
			t.Errorf("number %d is still held by %s", rec.Worker, rec.Owner)
		}
	}
}

func TestBadEnvironment(t *testing.T) {
	for _, c := range []struct{ name, dsn, index, want string }{
		{"no database", "", "", "DATABASE_URL"},
		{"host name for an ordinal", "postgres://127.0.0.1:1/x", "ids-3", `"ids-3"`},
		{"empty ordinal", "postgres://127.0.0.1:1/x", "", "POD_INDEX"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("DATABASE_URL", c.dsn)
			t.Setenv("POD_INDEX", c.index)
			if err := run(t.Context(), slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v lacks %s", err, c.want)
			}
		})
	}
}
