package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/migrate"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// onMariaDB runs a test on each server that is MariaDB.
func onMariaDB(t *testing.T, test func(t *testing.T, db *engine)) {
	t.Helper()
	onMySQL(t, func(t *testing.T, db *engine) {
		if maria, err := db.isMariaDB(); err != nil {
			t.Fatal(err)
		} else if maria {
			test(t, db)
		}
	})
}

// generator creates the one of the namespace orders.
func (db *engine) generator(t testing.TB) {
	t.Helper()
	script, err := ddl.Generator{Dialect: ddl.MySQL, Namespace: "orders"}.Create()
	if err != nil {
		t.Fatal(err)
	}
	db.run(t, script...)
}

func (db *engine) isMariaDB() (bool, error) {
	var version string
	err := db.QueryRow("SELECT VERSION()").Scan(&version)
	return strings.Contains(version, "MariaDB"), err
}

// least is below all ids, and above all numbers.
const least = 1 << 50

// keyed is a table whose key is AUTO_INCREMENT, with one that refers to it.
func (db *engine) keyed(t testing.TB) {
	t.Helper()
	db.run(t, "CREATE TABLE orders (id bigint AUTO_INCREMENT PRIMARY KEY COMMENT 'It''s the key', code int UNIQUE, note varchar(100) NOT NULL)",
		"CREATE TABLE order_lines (id bigint AUTO_INCREMENT PRIMARY KEY, order_id bigint NOT NULL, FOREIGN KEY (order_id) REFERENCES orders (id))",
		fmt.Sprintf("INSERT INTO orders (note) SELECT 'first' FROM seq_1_to_%d", rows(t)), "INSERT INTO order_lines (order_id) SELECT id FROM orders")
}

// AUTO_INCREMENT is replaced by ddl.Generator, and back, and again, by processes that are killed.
// Meanwhile old programs insert rows without a key, and new ones insert ids of a lease of the same
// namespace.
func TestDefaultMariaDB(t *testing.T) { t.Parallel(); onMariaDB(t, defaultMariaDB) }

func defaultMariaDB(t *testing.T, db *engine) {
	db.keyed(t)
	db.generator(t)
	gen, err := sqlstore.Open(t.Context(), db.DB, sqlstore.Config{AllowDataLoss: true, Lease: worker.Config{Namespace: "orders"}})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close(context.Background())

	ctx, stop := context.WithCancel(t.Context())
	var programs, asking sync.WaitGroup
	defer programs.Wait()
	defer stop()
	var mu sync.Mutex
	var finishing atomic.Bool
	var longest atomic.Int64
	given := map[string]map[int64]string{"numbers": {}, "default": {}, "lease": {}}
	count := func(of string) int {
		mu.Lock()
		defer mu.Unlock()
		return len(given[of])
	}
	program := func(kind string, ends *atomic.Bool, insert func(note string) (int64, error)) {
		pace := time.NewTicker(2 * time.Millisecond)
		defer pace.Stop()
		for n := 0; ends == nil || !ends.Load(); n++ {
			select {
			case <-ctx.Done():
				return
			case <-pace.C:
			}
			note, begun := fmt.Sprint(kind, " ", n), time.Now()
			id, err := insert(note)
			if err != nil && (strings.Contains(err.Error(), "Error 1305") || strings.Contains(err.Error(), "Error 1146") && strings.Contains(err.Error(), "snowkey_generator")) {
				continue // at the moment of the step, as the plan says
			}
			if err != nil {
				t.Errorf("%s: %v", kind, err)
				return
			}
			longest.Store(max(longest.Load(), int64(time.Since(begun))))
			of := map[bool]string{true: "default", false: "numbers"}[id > least]
			if strings.HasPrefix(kind, "lease") {
				of = "lease"
			}
			mu.Lock()
			for _, ids := range given {
				if _, twice := ids[id]; twice {
					t.Errorf("%d twice, the second time from the %s", id, of)
				}
			}
			given[of][id] = note
			mu.Unlock()
		}
	}
	asking.Go(func() { // until the step finish
		program("reply", &finishing, func(note string) (int64, error) {
			result, err := db.ExecContext(context.Background(), "INSERT INTO orders (note) VALUES (?)", note)
			if err != nil {
				return 0, err
			}
			id, err := result.LastInsertId()
			if err == nil {
				_, err = db.ExecContext(context.Background(), "INSERT INTO order_lines (order_id) VALUES (?)", id)
			}
			return id, err
		})
	})
	programs.Go(func() {
		program("returning", nil, func(note string) (id int64, err error) {
			return id, db.QueryRowContext(context.Background(), "INSERT INTO orders (note) VALUES (?) RETURNING id", note).Scan(&id)
		})
	})
	more := func(of ...string) {
		t.Helper()
		for _, of := range of {
			begun, from := time.Now(), count(of)
			for ; count(of) < from+50; time.Sleep(time.Millisecond) {
				if t.Failed() || time.Since(begun) > patience {
					t.Fatalf("%d keys from the %s", count(of), of)
				}
			}
		}
	}
	more("numbers")
	cfg, err := db.configOf(migrate.Default)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"sequence ", "default "} {
		db.killed(t, migrate.Default, func(line string) bool { return strings.HasPrefix(line, at) })
	}
	db.again(t, cfg)
	programs.Go(func() { // before, these would raise AUTO_INCREMENT
		program("lease", nil, func(note string) (int64, error) {
			id, err := gen.Next(context.Background())
			if err == nil {
				_, err = db.ExecContext(context.Background(), "INSERT INTO orders (id, note) VALUES (?, ?)", id, note)
			}
			return id, err
		})
	})
	more("default", "lease")
	for range 2 {
		cfg.Undo = true
		db.migrate(t, cfg)
		more("numbers", "lease")
		cfg.Undo = false
		db.migrate(t, cfg)
		more("default", "lease")
	}
	finishing.Store(true)
	asking.Wait()
	cfg.Finish = true
	if left := db.migrate(t, cfg).Plan.Left(); len(left) != 0 {
		t.Errorf("left: %s", names(left))
	}
	more("default", "lease")
	stop()
	programs.Wait()
	total := rows(t)
	for of, ids := range given {
		t.Logf("%d keys from the %s", len(ids), of)
		total += len(ids)
	}
	t.Logf("the longest statement took %v", time.Duration(longest.Load()))
	if stated := 2 * time.Second; time.Duration(longest.Load()) > stated {
		t.Errorf("a program waited for %v, and the plan states %v", time.Duration(longest.Load()), stated)
	}
	db.expect(t, fmt.Sprint(total), "SELECT COUNT(*) FROM orders", "SELECT COUNT(DISTINCT id) FROM orders")
	db.expect(t, "", "SELECT extra FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'orders' AND column_name = 'id'")
	db.expect(t, "It's the key", "SELECT column_comment FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'orders' AND column_name = 'id'")
	db.expect(t, "0", "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'snow\\_migrate%'")
	rows, err := db.Query("SELECT id, note FROM orders WHERE note <> 'first'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	wrong := 0
	for rows.Next() {
		var id int64
		var note string
		if err := rows.Scan(&id, &note); err != nil {
			t.Fatal(err)
		}
		if given["numbers"][id] != note && given["default"][id] != note && given["lease"][id] != note {
			wrong++
		}
	}
	if rows.Err() != nil || wrong > 0 {
		t.Errorf("%d programs were told the key of another row, %v", wrong, rows.Err())
	}
}

