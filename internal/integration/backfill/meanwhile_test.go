package backfill

import (
	"errors"
	"testing"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
)

// What a program does to a row between its reading and its writing decides what refers to it: the
// id that the program gave it, or none if the row is gone.
func TestChangedMeanwhile(t *testing.T) {
	onEvery(t, func(t *testing.T, db *engine) {
		db.run(t, "CREATE TABLE orders (id bigint PRIMARY KEY, created_at {time}, id_snowkey bigint)",
			"CREATE TABLE refs (order_id bigint)", "CREATE INDEX refs_order_id ON refs (order_id)",
			"INSERT INTO orders (id, created_at) VALUES (1, "+db.at("2024-01-01 00:00:00")+"), (2, "+db.at("2024-01-02 00:00:00")+"), (3, "+db.at("2024-01-03 00:00:00")+"), (4, "+db.at("2024-01-04 00:00:00")+")",
			"INSERT INTO refs VALUES (1), (2), (3), (4), (NULL), (5)")
		cfg := db.config(t)
		cfg.References, cfg.BatchSize = []string{"refs.order_id"}, 1
		cfg.Progress = func(done, _ int64) {
			if done == 1 {
				db.run(t, "UPDATE orders SET id_snowkey = 77 WHERE id = 2", "DELETE FROM orders WHERE id = 3")
			}
		}
		db.fill(t, cfg, 2, 3)
		db.Expect(t, "0", "SELECT count(*) FROM refs r LEFT JOIN orders o ON o.id = r.order_id WHERE COALESCE(r.order_id_snowkey, 0) <> COALESCE(o.id_snowkey, 0)")
	})
}

// An old program changes references that have an id already, and knows nothing of the new column.
// The run says so, and the next one repairs what was set to NULL.
func TestMovedReferences(t *testing.T) {
	onEvery(t, func(t *testing.T, db *engine) {
		db.run(t, "CREATE TABLE orders (id bigint PRIMARY KEY, created_at {time})",
			"CREATE TABLE refs (n bigint, order_id bigint, FOREIGN KEY (order_id) REFERENCES orders (id))",
			"INSERT INTO orders VALUES (1, "+db.at("2024-01-01 00:00:00")+"), (2, "+db.at("2024-01-02 00:00:00")+")",
			"INSERT INTO refs VALUES (1, 1), (2, 1), (3, 1), (4, NULL)")
		cfg := db.config(t)
		if _, err := backfill.Run(t.Context(), db.DB, cfg); err != nil {
			t.Fatal(err)
		}
		db.run(t, "UPDATE refs SET order_id = 2 WHERE n = 1", "UPDATE refs SET order_id = NULL WHERE n = 2", "INSERT INTO orders (id, created_at) VALUES (3, "+db.at("2070-01-01 00:00:00")+")")
		_, err := backfill.Run(t.Context(), db.DB, cfg)
		var stale *backfill.ReferenceError
		if !errors.As(err, &stale) || stale.Rows != 2 || stale.Column != "order_id" || stale.NewColumn != "order_id_snowkey" {
			t.Error(err)
		}
		if left := new(backfill.LeftError); !errors.As(err, &left) {
			t.Errorf("%v does not say what is left", err)
		}
		db.run(t, "UPDATE refs SET order_id_snowkey = NULL", "DELETE FROM orders WHERE id = 3")
		db.fill(t, cfg, 0, 2)
		db.Expect(t, "0", "SELECT count(*) FROM refs r LEFT JOIN orders o ON o.id = r.order_id WHERE COALESCE(r.order_id_snowkey, 0) <> COALESCE(o.id_snowkey, 0)")
		cfg.Column = "public_id" // whose references would be in the same columns
		if _, err := backfill.Run(t.Context(), db.DB, cfg); !errors.As(err, &stale) || stale.Rows != 2 {
			t.Error(err)
		}
	})
}

