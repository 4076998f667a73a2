package cli

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/doctor"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

type diagnosis struct {
	Target string         `json:"target"`
	OK     bool           `json:"ok"`
	Checks []doctor.Check `json:"checks"`
}

// examine runs doctor and checks that its exit code matches its output.
func examine(t *testing.T, env Env, args ...string) (d diagnosis) {
	t.Helper()
	got := runWith(t, env, append([]string{"doctor", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(got.out), &d); err != nil {
		t.Fatalf("%v: exit code %d\n%s%s", err, got.code, got.out, got.err)
	}
	if want := map[bool]int{true: 0, false: 3}[d.OK]; got.code != want || got.err != "" {
		t.Errorf("exit code %d, want %d: %s", got.code, want, got.err)
	}
	return d
}

// want checks the status of a check and part of its detail.
func (d diagnosis) want(t *testing.T, name string, status doctor.Status, says string) {
	t.Helper()
	for _, c := range d.Checks {
		if c.Name != name {
			continue
		}
		if c.Status != status || !strings.Contains(c.Detail, says) {
			t.Errorf("%s: %s %q, want %s %q", name, c.Status, c.Detail, status, says)
		}
		if (c.Status == doctor.Fail || c.Status == doctor.Warn) && c.Advice == "" {
			t.Errorf("%s says not what to do", name)
		}
		return
	}
	t.Errorf("there is no check %q: %+v", name, d.Checks)
}

// Over HTTP, the worker IDs show whether there is a lease store: a server that refuses POST with 501 is none.
func TestDoctorWithoutLeaseStore(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotImplemented)
	}))
	defer server.Close()
	env := Env{Getenv: environment("SNOWKEY_TOKEN", "a-token-of-this-test")}
	for url, says := range map[string]string{
		server.URL: "not the answer of a lease store", "http://127.0.0.1:1": "connection refused",
	} {
		d := examine(t, env, "--dsn", url+"/leases")
		d.want(t, "worker IDs", doctor.Fail, says)
		if slices.ContainsFunc(d.Checks, func(c doctor.Check) bool { return c.Name == "connection" }) {
			t.Errorf("%+v", d.Checks)
		}
	}
}

// Settings of the servers.
func TestDoctorServers(t *testing.T) {
	all := places(t)
	pg := examine(t, Env{}, "--dsn", all["PostgreSQL"])
	pg.want(t, "connection", doctor.OK, "PostgreSQL 127.0.0.1")
	pg.want(t, "clock", doctor.OK, "round trip")
	pg.want(t, "full_page_writes", doctor.OK, "on")
	pg.want(t, "pg_is_in_recovery", doctor.OK, "primary")

	maria := examine(t, Env{}, "--dsn", all["MariaDB"])
	maria.want(t, "clock", doctor.OK, "round trip")
	maria.want(t, "read_only", doctor.OK, "OFF")
	maria.want(t, "sql_mode", doctor.OK, "strict")

	etcd := examine(t, Env{}, "--dsn", all["etcd"])
	etcd.want(t, "clock", doctor.OK, "")
	etcd.want(t, "durability", doctor.Skip, "etcd does not report it")
}

// A Redis leases whatever it may lose, but for keys that it evicts.
func TestDoctorRedis(t *testing.T) {
	server := testserver.NewRedis(t)
	dsn := "redis://" + server.Addr
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer client.Close()
	set := func(name, value string) {
		t.Helper()
		must(t, client.ConfigSet(t.Context(), name, value).Err())
	}
	set("maxmemory-policy", "allkeys-lru")
	d := examine(t, Env{}, "--dsn", dsn)
	d.want(t, "maxmemory-policy", doctor.Warn, "allkeys-lru")
	d.want(t, "role", doctor.OK, "master")
	set("maxmemory", "100mb")
	examine(t, Env{}, "--dsn", dsn).want(t, "maxmemory-policy", doctor.Fail, "allkeys-lru")
	set("maxmemory-policy", "noeviction")
	run(t, "gen", "--lease", dsn).want(t, 0, "", "")
	d = examine(t, Env{}, "--dsn", dsn)
	d.want(t, "layout of the namespace", doctor.OK, "default")
	d.want(t, "incarnation", doctor.OK, "since 20")
	if !d.OK {
		t.Errorf("a sound Redis fails: %+v", d.Checks)
	}
	must(t, client.Do(t.Context(), "REPLICAOF", "127.0.0.1", "1").Err())
	examine(t, Env{}, "--dsn", dsn).want(t, "role", doctor.Fail, "slave")
}

