package sqlstore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// The files in testdata are the conversation of each verb with a server. After a change on
// purpose, SNOWKEY_UPDATE=1 writes them anew.
func TestStatements(t *testing.T) {
	at := []any{nil, int64(3), int64(4), "first", "me", int64(2_000_000), int64(3_000_000)}
	request := driver.Request{
		Namespace: "orders", Layout: "l", WorkerIDs: 8, Preferred: 3, RequirePreferred: true, Exclude: -1, ClaimID: "first", Owner: "Käthe's",
		Now: 1_000_000, FenceWindow: 30_000, TTL: 60_000, MaxSkew: 1000, MaxLead: 60_000_000,
	}
	for name, server := range map[string]*sound{
		"postgres": {version: "PostgreSQL 17.1"}, "mysql": {version: "8.4.1"}, "galera": {version: "11.8.2-MariaDB", plugins: galera},
		"vitess": {version: "8.4.6-Vitess"}, "sqlite": {},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{answer: server.answer}
			s := mustNew(New(f.open(t), Config{}))
			var conversation strings.Builder
			for _, step := range []struct {
				what    string
				records [][]any
				layout  any
				call    func() (any, error)
			}{
				{"the first claim of a namespace", nil, nil, func() (any, error) { return s.Claim(t.Context(), request) }},
				{"claim of a worker ID that was held", [][]any{{nil, int64(3), int64(4), "", "me", int64(900_000), int64(0)}}, "l", func() (any, error) { return s.Claim(t.Context(), request) }},
				{"claim repeated", [][]any{at}, "l", func() (any, error) { return s.Claim(t.Context(), request) }},
				{"renew", nil, "l", func() (any, error) {
					return nil, s.Renew(t.Context(), driver.Renewal{Namespace: "orders", Worker: 3, FencingToken: 4, ClaimID: "first", Fence: 2_000_001, TTL: 60_000})
				}},
				{"release", nil, "l", func() (any, error) {
					return nil, s.Release(t.Context(), driver.Return{Namespace: "orders", Worker: 3, FencingToken: 4, ClaimID: "first", Fence: 2_000_001})
				}},
				{"free", nil, "l", func() (any, error) { return nil, s.Free(t.Context(), "orders", 3, 4) }},
				{"list", [][]any{at}, "l", func() (any, error) { return s.List(t.Context(), "orders") }},
				{"reserve", nil, "l", func() (any, error) { return s.Reserve(t.Context(), "invoices", 10) }},
				{"warnings", nil, "l", func() (any, error) { return s.Warnings(t.Context()) }},
			} {
				server.records, server.layout = step.records, step.layout
				result, err := step.call()
				fmt.Fprintf(&conversation, "-- %s: %v, %v\n", step.what, result, err)
				for _, query := range f.taken() {
					conversation.WriteString(query + ";\n")
				}
			}
			file := filepath.Join("testdata", name+".sql")
			if os.Getenv("SNOWKEY_UPDATE") != "" {
				if err := os.WriteFile(file, []byte(conversation.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := conversation.String(); got != string(want) {
				t.Errorf("not what %s has:\n%s", file, got)
			}
		})
	}
}

// A request waits for a connection once, because the queue may be long. A read that the server has
// undone, as by a deadlock of a serializable session, is repeated.
func TestOneConnection(t *testing.T) {
	for _, version := range []string{"PostgreSQL 17.1", "8.4.1", ""} {
		undone := 1
		server := &sound{version: version, tables: true, layout: "l"}
		f := &fake{answer: func(query string) answer {
			if strings.Contains(query, "UNION ALL") && undone > 0 {
				undone--
				return answer{err: &mysql.MySQLError{Number: 1213, Message: "Deadlock found"}}
			}
			return server.answer(query)
		}}
		db := f.open(t)
		db.SetMaxIdleConns(-1)
		s := mustNew(New(db, Config{}))
		for what, call := range map[string]func() error{
			"list":  func() error { _, err := s.List(t.Context(), "x"); return err },
			"renew": func() error { return s.Renew(t.Context(), driver.Renewal{Namespace: "x", ClaimID: "c"}) },
		} {
			f.connected = 0
			if err := call(); err != nil || f.connected != 1 {
				t.Errorf("%s %s: %d connections, %v", version, what, f.connected, err)
			}
		}
	}
}