// What a program sees that leaves the key to the database, before and after AUTO_INCREMENT is gone.
func TestDefaultSeen(t *testing.T) { t.Parallel(); onMariaDB(t, defaultSeen) }

func defaultSeen(t *testing.T, db *engine) {
	db.keyed(t)
	db.generator(t)
	db.SetMaxOpenConns(1) // LAST_INSERT_ID() is a session's
	cfg, err := db.configOf(migrate.Default)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(2)
	db.migrate(t, cfg)
	db.SetMaxOpenConns(1)
	reply := func(statement string) int64 {
		t.Helper()
		var result sql.Result
		if result, err = db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		id, err := result.LastInsertId()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	of := func(note string) string {
		t.Helper()
		return db.one(t, "SELECT GROUP_CONCAT(id ORDER BY id) FROM orders WHERE note = ?", note)
	}
	for _, statement := range []string{
		"INSERT INTO orders (note) VALUES ('%s')", "INSERT INTO orders (id, note) VALUES (NULL, '%s')", "INSERT INTO orders (id, note) VALUES (0, '%s')", "INSERT INTO orders (id, note) VALUES (DEFAULT, '%s')",
		"REPLACE INTO orders (note) VALUES ('%s')", "INSERT IGNORE INTO orders (note) VALUES ('%s')", "INSERT INTO orders SET note = '%s'",
	} {
		id := reply(fmt.Sprintf(statement, statement[:20]))
		db.run(t, "UPDATE orders SET note = 'seen' WHERE id = "+fmt.Sprint(id))
		if got := of("seen"); got != fmt.Sprint(id) || id < least {
			t.Errorf("%s: the reply is %d, and the row is %s", statement, id, got)
		}
		db.run(t, "DELETE FROM orders WHERE note = 'seen'")
	}
	if id := reply("INSERT INTO orders (note) SELECT 'selected'"); id != 0 || len(of("selected")) < 16 {
		t.Errorf("a row that is selected: the reply is %d, and the row is %s", id, of("selected"))
	}
	if id := reply("INSERT INTO orders (id, note) VALUES (2000000, 'explicit')"); id != 2000000 || of("explicit") != "2000000" {
		t.Errorf("an explicit key: the reply is %d, and the row is %s", id, of("explicit"))
	}
	id := reply("INSERT INTO orders (note) VALUES ('many'), ('many'), ('many')")
	if last := db.one(t, "SELECT MAX(id) FROM orders WHERE note = 'many'"); fmt.Sprint(id) != last {
		t.Errorf("the reply is %d, and the last of %s is %s", id, of("many"), last)
	}
	db.run(t, "INSERT INTO order_lines (order_id) VALUES (1)")
	number := db.one(t, "SELECT LAST_INSERT_ID()")
	db.run(t, "INSERT INTO orders (note) VALUES ('function')")
	db.expect(t, number, "SELECT LAST_INSERT_ID()") // it is of the other table
	db.run(t, "INSERT INTO orders (code, note) VALUES (1, 'upsert')")
	upserted := of("upsert")
	id = reply("INSERT INTO orders (code, note) VALUES (1, 'upsert') ON DUPLICATE KEY UPDATE note = 'upserted'")
	t.Logf("an upsert of the row %s has the reply %d", upserted, id)
	if of("upserted") != upserted {
		t.Errorf("an upsert has changed the key from %s to %s", upserted, of("upserted"))
	}
	id = reply("INSERT INTO orders (code, note) VALUES (1, 'upsert') ON DUPLICATE KEY UPDATE note = 'again', id = LAST_INSERT_ID(id)")
	if of("again") != upserted || fmt.Sprint(id) != upserted {
		t.Errorf("an upsert that asks: the row %s is %s, and the reply %d", upserted, of("again"), id)
	}
	db.run(t, "INSERT INTO orders (note) SELECT 'bulk' FROM seq_1_to_3000")
	db.expect(t, "3000", fmt.Sprintf("SELECT COUNT(DISTINCT id) FROM orders WHERE note = 'bulk' AND id > %d", least))

	db.SetMaxOpenConns(2)
	cfg.Finish = true
	db.migrate(t, cfg)
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"INSERT INTO orders (note) VALUES ('after')", "INSERT INTO orders (note) SELECT 'after'", "INSERT INTO orders (id, note) VALUES (NULL, 'after')"} {
		t.Logf("without AUTO_INCREMENT the reply to %s is %d", statement, reply(statement))
		if id := of("after"); len(id) < 16 {
			t.Errorf("%s: the id %s", statement, id)
		}
		db.run(t, "DELETE FROM orders WHERE note = 'after'")
	}
	cfg.Finish, cfg.Undo = false, true
	db.SetMaxOpenConns(2)
	if _, err := migrate.Run(t.Context(), db.DB, cfg); err == nil || !strings.Contains(err.Error(), "no way back") {
		t.Errorf("back from the end: %v", err)
	}
}