// This machine's clock is set forward and back.
func TestDoctorClock(t *testing.T) {
	all := places(t)
	for _, c := range []struct {
		store   string
		by      time.Duration
		maxSkew string
		status  doctor.Status
		says    string
	}{
		{"PostgreSQL", time.Minute, "10s", doctor.Fail, "behind"},
		{"MariaDB", -time.Minute, "10s", doctor.Fail, "ahead of"},
		{"Redis", 6 * time.Second, "10s", doctor.Warn, "behind"},
		{"etcd", time.Minute, "2m", doctor.Warn, "behind"},
	} {
		t.Run(c.store, func(t *testing.T) {
			env := Env{Clock: func() time.Time { return time.Now().Add(c.by) }}
			examine(t, env, "--dsn", all[c.store], "--max-skew", c.maxSkew, "--namespace", "clock").want(t, "clock", c.status, c.says)
		})
	}
}

// Checks that were interrupted do not say that all is well.
func TestDoctorInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	clock := func() time.Time { cancel(); return time.Now() } // is read by the comparison of the clocks
	got := runIn(ctx, Env{Clock: clock}, "doctor", "--json", "--dsn", testserver.Postgres(t).DSN)
	got.want(t, 1, `"ok": false`, "interrupted before all checks")
}

// Largest ids: of now, ahead of it, of no row, of another layout, and of no id column.
func TestDoctorGreatest(t *testing.T) {
	all := places(t)
	for name, driver := range map[string]string{"PostgreSQL": "pgx", "MariaDB": "mysql", "SQLite": "sqlite"} {
		t.Run(name, func(t *testing.T) {
			db := openDB(t, driver, all[name])
			id := func(from time.Duration) int64 {
				id, err := core.Twitter().FirstAt(time.Now().Add(from))
				must(t, err)
				return id
			}
			for table, value := range map[string]string{
				"fresh": fmt.Sprint(id(-time.Hour)), "soon": fmt.Sprint(id(55 * time.Second)), "ahead": fmt.Sprint(id(time.Hour)), "bare": "NULL", "odd": "-5", "words": "'x'",
			} {
				kind := "bigint"
				if table == "words" {
					kind = "varchar(10)"
				}
				execute(t, db, "CREATE TABLE greatest_"+table+" (id "+kind+")", "INSERT INTO greatest_"+table+" VALUES ("+value+")")
			}
			args := []string{"--dsn", all[name], "--namespace", "greatest"}
			for _, table := range []string{"fresh", "soon", "ahead", "bare", "odd", "words", "missing"} {
				args = append(args, "--table", "greatest_"+table)
			}
			d := examine(t, Env{}, args...)
			d.want(t, "largest id of greatest_fresh.id", doctor.OK, "not ahead of now")
			d.want(t, "largest id of greatest_soon.id", doctor.Warn, "ahead of now")
			d.want(t, "largest id of greatest_ahead.id", doctor.Fail, "ahead of now")
			d.want(t, "largest id of greatest_bare.id", doctor.OK, "no rows")
			d.want(t, "largest id of greatest_odd.id", doctor.Fail, "not an id of this layout")
			d.want(t, "largest id of greatest_words.id", doctor.Fail, "not a bigint")
			d.want(t, "largest id of greatest_missing.id", doctor.Fail, "")
		})
	}
}

// openDB opens a pool that is closed after the test.
func openDB(t *testing.T, driver, source string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, source)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// execute executes statements.
func execute(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// leaseFile returns a file of SQLite in which a worker ID was leased, open.
func leaseFile(t *testing.T) (file string, db *sql.DB) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "ids.db")
	run(t, "gen", "--lease", file).want(t, 0, "", "") // creates the tables
	return file, openDB(t, "sqlite", file)
}

