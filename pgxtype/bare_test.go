package pgxtype_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

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
