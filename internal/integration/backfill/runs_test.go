package backfill

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// What is not understood is refused, and nothing is written.
func TestRefused(t *testing.T) {
	const orders = "CREATE TABLE orders (id bigint PRIMARY KEY, created_at {time}, n varchar(20), i bigint)"
	row := func(db *engine, key int, at string) string {
		return fmt.Sprintf("INSERT INTO orders (id, created_at) VALUES (%d, %s)", key, db.at(at))
	}
	onEvery(t, func(t *testing.T, db *engine) {
		for _, c := range []struct {
			name  string
			setup []string
			cfg   func(cfg *backfill.Config)
			want  string
			only  ddl.Dialect
		}{
			{"no table", nil, nil, `backfill: Table "orders": there is no such table`, ""},
			{"view", []string{"CREATE TABLE x (id bigint PRIMARY KEY, created_at {time})", "CREATE VIEW orders AS SELECT * FROM x"}, nil, "must be an ordinary table: it is ", ""},
			{"no key", []string{"CREATE TABLE orders (id bigint, created_at {time})"}, nil, "has no primary key", ""},
			{"composite key", []string{"CREATE TABLE orders (a bigint, b bigint, created_at {time}, PRIMARY KEY (a, b))"}, nil, "has a primary key of 2 columns: ", ""},
			{"composite foreign key", []string{"CREATE TABLE orders (id bigint PRIMARY KEY, a bigint NOT NULL, created_at {time}, UNIQUE (id, a))", "CREATE TABLE x (i bigint, a bigint, FOREIGN KEY (i, a) REFERENCES orders (id, a))"}, nil, "has 2 columns; only one is supported", ""},
			{"no such time", []string{orders}, func(cfg *backfill.Config) { cfg.CreatedAt = "made" }, `CreatedAt "made": `, ""},
			{"no time", []string{orders, "INSERT INTO orders (id, n) VALUES (1, 1.5)"}, func(cfg *backfill.Config) { cfg.CreatedAt = "n" }, "", ""},
			{"integers without a unit", []string{orders, "INSERT INTO orders (id, i) VALUES (1, 1)"}, func(cfg *backfill.Config) { cfg.CreatedAt = "i" }, "Unit 0s: is required, because i is an integer", ""},
			{"a unit without integers", []string{orders, row(db, 1, "2024-01-01 00:00:00")}, func(cfg *backfill.Config) { cfg.Unit = time.Second }, "Unit 1s: must be 0: ", ""},
			{"key as column", []string{orders}, func(cfg *backfill.Config) { cfg.Column = "id" }, `Column "id": is the key itself`, ""},
			{"text as column", []string{orders}, func(cfg *backfill.Config) { cfg.Column = "n" }, `Column "n": has the type `, ""},
			{"no such reference", []string{orders}, func(cfg *backfill.Config) { cfg.References = []string{"x.order_id"} }, `References "x": there is no such table`, ""},
			{"no such referring column", []string{orders, "CREATE TABLE x (i bigint)"}, func(cfg *backfill.Config) { cfg.References = []string{"x.order_id"} }, `References "x.order_id": `, ""},
			{"the column of a reference", []string{"CREATE TABLE orders (id bigint PRIMARY KEY, created_at {time}, up bigint, FOREIGN KEY (up) REFERENCES orders (id))"}, func(cfg *backfill.Config) { cfg.Column = "up_snowkey" }, `Table "orders.up": its ids would be in up_snowkey, as those of the rows`, ""},
			{"NULL", []string{orders, row(db, 1, "2024-01-01 00:00:00"), "INSERT INTO orders (id) VALUES (17)"}, nil, ": created_at is NULL or not a time: set it first", ""},
			{"before the epoch", []string{orders, row(db, 1, "2024-01-01 00:00:00"), row(db, 17, "2009-01-01 00:00:00")}, nil, "with the key 17: created_at is 2009-01-01T00:00:00.000Z: before the layout's epoch, 2010-11-04T01:42:54.657Z", ""},
			{"in the future", []string{orders, row(db, 17, "2070-01-01 00:00:00")}, nil, "the oldest has the key 17 and was created at 2070-01-01T00:00:00.000Z: that is in the future: correct it", ""},
			{"a table that others inherit", []string{"CREATE TABLE orders (id bigint PRIMARY KEY, created_at timestamptz)", "CREATE TABLE x (PRIMARY KEY (id)) INHERITS (orders)"}, nil, "it is a table that others inherit", ddl.Postgres},
			{"a partitioned table", []string{"CREATE TABLE orders (id bigint PRIMARY KEY, created_at timestamptz) PARTITION BY HASH (id)"}, nil, "it is a partitioned table", ddl.Postgres},
			{"a partition refers to it", []string{orders, "CREATE TABLE x (i bigint) PARTITION BY HASH (i)", "CREATE TABLE x1 PARTITION OF x FOR VALUES WITH (MODULUS 1, REMAINDER 0)", "ALTER TABLE x1 ADD FOREIGN KEY (i) REFERENCES orders"}, nil, `Table "i_snowkey": cannot be added to public.x1, which is a partition`, ddl.Postgres},
			{"a table of a type", []string{"CREATE TYPE o AS (id bigint, created_at timestamptz)", "CREATE TABLE orders OF o (PRIMARY KEY (id))"}, nil, `Column "id_snowkey": cannot be added to public.orders, which is a table of a type`, ddl.Postgres},
			{"a rule for UPDATE", []string{orders, "CREATE TABLE x (id bigint)", "CREATE RULE audit AS ON UPDATE TO orders DO ALSO INSERT INTO x VALUES (NEW.id)"}, nil, "it is a table with a rule for UPDATE", ddl.Postgres},
			{"infinity", []string{orders, "INSERT INTO orders VALUES (17, 'infinity')"}, nil, "with the key 17: created_at is NULL or not a time", ddl.Postgres},
			{"a table without transactions", []string{"CREATE TABLE orders (id bigint PRIMARY KEY, created_at datetime) ENGINE=MyISAM"}, nil, "it is a table of the engine MyISAM", ddl.MySQL},
			// MySQL would compare them as floating-point numbers, where 9007199254740993 is 9007199254740992.
			{"strings that refer to numbers", []string{orders, "CREATE TABLE x (order_id varchar(40))"}, func(cfg *backfill.Config) { cfg.References = []string{"x.order_id"} }, "has the type varchar(40), and the key bigint", ddl.MySQL},
			{"strings that refer to numbers", []string{orders, "CREATE TABLE x (order_id varchar(40))"}, func(cfg *backfill.Config) { cfg.References = []string{"x.order_id"} }, "count the rows of public.x: ", ddl.Postgres},
			{"a NULL as key", []string{"CREATE TABLE orders (id text PRIMARY KEY, created_at datetime)", "INSERT INTO orders VALUES (NULL, '2024-01-01')"}, nil, "orders, row with the key NULL: id is NULL: set it first", ddl.SQLite},
		} {
			if c.only != "" && c.only != db.Dialect {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				t.Cleanup(func() {
					for _, drop := range []string{"DROP VIEW IF EXISTS orders", "DROP TABLE IF EXISTS x CASCADE", "DROP TABLE IF EXISTS x", "DROP TABLE IF EXISTS orders CASCADE", "DROP TABLE IF EXISTS orders"} {
						_ = db.Try(drop) // orders may be the other thing
					}
				})
				db.run(t, c.setup...)
				cfg := db.config(t)
				if c.cfg != nil {
					c.cfg(&cfg)
				}
				before := db.schema(t)
				_, err := backfill.Run(t.Context(), db.DB, cfg)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				if after := db.schema(t); c.name != "in the future" && after != before {
					t.Errorf("the schema is\n%s, was\n%s", after, before)
				}
			})
		}
	})
}

