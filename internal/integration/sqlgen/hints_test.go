package sqlgen

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// hint returns that of a call that must fail.
func hint(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	_, err := conn.Exec(t.Context(), next)
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != notReady || pg.Hint == "" {
		t.Fatalf("%v, without a hint", err)
	}
	return pg.Hint
}

var statementOfHint = regexp.MustCompile(`SELECT [^(]+\([^)]*\)`)

// The statement in the hint of an error makes ids come again.
func TestHints(t *testing.T) {
	for _, c := range []struct {
		name   string
		before []string
		ahead  time.Duration
	}{
		{"the clock was in the future", []string{"SELECT test_step('1 day')", next, "SELECT test_step('-1 day')"}, time.Second},
		{"twice", []string{"SELECT test_step('1 day')", next, "SELECT test_step('-1 day')", "SELECT snowkey_claim('{1022}')", "SELECT test_step('1 day')", next, "SELECT test_step('-1 day')"}, time.Second},
		{"with three worker IDs", []string{"SELECT snowkey_claim(how_many => 3)", "SELECT test_step('1 day')", next, "SELECT test_step('-1 day')"}, time.Second},
		{"a copy", []string{"UPDATE snowkey_generator SET system = system + 1", "SELECT test_step('1 day')"}, time.Second},
		{"another has the worker ID", []string{"UPDATE snow_lease SET claim_id = 'another'", "SELECT test_step('1 day')"}, time.Second},
		{"the record is gone", []string{"DELETE FROM snow_lease", "SELECT test_step('1 day')"}, 41 * time.Second}, // by the floor
		{"no worker IDs", []string{"SELECT snowkey_release()", "SELECT test_step('1 day')"}, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := connect(t, database(t))
			createWithClock(t, conn, orders)
			var found ids
			var last int64
			found.add(t, &last, all(t, conn, many)...)
			run(t, conn, c.before...)
			says := hint(t, conn)
			statement := statementOfHint.FindString(says)
			if statement == "" {
				t.Fatalf("no statement in %q", says)
			}
			run(t, conn, statement)
			last = 0
			found.add(t, &last, all(t, conn, many)...)
			parts, err := core.Twitter().Decode(last)
			if d := parts.Time.Sub(one[time.Time](t, conn, "SELECT test_clock()")); err != nil || d > c.ahead || d < c.ahead-2*time.Second {
				t.Errorf("after %s an id is %v from the clock, %v", statement, d, err)
			}
		})
	}
}

// Where there is no other worker ID, the hint says when ids come again, and then they do.
func TestHintOfTime(t *testing.T) {
	conn := connect(t, database(t))
	createWithClock(t, conn, ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders", Layout: core.Layout{TimeBits: 42, SequenceBits: 21}})
	run(t, conn, next, "SELECT test_step('1 day')", next, "SELECT test_step('-1 day')", "SET TIME ZONE 'UTC'")
	says := hint(t, conn)
	if !strings.Contains(says, "too few other worker IDs") || strings.Contains(says, "SELECT") {
		t.Errorf("%q", says)
	}
	found := regexp.MustCompile(`come again at ([-0-9]+ [:.0-9]+\+00)\.`).FindStringSubmatch(says)
	if found == nil {
		t.Fatalf("no time in %q", says)
	}
	step := "SELECT test_step('" + found[1] + "'::timestamptz - test_clock() + interval '%')"
	run(t, conn, strings.ReplaceAll(step, "%", "-2min")) // a session uses up a block that is less than that ahead
	hint(t, conn)
	run(t, conn, strings.ReplaceAll(step, "%", "0s"), next)

	// A call that has only waited for its turn says how to get more ids.
	run(t, conn, script(t)(ddl.Generator{Dialect: ddl.Postgres, Namespace: "many", Prefix: "many_"}.Create())...)
	says = one[string](t, conn, "SELECT many_ahead_hint(0.5)")
	if got := one[[]int64](t, conn, statementOfHint.FindString(says)); len(got) != 2 || strings.Contains(one[string](t, conn, "SELECT many_ahead_hint(11)"), "how_many") {
		t.Errorf("%v, by %q", got, says)
	}
}

// A script refuses a generator of another version, and changes nothing.
func TestVersion(t *testing.T) {
	conn := connect(t, database(t))
	create(t, conn, orders)
	run(t, conn, "UPDATE snowkey_generator SET version = version + 1")
	refused(t, conn, "P0001", `"snowkey_next" is a generator of version 2`, script(t)(orders.Create())[3])
	refused(t, conn, "P0001", "is a generator of another version", script(t)(orders.Drop())[0])
	run(t, conn, next, "UPDATE snowkey_generator SET version = 1")
	create(t, conn, orders)
	run(t, conn, next)
}
