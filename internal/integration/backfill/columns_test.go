package backfill

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// decode returns the time of an id in Twitter's layout.
func decode(t *testing.T, text string) core.Parts {
	t.Helper()
	id, err := strconv.ParseInt(text, 10, 64)
	must(t, err)
	p, err := core.Twitter().Decode(id)
	must(t, err)
	return p
}

// Each kind of key is found again in the table and in those that refer to it.
func TestKeys(t *testing.T) {
	onEvery(t, func(t *testing.T, db *engine) {
		for typ, keys := range map[string][]string{
			"bigint":          {"1", "-5", "9007199254740993", "9007199254740992", "9223372036854775807"},
			"int":             {"1", "2", "3"},
			"varchar(40)":     {"'a'", "'B'", "'ä''b\\'", "'01'", "'1'", "''"},
			"char(36)":        {"'6ba7b810-9dad-11d1-80b4-00c04fd430c8'", "'6ba7b811-9dad-11d1-80b4-00c04fd430c8'"},
			"timestamp":       {"'2024-01-01 00:00:00'", "'2024-01-02 00:00:00'"},
			"uuid":            {"'6ba7b810-9dad-11d1-80b4-00c04fd430c8'", "'6ba7b811-9dad-11d1-80b4-00c04fd430c8'"},
			"binary(4)":       {"x'00ff0027'", "x'27ff00aa'"},
			"decimal(30)":     {"1", "123456789012345678901234567890", "123456789012345678901234567891"},
			"decimal(20,2)":   {"9007199254740993.01", "9007199254740993.02", "-9007199254740993.02"},
			"bigint unsigned": {"18446744073709551615", "18446744073709551614", "9223372036854775808"},
		} {
			switch {
			case db.Dialect == ddl.Postgres && (typ == "binary(4)" || typ == "bigint unsigned"):
				continue
			case db.Dialect == ddl.MySQL && typ == "uuid", db.Dialect == ddl.SQLite && (strings.HasPrefix(typ, "decimal") || typ == "bigint unsigned"):
				continue // decimals of SQLite are float64
			}
			t.Run(typ, func(t *testing.T) {
				if db.Dialect == ddl.MySQL { // backslashes escape there
					keys = slices.Clone(keys)
					for i := range keys {
						keys[i] = strings.ReplaceAll(keys[i], `\`, `\\`)
					}
				}
				db.run(t, "CREATE TABLE orders (id "+typ+" PRIMARY KEY, created_at {time})",
					"CREATE TABLE refs (n bigint, order_id "+typ+", FOREIGN KEY (order_id) REFERENCES orders (id))",
					"CREATE INDEX refs_order_id ON refs (order_id)")
				for i, key := range keys {
					db.run(t, fmt.Sprintf("INSERT INTO orders VALUES (%s, %s)", key, db.at(fmt.Sprintf("2024-01-01 00:00:%02d", i))),
						fmt.Sprintf("INSERT INTO refs VALUES (%d, %s)", i, key), fmt.Sprintf("INSERT INTO refs VALUES (%d, %s)", i, key))
				}
				db.fill(t, db.config(t), int64(len(keys)), int64(2*len(keys)))
				rows := db.Read(t, "SELECT r.n, r.order_id_snowkey, o.id_snowkey FROM refs r JOIN orders o ON o.id = r.order_id ORDER BY r.n")
				if len(rows) != 2*len(keys) {
					t.Errorf("%d rows", len(rows))
				}
				for i, r := range rows {
					want := time.Date(2024, 1, 1, 0, 0, i/2, 0, time.UTC)
					if p := decode(t, r[1]); r[1] != r[2] || !p.Time.Equal(want) {
						t.Errorf("row %s: %s, %s, %v", r[0], r[1], r[2], p.Time)
					}
				}
				db.drop(t, "refs", "orders")
			})
		}
	})
}

// drop drops tables, and the statements that drivers have prepared for them.
func (db *engine) drop(t *testing.T, tables ...string) {
	t.Helper()
	for _, table := range tables {
		db.run(t, "DROP TABLE "+table)
	}
	db.SetMaxIdleConns(0)
	db.SetMaxIdleConns(2)
}

// at is a moment of UTC as a literal for a column of the type {time}.
func (db *engine) at(utc string) string {
	if db.Dialect == ddl.Postgres {
		return "'" + utc + "Z'"
	}
	return "'" + utc + "'"
}

// Ids have the times of their rows, to the millisecond, for each type of column.
func TestTimes(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	must(t, err)
	const want = "2024-07-01T10:00:00.123Z"
	type times struct {
		typ, value string
		loc        *time.Location
		unit       time.Duration
		want       string
	}
	cases := map[ddl.Dialect][]times{
		ddl.Postgres: {
			{"timestamptz", "'2024-07-01 12:00:00.123999+02'", nil, 0, want},
			{"timestamptz(3)", "'2024-07-01 12:00:00.123+02'", paris, 0, want},
			{"timestamp", "'2024-07-01 10:00:00.123999'", nil, 0, want},
			{"timestamp(3)", "'2024-07-01 12:00:00.123'", paris, 0, want},
			{"date", "'2024-07-01'", paris, 0, "2024-06-30T22:00:00.000Z"},
			{"timestamp", "'2024-03-31 03:00:00'", paris, 0, "2024-03-31T01:00:00.000Z"},
		},
		ddl.MySQL: {
			{"timestamp(3) NULL", "'2024-07-01 15:30:00.123'", nil, 0, want}, // the session is at +05:30
			{"timestamp NULL", "'2024-07-01 15:30:00'", paris, 0, "2024-07-01T10:00:00.000Z"},
			{"datetime(6)", "'2024-07-01 10:00:00.123999'", nil, 0, want},
			{"datetime(3)", "'2024-07-01 12:00:00.123'", paris, 0, want},
			{"datetime", "'2024-07-01 12:00:00'", paris, 0, "2024-07-01T10:00:00.000Z"},
			{"date", "'2024-07-01'", nil, 0, "2024-07-01T00:00:00.000Z"},
			{"bigint unsigned", "1719828000123", nil, time.Millisecond, want},
		},
		ddl.SQLite: {
			{"datetime", "'2024-07-01 10:00:00.123999'", nil, 0, want},
			{"datetime", "'2024-07-01 12:00:00.1239999+02:00'", nil, 0, want},
			{"text", "'2024-07-01T10:00:00.123Z'", paris, 0, want},
			{"datetime", "'2024-07-01 12:00:00.123'", paris, 0, want},
			{"timestamp", "'2024-07-01 12:00:00.123 +0200 CEST m=+0.5'", nil, 0, want},
			{"date", "'2024-07-01'", nil, 0, "2024-07-01T00:00:00.000Z"},
		},
	}
	integers := []times{
		{"bigint", "1719828000", nil, time.Second, "2024-07-01T10:00:00.000Z"},
		{"bigint", "1719828000123", paris, time.Millisecond, want},
		{"bigint", "1719828000123999", nil, time.Microsecond, want},
		{"bigint", "1719828000123999999", nil, time.Nanosecond, want},
		{"int", "1719828000", nil, time.Second, "2024-07-01T10:00:00.000Z"},
	}
	onEvery(t, func(t *testing.T, db *engine) {
		for i, c := range append(cases[db.Dialect], integers...) {
			t.Run(fmt.Sprintf("%d %s", i, c.typ), func(t *testing.T) {
				db.run(t, "CREATE TABLE orders (id bigint PRIMARY KEY, created_at "+c.typ+")", "INSERT INTO orders VALUES (1, "+c.value+")")
				cfg := db.config(t)
				cfg.Location, cfg.Unit = c.loc, c.unit
				if _, err := backfill.Run(t.Context(), db.DB, cfg); err != nil {
					t.Error(err)
				} else if got := decode(t, db.One(t, "SELECT id_snowkey FROM orders")).Time.Format("2006-01-02T15:04:05.000Z"); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
				db.drop(t, "orders")
			})
		}
	})
}

// Columns that MySQL sets in each UPDATE keep their values.
func TestOnUpdate(t *testing.T) {
	onMySQL(t, func(t *testing.T, db *engine) {
		const updated = "updated_at datetime NOT NULL DEFAULT '2001-01-01' ON UPDATE CURRENT_TIMESTAMP"
		db.run(t, "CREATE TABLE orders (id {key}, created_at {time}, "+updated+")",
			"CREATE TABLE refs (id {key}, order_id bigint, "+updated+", FOREIGN KEY (order_id) REFERENCES orders (id))",
			"CREATE TABLE loose (id {key}, order_id bigint, "+updated+")",
			"INSERT INTO orders (created_at) VALUES ('2024-01-01')", "INSERT INTO refs (order_id) VALUES (1)", "INSERT INTO loose (order_id) VALUES (1)")
		cfg := db.config(t)
		cfg.References = []string{"loose.order_id"}
		db.fill(t, cfg, 1, 2)
		for _, table := range []string{"orders", "refs", "loose"} {
			db.Expect(t, "1", "SELECT updated_at = '2001-01-01' FROM "+table)
		}
	})
}

// The names of a table in another schema are quoted.
func TestSchema(t *testing.T) {
	db := openPostgres(t)
	db.run(t, `CREATE SCHEMA "Old"`, `CREATE TABLE "Old"."Orders" ("Id" bigint PRIMARY KEY, "At" timestamptz)`,
		`INSERT INTO "Old"."Orders" VALUES (1, '2024-01-01')`, `CREATE TABLE refs ("O" bigint REFERENCES "Old"."Orders")`, "INSERT INTO refs VALUES (1)")
	cfg := db.config(t)
	cfg.Table, cfg.CreatedAt = "Old.Orders", "At"
	db.fill(t, cfg, 1, 1)
	db.Expect(t, "1", `SELECT count(*) FROM "Old"."Orders" o JOIN refs r ON o."Id_snowkey" = r."O_snowkey"`)
}
