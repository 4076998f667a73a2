package sqlstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/retry"
)

func ExampleConfig_DDL() {
	ddl, err := Config{Dialect: Postgres, Table: "app.worker_ids"}.DDL()
	for _, statement := range ddl {
		fmt.Println(statement + ";")
	}
	fmt.Println(err)
	// Output:
	// CREATE TABLE IF NOT EXISTS "app"."worker_ids_space" (space VARCHAR(64) NOT NULL PRIMARY KEY, layout VARCHAR(255) NOT NULL);
	// CREATE TABLE IF NOT EXISTS "app"."worker_ids" (space VARCHAR(64) NOT NULL, worker BIGINT NOT NULL, token VARCHAR(64) NOT NULL, epoch BIGINT NOT NULL, until_ts BIGINT NOT NULL, expires_at BIGINT NOT NULL, owner VARCHAR(255) NOT NULL, PRIMARY KEY (space, worker));
	// CREATE TABLE IF NOT EXISTS "app"."worker_ids_counter" (name VARCHAR(64) NOT NULL PRIMARY KEY, value BIGINT NOT NULL);
	// <nil>
}

// The compare-and-set of each dialect, on which uniqueness depends.
func TestStatements(t *testing.T) {
	for dialect, want := range map[Dialect][2]string{
		Postgres: {
			`UPDATE "snow_worker" SET token = $1, owner = $2, epoch = $3, until_ts = $4, expires_at = CAST(EXTRACT(EPOCH FROM clock_timestamp())*1000 AS BIGINT) + $5 WHERE space = $6 AND worker = $7 AND epoch = $8 AND until_ts = $9 AND (token = '' OR expires_at < CAST(EXTRACT(EPOCH FROM clock_timestamp())*1000 AS BIGINT))`,
			`INSERT INTO "snow_worker" (token, owner, epoch, until_ts, expires_at, space, worker) VALUES ($1, $2, $3, $4, CAST(EXTRACT(EPOCH FROM clock_timestamp())*1000 AS BIGINT) + $5, $6, $7) ON CONFLICT DO NOTHING`,
		},
		MySQL: {
			"UPDATE `snow_worker` SET token = ?, owner = ?, epoch = ?, until_ts = ?, expires_at = (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000) + ? WHERE space = ? AND worker = ? AND epoch = ? AND until_ts = ? AND (token = '' OR expires_at < (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000))",
			"INSERT IGNORE INTO `snow_worker` (token, owner, epoch, until_ts, expires_at, space, worker) VALUES (?, ?, ?, ?, (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000) + ?, ?, ?)",
		},
		SQLite: {
			`UPDATE "snow_worker" SET token = ?, owner = ?, epoch = ?, until_ts = ?, expires_at = CAST((julianday('now')-2440587.5)*86400000 AS INTEGER) + ? WHERE space = ? AND worker = ? AND epoch = ? AND until_ts = ? AND (token = '' OR expires_at < CAST((julianday('now')-2440587.5)*86400000 AS INTEGER))`,
			`INSERT INTO "snow_worker" (token, owner, epoch, until_ts, expires_at, space, worker) VALUES (?, ?, ?, ?, CAST((julianday('now')-2440587.5)*86400000 AS INTEGER) + ?, ?, ?) ON CONFLICT DO NOTHING`,
		},
	} {
		st := Config{Dialect: dialect, Table: "snow_worker"}.statements()
		if st.claim != want[0] || st.first != want[1] {
			t.Errorf("%v:\n%s\n%s", dialect, st.claim, st.first)
		}
		if strings.Contains(st.claimForever, "{") || strings.Contains(st.renewForever+st.firstForever, "+ ") || st.claimForever == st.claim || st.firstForever == st.first {
			t.Errorf("%v:\n%s\n%s\n%s", dialect, st.claimForever, st.renewForever, st.firstForever)
		}
	}
}

func TestConfigFaults(t *testing.T) {
	for _, cfg := range []Config{{Dialect: 9}, {Dialect: Postgres, Table: "a;b"}, {}} {
		ddl, err := cfg.DDL()
		var config *core.ConfigError
		if !errors.As(err, &config) || ddl != nil {
			t.Errorf("%+v: %q, %v", cfg, ddl, err)
		}
	}
	names := make([]string, 0, 5)
	for d := range Dialect(5) {
		names = append(names, d.String())
	}
	if !slices.Equal(names, []string{"Detect", "PostgreSQL", "MySQL", "SQLite", "Dialect(4)"}) {
		t.Errorf("%q", names)
	}
}

// FuzzTableName holds that a name that passes can end neither its quotes nor the statement.
func FuzzTableName(f *testing.F) {
	for _, name := range []string{"a", "a.b", `a"b`, "a`b", "a b", "a;--", "1a", "ä", "a.b.c", "a\n"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if _, err := (Config{Dialect: MySQL, Table: name}).DDL(); err == nil && (strings.ContainsAny(name, "\"`'; \n\x00") || len(name) > 97) {
			t.Errorf("%q passes", name)
		}
	})
}

type stateError string

func (e stateError) Error() string    { return "refused" }
func (e stateError) SQLState() string { return string(e) }

func TestConflict(t *testing.T) {
	for err, want := range map[error]bool{
		stateError("40001"): true,
		stateError("40P01"): true,
		stateError("23505"): false,
		errors.New("Error 1213 (40001): Deadlock found when trying to get lock"): true,
		errors.New("Error 1205 (HY000): Lock wait timeout exceeded"):             false,
		errors.New("Error 1020 (HY000): Record has changed since last read"):     true,
		errors.New("connection refused"):                                         false,
		errors.New("database is locked (5) (SQLITE_BUSY)"):                       true,
	} {
		t.Run(err.Error(), func(t *testing.T) {
			if retry.IsUndone(fmt.Errorf("wrapped: %w", err)) != want {
				t.Errorf("%v", err)
			}
		})
	}
	tries := 0
	err := retrySwap(t.Context(), func() (bool, error) { tries++; return tries == 3, nil })
	if err != nil || tries != 3 {
		t.Errorf("%d tries, %v", tries, err)
	}
}