// A generator whose ids are not above all keys is refused, and a migration that has only begun goes
// back to where it was.
func TestDefaultLow(t *testing.T) { t.Parallel(); onMariaDB(t, defaultLow) }

func defaultLow(t *testing.T, db *engine) {
	db.keyed(t)
	before := db.create(t, "orders")
	db.run(t, "CREATE SEQUENCE low")
	cfg := db.config(migrate.Default)
	for _, generator := range []string{"NEXTVAL(low) + 0", "NULL"} {
		cfg.Generator = generator
		if _, err := migrate.Run(t.Context(), db.DB, cfg); err == nil || !strings.Contains(err.Error(), "not above all keys") {
			t.Errorf("the generator %s: %v", generator, err)
		}
	}
	cfg.Undo = true
	if left := db.migrate(t, cfg).Plan.Left(); len(left) != 0 {
		t.Errorf("left: %s", names(left))
	}
	if now := db.create(t, "orders"); now != before {
		t.Errorf("%s\nand was\n%s", now, before)
	}
	db.expect(t, "0", "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'snow\\_migrate%'",
		"SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = DATABASE()")
}

// create is the statement that makes a table, without its counter.
func (db *engine) create(t testing.TB, table string) string {
	t.Helper()
	var name, text string
	if err := db.QueryRow("SHOW CREATE TABLE "+table).Scan(&name, &text); err != nil {
		t.Fatal(err)
	}
	before, after, _ := strings.Cut(text, " AUTO_INCREMENT=")
	_, after, _ = strings.Cut(after, " ")
	return strings.TrimSpace(before + " " + after)
}

// A migration that was interrupted before the step default, and continued much later, goes back to
// numbers above those of the meantime.
func TestLateDefaultMariaDB(t *testing.T) {
	t.Parallel()
	onMariaDB(t, func(t *testing.T, db *engine) {
		db.keyed(t)
		db.generator(t)
		cfg, err := db.configOf(migrate.Default)
		if err != nil {
			t.Fatal(err)
		}
		cfg.StopBefore = migrate.StepDefault
		db.migrate(t, cfg)
		db.run(t, "INSERT INTO orders (id, note) VALUES (5000000, 'meanwhile')")
		cfg.StopBefore = ""
		db.migrate(t, cfg)
		cfg.Undo = true
		db.migrate(t, cfg)
		db.run(t, "INSERT INTO orders (note) VALUES ('back')")
		db.expect(t, "1", "SELECT id > 5000000 AND id < 10000000 FROM orders WHERE note = 'back'")
	})
}
