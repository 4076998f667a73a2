package pgxtype_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// The error suggests Register if that would help, and only then.
func TestLoadHintsAtRegister(t *testing.T) {
	for _, method := range []pgxtype.Method{pgxtype.Copy, pgxtype.Unnest} {
		for _, tt := range []struct {
			column   string
			register bool
			hint     bool // whether it fails with one
			fails    bool
		}{
			{"text", false, true, true},
			{"text", true, false, false},
			{"bigint", false, false, false},
			{"timestamptz", false, false, true},
			{"timestamptz", true, false, true},
			{"bytea", true, false, true},
		} {
			t.Run(tt.column, func(t *testing.T) {
				conn := connect(t, pgx.QueryExecModeCacheStatement)
				if tt.register {
					pgxtype.Register(conn.TypeMap())
				}
				run(t, conn, `create temp table keys (id `+tt.column+`)`)
				_, err := pgxtype.Load(t.Context(), conn, pgxtype.Seq(slices.Values([]ID{big})), pgxtype.LoadConfig[ID]{
					Method: method,
					Tables: []pgxtype.Table[ID]{pgxtype.ParentTable(pgx.Identifier{"keys"}, []string{"id"}, func(id *ID, row []any) []any { return append(row, id) })},
				})
				if (err != nil) != tt.fails || err != nil && strings.Contains(err.Error(), "call pgxtype.Register") != tt.hint {
					t.Errorf("%v to %s, registered %t: %v", method, tt.column, tt.register, err)
				}
			})
		}
	}
}

// A connection without Register returns the errors that docs/pgx.md lists.
func TestBareErrors(t *testing.T) {
	doc, err := os.ReadFile("../docs/pgx.md")
	if err != nil {
		t.Fatal(err)
	}
	described, exec := connect(t, pgx.QueryExecModeCacheStatement), connect(t, pgx.QueryExecModeExec)
	run(t, described, `create domain pg_temp.key as bigint`)
	for wanted, err := range map[string]error{
		"unable to encode … into text format for text (OID 25)":        described.QueryRow(t.Context(), `select $1::text`, big).Scan(new(string)),
		"unable to encode … into text format for unknown type (OID 0)": exec.QueryRow(t.Context(), `select $1::bigint[]`, []ID{big}).Scan(new([]ID)),
		"cannot scan unknown type (OID …) … into *[]sqltype.ID":        described.QueryRow(t.Context(), `select '{1}'::key[]`).Scan(new([]ID)),
		`sqltype: scan "\"7\"": not a decimal id`:                      described.QueryRow(t.Context(), `select '"7"'::jsonb`).Scan(new(ID)),
	} {
		t.Run(wanted, func(t *testing.T) {
			if !strings.Contains(string(doc), wanted) {
				t.Errorf("docs/pgx.md does not list %s", wanted)
			}
			pattern := strings.ReplaceAll(regexp.QuoteMeta(wanted), "…", ".*")
			if err == nil || !regexp.MustCompile(pattern).MatchString(err.Error()) {
				t.Errorf("%v, want %s", err, wanted)
			}
		})
	}
}
