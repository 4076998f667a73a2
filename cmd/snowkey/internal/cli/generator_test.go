package cli

import (
	"database/sql"
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/doctor"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// The printed script creates a generator, which workers list, workers free and doctor know as
// one, and the other script drops it.
func TestGenerator(t *testing.T) {
	for _, of := range []struct{ dialect, driver, dsn string }{
		{"postgres", "pgx", testserver.Database(t, "pgx", testserver.Postgres(t).DSN)},
		{"mariadb", "mysql", testserver.Database(t, "mysql", testserver.MariaDB(t).DSN)},
	} {
		t.Run(of.dialect, func(t *testing.T) {
			db, err := sql.Open(of.driver, of.dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			paste := func(part string, more ...string) {
				t.Helper()
				got := run(t, append([]string{"ddl", part, "--dialect", of.dialect, "--namespace", "shop", "--json"}, more...)...)
				var statements []string
				if err := json.Unmarshal([]byte(got.out), &statements); err != nil || got.code != 0 {
					t.Fatalf("%v, exit code %d: %s", err, got.code, got.err)
				}
				for _, statement := range statements {
					if _, err := db.Exec(statement); err != nil {
						t.Fatalf("%v, from\n%s", err, statement)
					}
				}
			}
			store := []string{"--dsn", of.dsn, "--namespace", "shop"}
			paste("generator")
			var id int64
			if err := db.QueryRow("SELECT snowkey_next('shop')").Scan(&id); err != nil || id>>12&1023 != 1023 {
				t.Fatalf("id %d, %v", id, err)
			}

			listed := run(t, append([]string{"workers", "list"}, store...)...)
			if !strings.Contains(listed.out, "1023") || !strings.Contains(listed.out, "end of layout") || !strings.Contains(listed.out, "never") {
				t.Errorf("workers list: %s%s", listed.out, listed.err)
			}
			freed := run(t, append([]string{"workers", "free", "1023", "--fencing-token", "1"}, store...)...)
			if freed.code != 1 || !strings.Contains(freed.err, "ddl drop-generator") {
				t.Errorf("workers free: exit code %d, %s", freed.code, freed.err)
			}
			found := examine(t, Env{}, store...)
			found.want(t, "SQL generator", doctor.OK, "snowkey_next has the worker IDs 1023")
			found.want(t, "worker IDs", doctor.OK, "1 of 1024")

			if _, err := db.Exec("UPDATE snow_worker SET token = '', expires_at = 0 WHERE space = 'shop'"); err != nil { // as an old workers free
				t.Fatal(err)
			}
			examine(t, Env{}, store...).want(t, "SQL generator", doctor.Fail, "1023 not reserved any more")
			if _, err := db.Exec("UPDATE snow_worker SET token = (SELECT MIN(" + map[string]string{"postgres": "token", "mariadb": "claim"}[of.dialect] + ") FROM snowkey_generator), expires_at = 9007199254740992 WHERE space = 'shop'"); err != nil {
				t.Fatal(err)
			}
			copied := map[string]string{"postgres": "UPDATE snowkey_generator SET system = system + 1", "mariadb": "UPDATE snowkey_generator SET home = 'elsewhere'"}
			if _, err := db.Exec(copied[of.dialect]); err != nil {
				t.Fatal(err)
			}
			examine(t, Env{}, store...).want(t, "SQL generator", doctor.Fail, "is a copy")
			paste("generator", "--worker", "1022")
			examine(t, Env{}, store...).want(t, "SQL generator", doctor.OK, "snowkey_next has the worker IDs 1022")

			paste("drop-generator")
			listed = run(t, append([]string{"workers", "list", "--held"}, store...)...)
			if strings.Contains(listed.out, "1022") {
				t.Errorf("still held after the drop: %s", listed.out)
			}
			examine(t, Env{}, store...).want(t, "SQL generator", doctor.Warn, "no generator with the usual prefix")
		})
	}
}
