package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// setting is one that the lease store does not check.
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
		{"read_only", "SELECT CAST(@@read_only AS CHAR)", []string{"1", "ON"}, Fail, "connect to the primary: this server accepts no writes"},
	},
}

// durability checks whether acknowledged writes survive.
func (e *checkup) durability(ctx context.Context) {
	switch e.Target.Kind {
	case dsn.Postgres, dsn.MySQL, dsn.SQLite:
		e.sql(ctx)
	case dsn.Redis:
		e.redis(ctx)
	case dsn.Etcd: // its own tool says the rest
		e.skip("durability", "etcd does not report it; check that it has three members or more, none with --unsafe-no-fsync, and no alarm: etcdctl member list, etcdctl alarm list")
	case dsn.HTTP:
		e.skip("durability", "depends on the server's own store; run doctor on that")
	}
}

// sql asks the lease store, which refuses settings that lose writes, and then checks the others.
func (e *checkup) sql(ctx context.Context) {
	const name = "durability"
	if e.Target.Kind == dsn.SQLite {
		if file, err := filepath.Abs(e.Target.Path); err == nil {
			e.fileSystem(filepath.Dir(file))
		}
	}
	var warnings []string
	store, err := e.Target.Store(false)
	if warns, ok := store.(interface { // sqlstore's
		Warnings(ctx context.Context) ([]string, error)
	}); ok && err == nil {
		warnings, err = warns.Warnings(ctx)
	}
	var lossy *worker.DurabilityError
	switch {
	case errors.As(err, &lossy):
		e.report(Fail, name, fmt.Sprintf("leases are refused: %s is %s, so acknowledged writes may be lost", lossy.Setting, lossy.Value), "set it to "+lossy.Want)
	case err != nil:
		e.skip(name, "not visible: %v", err)
	default:
		e.ok(name, "the settings keep acknowledged writes")
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
	for _, w := range warnings {
		e.report(Warn, "standbys", w, "")
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

// redis checks the settings on which leases depend.
func (e *checkup) redis(ctx context.Context) {
	judge := func(name, value string, bad bool, status Status, advice string) {
		if value == "" {
			e.skip(name, "not visible")
			return
		}
		e.judge(bad, status, name, value, advice)
	}
	appendonly := map[string]string{"1": "yes", "0": "no"}[info(ctx, e, "persistence")["aof_enabled"]]
	judge("appendonly", appendonly, appendonly == "no", Fail, "CONFIG SET appendonly yes: a restart may lose the fences of the leases")
	sync, _ := e.Target.ConfigGet(ctx, "appendfsync")
	judge("appendfsync", sync, sync != "always", Fail, "CONFIG SET appendfsync always: a crash may lose acknowledged writes")

	memory := info(ctx, e, "memory")
	policy, status := memory["maxmemory_policy"], Fail
	if memory["maxmemory"] == "0" { // no limit yet
		status = Warn
	}
	judge("maxmemory-policy", policy, strings.HasPrefix(policy, "allkeys"), status, "CONFIG SET maxmemory-policy noeviction: keys of leases may be evicted")

	replication := info(ctx, e, "replication")
	judge("role", replication["role"], replication["role"] != "master", Fail, "connect to the master: a replica accepts no writes")
	if n := replication["connected_slaves"]; n != "" && n != "0" {
		e.report(Warn, "replicas", n, "do not fail over automatically: a replica may lack the last writes")
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
	const tables = "IN ('snow_worker', 'snow_worker_space', 'snow_worker_counter')"
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
