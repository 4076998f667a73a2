package sqlgen

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// orders is the generator of most tests.
var orders = ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders"}

// database returns the DSN of a new database on the shared server.
func database(t testing.TB) string {
	t.Helper()
	return testserver.Database(t, "pgx", testserver.Postgres(t).DSN)
}

func connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	must(t, err)
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // no prepared statements, which DISCARD ALL discards
	conn, err := pgx.ConnectConfig(t.Context(), config)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func run(t testing.TB, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func script(t testing.TB) func(ddl.Script, error) ddl.Script {
	return func(s ddl.Script, err error) ddl.Script {
		t.Helper()
		must(t, err)
		return s
	}
}

// create runs the script of a generator, each old text replaced by the new one after it.
func create(t testing.TB, conn *pgx.Conn, g ddl.Generator, oldnew ...string) {
	t.Helper()
	for _, statement := range script(t)(g.Create()) {
		run(t, conn, strings.NewReplacer(oldnew...).Replace(statement))
	}
}

// one returns the single value of a query.
func one[T any](t testing.TB, conn *pgx.Conn, query string, args ...any) (value T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), query, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// all returns the values of a query.
func all(t testing.TB, conn *pgx.Conn, query string) []int64 {
	t.Helper()
	rows, _ := conn.Query(t.Context(), query)
	values, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return values
}

// refused runs a statement, which must fail with this text and SQLSTATE.
func refused(t testing.TB, conn *pgx.Conn, code, want, statement string) {
	t.Helper()
	_, err := conn.Exec(t.Context(), statement)
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != code || !strings.Contains(pg.Message, want) {
		t.Errorf("%s: %v; want %s %q", statement, err, code, want)
	}
}

const (
	notReady = "55000" // object_not_in_prerequisite_state
	next     = "SELECT snowkey_next('orders')"
	many     = "SELECT snowkey_next('orders') FROM generate_series(1, 1000)"
)

// ids are all ids of a test.
type ids struct {
	seen map[int64]bool
}

// add notes ids of one session. None may be known, and they must ascend.
func (i *ids) add(t testing.TB, session *int64, got ...int64) {
	t.Helper()
	if i.seen == nil {
		i.seen = map[int64]bool{}
	}
	for _, id := range got {
		if i.seen[id] {
			t.Fatalf("DUPLICATE %d, the %dth id", id, len(i.seen)+1)
		}
		if id <= *session {
			t.Fatalf("%d after %d in the same session", id, *session)
		}
		i.seen[id], *session = true, id
	}
}

// near fails unless the time of an id is within these bounds of now.
func near(t testing.TB, id int64, late, ahead time.Duration) {
	t.Helper()
	parts, err := core.Twitter().Decode(id)
	must(t, err)
	if d := time.Until(parts.Time); d < -late || d > ahead {
		t.Errorf("id %d is %v from now, want -%v to %v", id, d, late, ahead)
	}
}

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

var must = engines.Must
