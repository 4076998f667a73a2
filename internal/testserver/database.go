package testserver

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"
)

// Database creates an empty database on the PostgreSQL or MySQL server of a DSN and returns
// the DSN of the database, which is dropped after the test, with PostgreSQL also while
// clients are connected. driver is the name of the database/sql driver that the test has
// imported: "mysql", or one of PostgreSQL.
func Database(t testing.TB, driver, dsn string) string {
	t.Helper()
	admin, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("snowkey_%016x", rand.Uint64())
	if _, err := admin.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	drop := "DROP DATABASE " + name + map[bool]string{true: " WITH (FORCE)"}[driver != "mysql"]
	t.Cleanup(func() {
		// A lock that is still held must not hold up all tests that follow.
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		if _, err := admin.ExecContext(ctx, drop); err != nil {
			t.Error(err)
		}
		_ = admin.Close()
	})
	return databasePath.ReplaceAllString(dsn, "/"+name+"${1}")
}

var databasePath = regexp.MustCompile(`/[^/?]*(\?.*)?$`)
