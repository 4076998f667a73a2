package doctor

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
)

// setting is one of the server, which the lease store does not check.
type setting struct {
	name, query string
	bad         []string
	status      Status // of a bad value
	advice      string
}

var settings = map[dsn.Kind][]setting{ //nolint:gochecknoglobals // constant
	dsn.Postgres: {
		{"full_page_writes", "SELECT current_setting('full_page_writes')", []string{"off"}, Fail, "set full_page_writes = on, unless the file system never tears a page"},
		{"pg_is_in_recovery", "SELECT CASE WHEN pg_is_in_recovery() THEN 'a standby' ELSE 'primary' END", []string{"a standby"}, Fail, "connect to the primary: a standby accepts no writes"},
	},
	dsn.MySQL: {
		{"innodb_flush_method", "SELECT @@innodb_flush_method", []string{"nosync", "littlesync"}, Fail, "set innodb_flush_method = O_DIRECT or fsync"},
		{"innodb_doublewrite", "SELECT CAST(@@innodb_doublewrite AS CHAR)", []string{"0", "OFF"}, Warn, "set innodb_doublewrite = ON, unless the file system never tears a page"},
		{"sql_mode", "SELECT IF(@@sql_mode LIKE '%STRICT%', 'strict', 'not strict')", []string{"not strict"}, Warn, "add STRICT_TRANS_TABLES: without it, a column that is not bigint yet gets 2147483647 instead of a key, and no error"},
		{"read_only", "SELECT CAST(@@read_only AS CHAR)", []string{"1", "ON"}, Fail, "connect to the primary: this server accepts no writes"},
	},
}

// server checks settings of the server.
func (e *checkup) server(ctx context.Context) {
	switch e.Target.Kind {
	case dsn.Postgres, dsn.MySQL, dsn.SQLite:
		e.sql(ctx)
	case dsn.Redis:
		e.redis(ctx)
	case dsn.Etcd: // its own tool says the rest
		e.skip("durability", "etcd does not report it; check that no member has --unsafe-no-fsync, and that there is no alarm: etcdctl alarm list. After a restore of a snapshot, run snowkey workers floor before programs start")
	case dsn.HTTP:
		e.skip("server", "depends on the server's own store; run doctor on that")
	}
}

func (e *checkup) sql(ctx context.Context) {
	if e.Target.Kind == dsn.SQLite {
		if file, err := filepath.Abs(e.Target.Path); err == nil {
			e.fileSystem(filepath.Dir(file))
		}
	}
	for _, s := range settings[e.Target.Kind] {
		var value string
		if err := e.Target.DB.QueryRowContext(ctx, s.query).Scan(&value); err != nil {
			e.skip(s.name, "not visible: %v", err)
			continue
		}
		bad := slices.ContainsFunc(s.bad, func(b string) bool { return strings.EqualFold(b, value) })
		e.judge(bad, s.status, s.name, value, s.advice)
	}
}

// info returns a section of Redis' INFO. go-redis does not parse it.
func info(ctx context.Context, e *checkup, section string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(e.Target.Redis.Info(ctx, section).Val()) { // empty if not visible
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			values[name] = value
		}
	}
	return values
}

func (e *checkup) redis(ctx context.Context) {
	memory, replication := info(ctx, e, "memory"), info(ctx, e, "replication")
	policy, status := memory["maxmemory_policy"], Fail
	if memory["maxmemory"] == "0" { // no limit yet
		status = Warn
	}
	for _, s := range []struct {
		name, value string
		bad         bool
		status      Status
		advice      string
	}{
		{"maxmemory-policy", policy, strings.HasPrefix(policy, "allkeys"), status, "CONFIG SET maxmemory-policy noeviction: keys of leases may be evicted"},
		{"role", replication["role"], replication["role"] != "master", Fail, "connect to the master: a replica is refused"},
	} {
		if s.value == "" {
			e.skip(s.name, "not visible")
			continue
		}
		e.judge(s.bad, s.status, s.name, s.value, s.advice)
	}
}

// replication warns of logical replication of a PostgreSQL that has the tables of the leases.
func (e *checkup) replication(ctx context.Context) {
	const name = "logical replication"
	if e.Target.Kind != dsn.Postgres {
		return
	}
	var some bool
	err := e.Target.DB.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_publication) OR EXISTS (SELECT 1 FROM pg_subscription_rel)").Scan(&some)
	if err == nil && !some {
		return
	}
	const tables = "IN ('snow_lease', 'snow_namespace', 'snow_counter')"
	var found string
	if err == nil {
		err = e.Target.DB.QueryRowContext(ctx, `SELECT coalesce(string_agg(what, ', ' ORDER BY what), '') FROM (
			SELECT format('publication %I has %I.%I', pubname, schemaname, tablename) AS what FROM pg_publication_tables WHERE tablename `+tables+`
			UNION ALL SELECT format('subscription %I fills %s', s.subname, CAST(r.srrelid AS regclass))
			FROM pg_subscription_rel r JOIN pg_subscription s ON s.oid = r.srsubid JOIN pg_class c ON c.oid = r.srrelid WHERE c.relname `+tables+`) f`).Scan(&found)
	}
	switch {
	case err != nil:
		e.skip(name, "not visible: %v", err)
	case found == "":
		e.ok(name, "does not have the tables of the leases")
	default:
		e.report(Warn, name, dsn.Printable(found), "leave these tables out: another writable node would lease the same worker IDs, or none")
	}
}
