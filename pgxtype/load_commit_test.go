package pgxtype_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// A constraint that is checked at COMMIT names the one table that PostgreSQL can
// mean, by Load and by Retry, and always the key.
func TestLoadDeferred(t *testing.T) {
	const key = "Key (ref)=(9) is not present"
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table plain (id bigint primary key, ref bigint references plain deferrable initially deferred);
		create table items (id bigint primary key, ref bigint);
		create table parts (id bigint primary key, ref bigint references plain deferrable initially deferred) partition by range (id);
		create table part1 partition of parts for values from (1) to (100)`)
	other := strings.Replace(s.schema, "shop", "other", 1)
	if _, err := s.pool.Exec(t.Context(), `create schema `+other+` create table items (id bigint primary key, ref bigint references items deferrable initially deferred)`); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := s.pool.Exec(context.Background(), `drop schema `+other+` cascade`); err != nil {
			t.Error(err)
		}
	})
	table := func(name ...string) pgxtype.Table[ID] {
		return pgxtype.ParentTable(name, []string{"id", "ref"}, func(id *ID, row []any) []any {
			if slices.Equal(name, []string{"items"}) || len(name) == 2 && name[0] == s.schema {
				return append(row, id, nil)
			}
			return append(row, id, ID(9))
		})
	}
	for _, tt := range []struct {
		name   string
		tables []pgxtype.Table[ID]
		want   pgx.Identifier
	}{
		{"one table", []pgxtype.Table[ID]{table("plain")}, pgx.Identifier{"plain"}},
		{"one name in two schemas", []pgxtype.Table[ID]{table(s.schema, "items"), table(other, "items")}, pgx.Identifier{other, "items"}},
		{"the same name, one without a schema", []pgxtype.Table[ID]{table("items"), table(other, "items")}, nil},
		{"a partition", []pgxtype.Table[ID]{table("parts")}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, method := range methods {
				cfg := pgxtype.LoadConfig[ID]{Tables: tt.tables, Method: method}
				load := func(db pgxtype.Beginner) error {
					_, err := pgxtype.Load(t.Context(), db, pgxtype.Seq(slices.Values([]ID{1, 2})), cfg)
					return err
				}
				for by, run := range map[string]func() error{
					"Load": func() error { return load(s.pool) },
					"Retry": func() error {
						return pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error { return load(tx) })
					},
				} {
					err := run()
					var at *pgxtype.LoadError
					if errors.As(err, &at) != (tt.want != nil) || at != nil && (!slices.Equal(at.Table, tt.want) || at.Row != -1) || err == nil || strings.Count(err.Error(), key) != 1 {
						t.Errorf("%s, %s, %s: %v", tt.name, name, by, err)
					}
				}
			}
		})
	}
	// An error of f's own statement is not that of a load.
	err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
		if _, err := pgxtype.Load(t.Context(), tx, pgxtype.Seq(slices.Values([]ID{1})), pgxtype.LoadConfig[ID]{Tables: []pgxtype.Table[ID]{table("items")}}); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), `insert into items values (1)`)
		return err
	})
	var at *pgxtype.LoadError
	if err == nil || errors.As(err, &at) {
		t.Errorf("f's own: %v", err)
	}
}