// A role that does not see all rows would leave the others without ids, and not say so.
func TestHiddenRows(t *testing.T) {
	db := openPostgres(t)
	const role = "backfill_hidden"
	db.run(t, "CREATE TABLE orders (id bigint PRIMARY KEY, created_at timestamptz, id_snowkey bigint)", "INSERT INTO orders VALUES (1, '2024-01-01'), (2, '2024-01-01')",
		"ALTER TABLE orders ENABLE ROW LEVEL SECURITY", "CREATE POLICY p ON orders USING (id < 2)",
		"DO $$ BEGIN CREATE ROLE "+role+"; EXCEPTION WHEN duplicate_object THEN END $$", "GRANT ALL ON orders TO "+role)
	t.Cleanup(func() { _ = db.Try("RESET ROLE; DROP OWNED BY " + role + "; DROP ROLE " + role) })
	db.SetMaxOpenConns(1)
	db.run(t, "SET ROLE "+role)
	const want = `backfill: Table "orders": must be an ordinary table: it is a table with row-level security, which may hide rows`
	if _, err := backfill.Run(t.Context(), db.DB, db.config(t)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// schema describes all tables.
func (db *engine) schema(t *testing.T) string {
	t.Helper()
	query := map[ddl.Dialect]string{
		ddl.Postgres: "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2",
		ddl.MySQL:    "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY 1, 2",
		ddl.SQLite:   "SELECT name, sql FROM sqlite_master ORDER BY 1",
	}[db.Dialect]
	return fmt.Sprint(db.Read(t, query))
}

// A plan names what a run would do, and writes nothing.
func TestInspect(t *testing.T) {
	onEvery(t, func(t *testing.T, db *engine) {
		db.run(t, "CREATE TABLE orders (id {key}, created_at {time})", "CREATE TABLE refs (id {key}, order_id bigint, FOREIGN KEY (order_id) REFERENCES orders (id))",
			"INSERT INTO orders (created_at) VALUES ("+db.at("2024-01-01 00:00:00")+"), ("+db.at("2025-01-01 00:00:00")+")",
			"INSERT INTO refs (order_id) VALUES (1), (2), (2), (NULL)")
		before := db.schema(t)
		p, err := backfill.Inspect(t.Context(), db.DB, db.config(t))
		must(t, err)
		if after := db.schema(t); after != before {
			t.Errorf("the schema is\n%s, was\n%s", after, before)
		}
		_, name, _ := strings.Cut("."+p.Table, ".orders")
		if name != "" || p.Key != "id" || p.Column != "id_snowkey" || !p.Adds || p.Rows != 2 || len(p.References) != 1 ||
			!p.Oldest.Equal(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)) || !p.Newest.Equal(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Fatalf("%+v", p)
		}
		r := p.References[0]
		if _, r.Table, _ = strings.Cut("."+r.Table, ".refs"); r != (backfill.Reference{Column: "order_id", NewColumn: "order_id_snowkey", Adds: true, Indexed: db.Dialect == ddl.MySQL, Rows: 3}) {
			t.Errorf("%+v", r)
		}
	})
}

// Rows that come late are left, and another run fills them under another worker ID.
func TestLeft(t *testing.T) {
	onEvery(t, func(t *testing.T, db *engine) {
		db.run(t, "CREATE TABLE orders (id {key}, created_at {time})",
			"INSERT INTO orders (id, created_at) VALUES (1, "+db.at("2024-01-01 00:00:00")+"), (2, "+db.at("2024-01-02 00:00:00")+"), (3, "+db.at("2070-01-02 00:00:00")+")")
		cfg := db.config(t)
		cfg.BatchSize = 1
		cfg.Progress = func(done, total int64) {
			if done == 1 {
				db.run(t, "INSERT INTO orders (id, created_at) VALUES (4, "+db.at("2023-01-01 00:00:00")+")")
			}
			if total != 3 {
				t.Errorf("%d of %d", done, total)
			}
		}
		result, err := backfill.Run(t.Context(), db.DB, cfg)
		var left *backfill.LeftError
		if !errors.As(err, &left) || left.Rows != 2 || left.Key != "4" || result.Rows != 2 || result.Worker != 1023 || !strings.HasSuffix(err.Error(), "run it again") {
			t.Errorf("%+v, %v", result, err)
		}
		cfg.Progress = nil
		result, err = backfill.Run(t.Context(), db.DB, cfg)
		if !errors.As(err, &left) || left.Rows != 1 || left.Key != "3" || result.Rows != 1 || result.Worker != 1022 {
			t.Errorf("again: %+v, %v", result, err)
		}
		result, err = backfill.Run(t.Context(), db.DB, cfg)
		if !errors.As(err, &left) || result.Worker != -1 { // a claim is of no use
			t.Errorf("in the future: %+v, %v", result, err)
		}
		if p := decode(t, db.One(t, "SELECT id_snowkey FROM orders WHERE id = 4")); p.Time.Year() != 2023 {
			t.Errorf("%+v", p)
		}
	})
}

// Two runs at once share the rows. No id is given twice.
func TestTwo(t *testing.T) {
	onEvery(t, func(t *testing.T, db *engine) {
		db.run(t, "CREATE TABLE orders (id {key}, created_at {time})", "CREATE TABLE refs (order_id bigint, FOREIGN KEY (order_id) REFERENCES orders (id))")
		values := make([]string, 200)
		for i := range values {
			values[i] = "(" + db.at("2024-01-01 00:00:00") + ")"
		}
		db.run(t, "INSERT INTO orders (created_at) VALUES "+strings.Join(values, ", "), "INSERT INTO refs SELECT id FROM orders",
			"ALTER TABLE orders ADD COLUMN id_snowkey bigint", "ALTER TABLE refs ADD COLUMN order_id_snowkey bigint", "CREATE INDEX refs_order_id ON refs (order_id)")
		cfg := db.config(t)
		cfg.BatchSize = 5
		errs := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := backfill.Run(t.Context(), db.DB, cfg)
				errs <- err
			}()
		}
		for range 2 {
			if err := <-errs; err != nil && !errors.As(err, new(*backfill.LeftError)) {
				t.Error(err)
			}
		}
		db.fill(t, cfg, 0, 0)
		db.Expect(t, "200", "SELECT count(DISTINCT id_snowkey) FROM orders", "SELECT count(*) FROM refs r JOIN orders o ON o.id = r.order_id AND o.id_snowkey = r.order_id_snowkey")
	})
}