// Worker IDs in every state, in a table without its primary key.
func TestDoctorNumbers(t *testing.T) {
	file, db := leaseFile(t)
	d := examine(t, Env{}, "--dsn", file)
	d.want(t, "namespaces", doctor.OK, `"default"`)
	d.want(t, "incarnation", doctor.OK, "since 20")
	d.want(t, "floor", doctor.OK, "")
	d.want(t, "worker IDs", doctor.OK, "0 of 1024")
	d.want(t, "worker IDs held twice", doctor.OK, "none")
	execute(t, db, "CREATE TABLE copied AS SELECT * FROM snow_lease", "DROP TABLE snow_lease", "ALTER TABLE copied RENAME TO snow_lease", "DELETE FROM snow_lease WHERE worker_id < 6")
	now := time.Now()
	row := func(number int, owner, state string, until time.Duration) {
		execute(t, db, fmt.Sprintf("INSERT INTO snow_lease (namespace, worker_id, claim_id, fencing_token, start, fence, owner, state) VALUES ('default', %d, 't', 1, 0, %d, '%s', '%s')", number, now.Add(until).UnixMilli(), owner, state))
	}
	row(1, "well", "held", 24*time.Hour) // a clock was fast
	row(2, "ending", "held", 2*time.Second)
	row(3, "gone\x1b[31m", "held", -time.Minute)
	row(4, "one", "kept", -time.Hour)
	row(4, "two", "freed", time.Minute)
	row(5, "back", "released", time.Minute)
	row(5000, "outside", "held", time.Minute)
	d = examine(t, Env{}, "--dsn", file)
	d.want(t, "worker IDs held twice", doctor.Fail, "4 in namespace")
	d.want(t, "worker IDs outside the layout", doctor.Fail, "5000")
	d.want(t, "leases about to expire", doctor.Warn, "2 of ending")
	d.want(t, "leases about to expire", doctor.Warn, "4 of one: past its fence")
	d.want(t, "expired leases", doctor.Warn, "3 of gone?[31m")
	d.want(t, "fences far ahead", doctor.Warn, "1 (to ")
	d.want(t, "worker IDs", doctor.OK, "5 of 1024")

	plain := run(t, "doctor", "--dsn", file)
	if plain.code != 3 || !strings.Contains(plain.out, "FAIL  worker IDs held twice") || strings.Contains(plain.out, "\x1b") {
		t.Errorf("exit code %d: %s", plain.code, plain.out)
	}
	got := run(t, "workers", "list", "--dsn", file)
	for _, state := range []string{"held", "kept", "expired", "released", "freed"} {
		if !strings.Contains(got.out, " "+state+" ") {
			t.Errorf("no %s: %s", state, got.out)
		}
	}
	if strings.Contains(got.out, "\x1b") || strings.Contains(got.out, "unused") {
		t.Errorf("%s", got.out)
	}
}

// A store that was put back shows it, and an id above the fence of its worker ID does if nothing else
// does. Then the floor is raised.
func TestDoctorForgot(t *testing.T) {
	file, db := leaseFile(t)
	got := run(t, "gen", "--lease", file)
	got.want(t, 0, "", "")
	id := strings.TrimSpace(got.out)
	execute(t, db, "CREATE TABLE orders (id bigint)", "INSERT INTO orders VALUES ("+id+")")
	const largest = "largest id of orders.id"
	args := []string{"--dsn", file, "--table", "orders"}
	examine(t, Env{}, args...).want(t, largest, doctor.OK, "not ahead of now")

	execute(t, db, "UPDATE snow_lease SET fence = 1 WHERE fence > 0") // as a copy over the file in place
	examine(t, Env{}, args...).want(t, largest, doctor.Fail, id+" of 20")
	run(t, "workers", "floor", "--dsn", file, "--namespace", "default").want(t, 0, "", `the floor of namespace "default" is 20`)
	d := examine(t, Env{}, args...)
	d.want(t, largest, doctor.OK, "not ahead of now")
	d.want(t, "floor", doctor.OK, "ahead of the clock: claims begin there")
	run(t, "workers", "list", "--dsn", file).want(t, 0, "", "claims begin at the floor, ")

	execute(t, db, "UPDATE snow_namespace SET incarnation = 'another' WHERE namespace = 'default'")
	examine(t, Env{}, args...).want(t, "incarnation", doctor.Warn, "another, since ")
	execute(t, db, "DELETE FROM snow_lease")
	examine(t, Env{}, args...).want(t, "worker IDs", doctor.OK, "0 of 1024")
	for range 6 {
		run(t, "workers", "floor", "--dsn", file, "--namespace", "default").want(t, 0, "", "")
	}
	examine(t, Env{}, args...).want(t, "floor", doctor.Warn, "ahead of the clock")
}

// Records that are missing are not those of a store that is new.
func TestDoctorMissing(t *testing.T) {
	file, db := leaseFile(t)
	execute(t, db, "DELETE FROM snow_lease WHERE worker_id > 0")
	examine(t, Env{}, "--dsn", file).want(t, "incarnation", doctor.Warn, "records of worker IDs are missing")
	d := examine(t, Env{}, "--dsn", file, "--namespace", "orders")
	d.want(t, "namespaces", doctor.Warn, `"default"`)
}

