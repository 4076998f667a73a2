package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// A transaction of pgx runs the statement itself; the numbers are last-n+1 to last.
func ExampleConfig_ReserveSQL() {
	statement, err := Config{Dialect: ddl.Postgres, Table: "billing"}.ReserveSQL()
	fmt.Println(statement, err)
	// Output: INSERT INTO "public"."billing_counter" AS c (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = c.value + excluded.value RETURNING value <nil>
}

func TestReserveSQL(t *testing.T) {
	for _, cfg := range []Config{{}, {Dialect: ddl.MySQL}, {Dialect: ddl.Postgres, Table: "a b"}} {
		statement, err := cfg.ReserveSQL()
		var config *core.ConfigError
		if !errors.As(err, &config) || statement != "" {
			t.Errorf("%+v: %q, %v", cfg, statement, err)
		}
	}
}

func TestReserveFaults(t *testing.T) {
	s := mustNew(New(sql.OpenDB(new(fake)), Config{}))
	for _, c := range []struct {
		key  string
		n    int64
		want string
	}{
		{"", 1, `key "": must be`}, {"a b", 1, `key "a b"`}, {strings.Repeat("x", 65), 1, "key"},
		{"a", 0, "n 0: must be 1 to"}, {"a", -1, "n -1"}, {"a", 1<<40 + 1, "n 1099511627777"},
		{"ä", 0, `key "ä": must be 1 to 64 letters, digits and . _ - : / of ASCII; n 0`},
	} {
		t.Run(c.want, func(t *testing.T) {
			for name, reserve := range map[string]func(context.Context, string, int64) (int64, error){
				"store": s.Reserve, "in a transaction": s.In(new(sql.Tx)).Reserve,
			} {
				_, err := reserve(t.Context(), c.key, c.n)
				var config *core.ConfigError
				if !errors.As(err, &config) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s, %q, %d: %v, want %s", name, c.key, c.n, err, c.want)
				}
			}
		})
	}
	for want, counter := range map[string]interface {
		Reserve(ctx context.Context, key string, n int64) (int64, error)
	}{
		"tx nil":                             s.In(nil),
		`Store "not prepared"`:               s.In(new(sql.Tx)),
		"Store nil":                          new(Store),
		"tx nil: must":                       InTx{},
		"tx nil: must be":                    s.In((*sql.Tx)(nil)),
		`tx "*sql.DB": is not a transaction`: s.In(s.db),
		`tx "struct { *sql.DB }": is not`:    s.In(struct{ *sql.DB }{s.db}),
		`tx "sqlstore.preparing": is not`:    s.In(preparing{}),
		"not prepared":                       s.In(struct{ preparedTx }{}),
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := counter.Reserve(t.Context(), "a", 1); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

// preparing and preparedTx are shaped as gorm's, with PrepareStmt.
type (
	preparing  struct{ Tx }
	preparedTx struct{ preparing }
)

func (preparing) GetDBConn() (*sql.DB, error) { return nil, nil }
func (preparedTx) Commit() error              { return nil }