// forgetful is a store that lists no records, as if other claims came right after each list.
type forgetful struct{ *memstore.Store }

func (forgetful) List(context.Context, string) (driver.State, error) {
	return driver.State{Missing: true}, nil
}

// A worker ID that was ever leased is not taken, whether it is held or free: the store alone sees to
// that. Later leases of the backfill's begin after all of its ids.
func TestWorkerID(t *testing.T) {
	for _, lists := range []bool{true, false} {
		t.Run(fmt.Sprint(lists), func(t *testing.T) {
			db := openSQLite(t)
			layout := core.Layout{TimeBits: 41, WorkerBits: 2, SequenceBits: 12}
			store := memstore.New(memstore.Config{})
			lease := func(id int64) *worker.Generator {
				l, err := worker.Open(t.Context(), store, worker.Config{Layout: layout, Preferred: &id, RequirePreferred: true})
				must(t, err)
				t.Cleanup(func() { _ = l.Close(context.Background()) })
				return l
			}
			lease(3)
			_ = lease(2).Close(context.Background()) // it is free again
			cfg := backfill.Config{Dialect: ddl.SQLite, Table: "orders", CreatedAt: "created_at", Layout: layout, Store: store}
			if !lists {
				cfg.Store = forgetful{store}
			}
			table := func() {
				db.run(t, "DROP TABLE IF EXISTS orders", "CREATE TABLE orders (id INTEGER PRIMARY KEY, created_at datetime)", "INSERT INTO orders (created_at) VALUES ('2024-01-01'), (strftime('%Y-%m-%d %H:%M:%f', 'now', '-0.01 seconds'))")
			}
			for _, want := range []int64{1, 0} {
				table()
				if result := db.fill(t, cfg, 2, 0); result.Worker != want {
					t.Fatalf("%+v", result)
				}
				last, err := strconv.ParseInt(db.One(t, "SELECT max(id_snowkey) FROM orders"), 10, 64)
				must(t, err)
				if id, err := lease(want).Next(t.Context()); err != nil || id <= last {
					t.Errorf("%d after %d, %v", id, last, err)
				}
			}
			table()
			if _, err := backfill.Run(t.Context(), db.DB, cfg); !errors.Is(err, worker.ErrNoWorkerID) {
				t.Error(err)
			}
			// In a namespace that may have been forgotten, no worker ID is known to be unused.
			if ns, err := store.Raise(t.Context(), "default", 0); err != nil || ns.Floor == 0 {
				t.Fatalf("%+v, %v", ns, err)
			}
			if _, err := backfill.Run(t.Context(), db.DB, cfg); lists && (err == nil || !strings.Contains(err.Error(), "were ever used is not known")) {
				t.Error(err)
			}
			// A worker ID that the user asserts: of which the store has no record, and the column no id.
			cfg.Worker = new(int64)
			if _, err := backfill.Run(t.Context(), db.DB, cfg); !errors.Is(err, worker.ErrNoWorkerID) {
				t.Error(err)
			}
			cfg.Namespace = "other"
			if result := db.fill(t, cfg, 2, 0); result.Worker != 0 {
				t.Errorf("%+v", result)
			}
			db.run(t, "INSERT INTO orders (created_at) VALUES ('2024-01-01')")
			cfg.Namespace = "third"
			if _, err := backfill.Run(t.Context(), db.DB, cfg); err == nil || !strings.Contains(err.Error(), "orders.id_snowkey already has 2 ids with the worker ID 0, from") {
				t.Error(err)
			}
		})
	}
}