// References are compared with keys as the key's collation says, not as that of the reference.
func TestCollations(t *testing.T) {
	test := func(t *testing.T, db *engine, key, ref string) {
		t.Helper()
		db.run(t, "CREATE TABLE orders (id "+key+" PRIMARY KEY, created_at {time})", "CREATE TABLE refs (order_id "+ref+")",
			"CREATE INDEX refs_order_id ON refs (order_id)",
			"INSERT INTO orders VALUES ('A', '2024-01-01'), ('a', '2024-01-02')", "INSERT INTO refs VALUES ('A'), ('a')")
		cfg := db.config(t)
		cfg.References = []string{"refs.order_id"}
		db.fill(t, cfg, 2, 2)
		db.Expect(t, "2", "SELECT count(DISTINCT order_id_snowkey) FROM refs")
	}
	t.Run("sqlite", func(t *testing.T) { test(t, openSQLite(t), "text", "text COLLATE NOCASE REFERENCES orders (id)") })
	t.Run("mysql", func(t *testing.T) {
		onMySQL(t, func(t *testing.T, db *engine) {
			test(t, db, "varchar(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "varchar(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
		})
	})
}

// Keys and tables that only SQLite has.
func TestSQLiteOnly(t *testing.T) {
	for name, c := range map[string]struct {
		setup []string
		child string
	}{
		"a table p":     {[]string{"CREATE TABLE orders (id integer PRIMARY KEY, created_at datetime, order_id bigint)", "CREATE TABLE p (order_id bigint REFERENCES orders)", "INSERT INTO orders VALUES (1, '2024-01-01', 1), (2, '2024-01-02', 2)", "INSERT INTO orders VALUES (3, '2024-01-03', 4)", "INSERT INTO p VALUES (1)"}, "p"},
		"strict":        {[]string{"CREATE TABLE orders (id integer PRIMARY KEY, created_at text) STRICT", "CREATE TABLE refs (order_id integer REFERENCES orders) STRICT", "INSERT INTO orders VALUES (1, '2024-01-01')", "INSERT INTO refs VALUES (1)"}, "refs"},
		"binary UUIDs":  {[]string{"CREATE TABLE orders (id uuid PRIMARY KEY, created_at datetime)", "CREATE TABLE refs (order_id uuid REFERENCES orders)", "CREATE INDEX r ON refs (order_id)", "INSERT INTO orders VALUES (x'00ff27', '2024-01-01')", "INSERT INTO refs VALUES (x'00ff27')"}, "refs"},
		"texts as blob": {[]string{"CREATE TABLE orders (id blob PRIMARY KEY, created_at datetime)", "CREATE TABLE refs (order_id blob REFERENCES orders)", "INSERT INTO orders VALUES ('a', '2024-01-01')", "INSERT INTO refs VALUES ('a')"}, "refs"},
	} {
		t.Run(name, func(t *testing.T) {
			db := openSQLite(t)
			db.run(t, c.setup...)
			result, err := backfill.Run(t.Context(), db.DB, db.config(t))
			if err != nil || result.Rows == 0 || result.Referring != 1 {
				t.Errorf("%+v, %v", result, err)
			}
			db.Expect(t, "1", "SELECT count(*) FROM orders o JOIN "+c.child+" r ON o.id_snowkey = r.order_id_snowkey")
		})
	}
}

// A name with other capitals is another name where the database says so.
func TestCapitals(t *testing.T) {
	db := openPostgres(t)
	db.run(t, `CREATE TABLE orders (id bigint PRIMARY KEY, "ID" bigint UNIQUE, created_at timestamptz)`, `CREATE TABLE refs (order_id bigint REFERENCES orders ("ID"))`,
		"INSERT INTO orders VALUES (1, 2, '2024-01-01'), (2, 1, '2024-01-02')", "INSERT INTO refs VALUES (1)")
	if p, err := backfill.Inspect(t.Context(), db.DB, db.config(t)); err != nil || len(p.References) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}