// Transactions that keep records locked have a name.
func TestDoctorLocks(t *testing.T) {
	all := places(t)
	for name, driver := range map[string]string{"PostgreSQL": "pgx", "MariaDB": "mysql"} {
		t.Run(name, func(t *testing.T) {
			dsn := testserver.Database(t, driver, all[name])
			db := leased(t, driver, dsn, -1, 0)
			examine(t, Env{}, "--dsn", dsn).want(t, "locks", doctor.OK, "no transaction")
			tx, err := db.BeginTx(t.Context(), nil)
			must(t, err)
			defer func() { _ = tx.Rollback() }()
			if _, err := tx.ExecContext(t.Context(), "SELECT 1 FROM snow_lease WHERE worker_id = 7 FOR UPDATE"); err != nil {
				t.Fatal(err)
			}
			waits := make(chan struct{}) // MariaDB shows locks for which others wait
			ctx, cancel := context.WithCancel(t.Context())
			defer func() { cancel(); <-waits }()
			go func() {
				defer close(waits)
				_, _ = db.ExecContext(ctx, "UPDATE snow_lease SET owner = owner WHERE worker_id = 7")
			}()
			time.Sleep(3 * time.Second) // longer than a claim takes
			examine(t, Env{}, "--dsn", dsn).want(t, "locks", doctor.Warn, ", in a transaction for ")
		})
	}
}

// A file system that a restart clears loses the fences.
func TestDoctorFileSystem(t *testing.T) {
	examine(t, Env{}, "--dsn", t.TempDir()+"/none.db").want(t, "connection", doctor.Fail, "no such file")
	dir, err := os.MkdirTemp("/dev/shm", "snowkey")
	if err != nil {
		t.Skip(": no /dev/shm: " + err.Error())
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "ids.db")
	run(t, "gen", "--lease", file).want(t, 0, "", "")
	d := examine(t, Env{}, "--dsn", file)
	d.want(t, "file system", doctor.Fail, "tmpfs")
	d.want(t, "clock", doctor.OK, "this machine's")
}

// No password is printed, whether the DSN is valid or not.
func TestPasswords(t *testing.T) {
	const secret = "s3cr3t-p4ss"
	for i, dsn := range []string{
		"postgres://u:" + secret + "@127.0.0.1:1/x", "postgres://u:" + secret + "@h:badport/x", "postgres://u:" + secret + "%zz@h/x",
		"postgres://127.0.0.1:1/x?user=u&password=" + secret, "postgres://u@127.0.0.1:1/x?sslmode=bad&password=" + secret,
		"mysql://u:" + secret + "@127.0.0.1:1/x", "mysql://u:" + secret + "@/x", "u:" + secret + "@tcp(127.0.0.1:1)/x", "u:" + secret + "@tcp(127.0.0.1:1)/x?bad=%zz",
		"redis://u:" + secret + "@127.0.0.1:1/0", "redis://u:" + secret + "@127.0.0.1:1/zero", "redis://:" + secret + "@%zz",
		"etcd://u:" + secret + "@127.0.0.1:1,,", "https://u:" + secret + "@h/", "u:" + secret + "@host", "oracle://u:" + secret + "@h/x",
	} {
		for _, args := range [][]string{
			{"doctor", "--dsn", dsn}, {"doctor", "--json", "--dsn", dsn}, {"gen", "--lease", dsn}, {"workers", "list", "--dsn", dsn}, {"doctor", "--dsn", "env:PLACE"},
			// Where none belongs, as after a slip.
			{"doctor", "-dsn=" + dsn}, {"doctor", "-d" + dsn}, {"doctor", dsn}, {dsn}, {"workers", dsn}, {"help", dsn}, {"doctor", "--json=" + dsn}, {"doctor", "--dsnn=" + dsn},
			{"parse", dsn}, {"gen", "--worker", dsn}, {"partitions", "--by", dsn}, {"range", dsn, "now"}, {"workers", "free", dsn, "--fencing-token", "1", "--dsn", "a.db"},
		} {
			t.Run(fmt.Sprintf("%d %s", i, args[0]), func(t *testing.T) {
				t.Parallel() // some clients retry and resolve names; this ends it
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				got := runIn(ctx, Env{Getenv: environment("PLACE", dsn)}, args...)
				if got.code == 0 || got.err+got.out == "" || strings.Contains(got.out+got.err, secret) {
					t.Errorf("%q: exit code %d\n%s%s", args, got.code, got.out, got.err)
				}
			})
		}
	}
	// Nor a part of one in a truncated value.
	long := "postgres://user-with-a-long-name:" + strings.Repeat(secret, 20) + "@h/x"
	for _, args := range [][]string{{long}, {"parse", long}, {"range", long, "now"}, {"gen", "--not-before", long, "--worker", "1"}, {"ddl", long, "--dialect", "mysql"}} {
		if got := run(t, args...); got.code == 0 || strings.Contains(got.err, secret) {
			t.Errorf("%q: exit code %d: %s", args, got.code, got.err)
		}
	}
}
