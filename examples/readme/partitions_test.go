package readme

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// replicas opens the database that each of them has a pool of its own for.
func replicas(t *testing.T, dialect ddl.Dialect, dsn string) (open func() *sql.DB) {
	t.Helper()
	name := fmt.Sprintf("partitions_%016x", rand.Uint64())
	create, drop := "CREATE SCHEMA "+name, "DROP SCHEMA "+name+" CASCADE"
	if dialect == ddl.MySQL {
		create, drop = "CREATE DATABASE "+name, "DROP DATABASE "+name
	}
	connect := func(in string) *sql.DB {
		var db *sql.DB
		if dialect == ddl.Postgres {
			config, err := pgx.ParseConfig(dsn)
			if err != nil {
				t.Fatal(err)
			}
			if in != "" {
				config.RuntimeParams["search_path"] = in
			}
			db = stdlib.OpenDB(*config)
		} else {
			config, err := mysql.ParseDSN(dsn)
			if err != nil {
				t.Fatal(err)
			}
			if in != "" {
				config.DBName = in
			}
			connector, err := mysql.NewConnector(config)
			if err != nil {
				t.Fatal(err)
			}
			db = sql.OpenDB(connector)
		}
		db.SetMaxOpenConns(1)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	admin := connect("")
	if _, err := admin.Exec(create); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.Exec(drop); err != nil {
			t.Error(err)
		}
	})
	return func() *sql.DB { return connect(name) }
}

// Twenty replicas wake at midnight, on a table of each kind. None sees an error, and
// no partition is missing or there twice.
func TestNextPartitions(t *testing.T) {
	servers := map[string]ddl.Dialect{testserver.Postgres(t).DSN: ddl.Postgres}
	for _, s := range testserver.MySQLs(t) {
		servers[s.DSN] = ddl.MySQL
	}
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for dsn, dialect := range servers {
		orders := ddl.Partitioning{Dialect: dialect, Table: `The "orders".`, By: ddl.Month}
		for _, last := range []string{"", "open", "default"} {
			if dialect == ddl.MySQL && last == "default" {
				continue
			}
			t.Run(string(dialect)+" "+last, func(t *testing.T) {
				open := replicas(t, dialect, dsn)
				db := open()
				parts, err := orders.Bounds(now, now.AddDate(0, 0, 1))
				if err != nil {
					t.Fatal(err)
				}
				parts[0].Name = "first"
				rows := []int64{parts[0].Min, parts[0].Max - 1}
				switch last {
				case "open":
					parts = append(parts, ddl.Partition{Name: "pmax", Min: parts[0].Max, Max: 1<<63 - 1})
				case "default":
					parts = append(parts, ddl.Partition{Name: "rest", Default: true})
				}
				if last != "" {
					rows = append(rows, parts[0].Max, parts[0].Max+1<<53, 1<<62)
				}
				clause, err := orders.Clause(parts)
				if err != nil {
					t.Fatal(err)
				}
				quoted := map[ddl.Dialect]string{ddl.Postgres: `"The ""orders""."`, ddl.MySQL: "`The \"orders\".`"}[dialect]
				script := ddl.Script{"CREATE TABLE " + quoted + " (id bigint PRIMARY KEY) " + clause}
				if dialect == ddl.Postgres {
					create, err := orders.Create(parts)
					if err != nil {
						t.Fatal(err)
					}
					script = append(script, create...)
				}
				for _, id := range rows {
					script = append(script, fmt.Sprintf("INSERT INTO %s VALUES (%d)", quoted, id))
				}
				for _, statement := range script {
					if _, err := db.Exec(statement); err != nil {
						t.Fatal(err)
					}
				}
				for month := range 3 {
					start := make(chan struct{})
					var all sync.WaitGroup
					for i := range 20 {
						replica := open()
						if err := replica.Ping(); err != nil {
							t.Fatal(err)
						}
						// Their clocks do not agree on the hour.
						at := now.AddDate(0, month, 0).Add(time.Duration(i) * time.Hour)
						all.Go(func() {
							<-start
							if err := nextPartitions(t.Context(), replica, orders, at); err != nil {
								t.Error(err)
							}
							_ = replica.Close()
						})
					}
					close(start)
					all.Wait()
				}
				have, err := orders.Read(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				var max []int64
				for _, part := range have {
					max = append(max, part.Max)
				}
				want, err := orders.Bounds(now, now.AddDate(0, 5, 0))
				if err != nil || len(want) != 6 {
					t.Fatal(want, err)
				}
				for _, part := range want {
					if !slices.Contains(max, part.Max) {
						t.Errorf("%s is missing", part.Name)
					}
				}
				if len(have) != len(want)+len(parts)-1 {
					t.Errorf("%d partitions: %v", len(have), have)
				}
				var n int
				if err := db.QueryRow("SELECT count(*) FROM " + quoted).Scan(&n); err != nil || n != len(rows) {
					t.Errorf("%d rows, %v, want %d", n, err, len(rows))
				}
			})
		}
	}
}

// ReadRows reads rows of pgx, too.
func TestPartitionsWithPgx(t *testing.T) {
	server := testserver.Postgres(t)
	db := replicas(t, ddl.Postgres, server.DSN)()
	orders := ddl.Partitioning{Dialect: ddl.Postgres, Table: "orders", By: ddl.Month}
	if err := db.QueryRow("SELECT current_schema").Scan(&orders.Schema); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id)", "CREATE TABLE rest PARTITION OF orders DEFAULT"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	pool, err := connect(t.Context(), server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	query, err := orders.Existing()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := pool.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	have, err := orders.ReadRows(rows)
	if err != nil || len(have) != 1 || !have[0].Default {
		t.Errorf("%+v, %v", have, err)
	}
}
