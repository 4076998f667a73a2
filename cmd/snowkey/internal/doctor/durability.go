package doctor

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// setting decides whether a committed write can be lost.
type setting struct {
	name, query string
	bad         []string
	status      Status // of a bad value
	advice      string
}

// notWaiting is a synchronous_commit that ignores a synchronous standby.
const notWaiting = "local, so commits do not wait for a standby"

var settings = map[dsn.Kind][]setting{ //nolint:gochecknoglobals // constant
	dsn.Postgres: {
		{"fsync", "SELECT current_setting('fsync')", []string{"off"}, Fail, "set fsync = on: a crash of the machine may lose committed writes"},
		{"synchronous_commit", "SELECT CASE WHEN current_setting('synchronous_commit') = 'local' AND current_setting('synchronous_standby_names') <> '' THEN '" + notWaiting + "' ELSE current_setting('synchronous_commit') END", []string{"off", notWaiting}, Fail, "set synchronous_commit = on, at least for this user"},
		{"full_page_writes", "SELECT current_setting('full_page_writes')", []string{"off"}, Fail, "set full_page_writes = on, unless the file system never tears a page"},
		{"pg_is_in_recovery", "SELECT CASE WHEN pg_is_in_recovery() THEN 'a standby' ELSE 'primary' END", []string{"a standby"}, Fail, "connect to the primary: a standby accepts no writes"},
	},
	dsn.MySQL: {
		{"innodb_flush_log_at_trx_commit", "SELECT @@innodb_flush_log_at_trx_commit", []string{"0", "2", "3"}, Fail, "set innodb_flush_log_at_trx_commit = 1: a crash of the machine may lose committed writes"},
		{"sync_binlog", "SELECT CASE WHEN @@log_bin = 1 THEN @@sync_binlog ELSE 'no binary log' END", nil, Fail, "set sync_binlog = 1: after a crash the log and its replicas may lack committed writes"},
		{"innodb_flush_method", "SELECT @@innodb_flush_method", []string{"nosync", "littlesync"}, Fail, "set innodb_flush_method = O_DIRECT or fsync"},
		{"innodb_doublewrite", "SELECT CAST(@@innodb_doublewrite AS CHAR)", []string{"0", "OFF"}, Warn, "set innodb_doublewrite = ON, unless the file system never tears a page"},
		{"read_only", "SELECT CAST(@@read_only AS CHAR)", []string{"1", "ON"}, Fail, "connect to the primary: this server accepts no writes"},
	},
	dsn.SQLite: {
		{"journal_mode", "PRAGMA journal_mode", []string{"memory", "off"}, Fail, "set PRAGMA journal_mode = wal or delete"},
		{"synchronous", "PRAGMA synchronous", []string{"0", "1"}, Fail, "leave PRAGMA synchronous at FULL in every connection that leases worker IDs"},
	},
}

// durability checks whether acknowledged writes survive.
func (e *checkup) durability(ctx context.Context) {
	switch e.Target.Kind {
	case dsn.Postgres, dsn.MySQL, dsn.SQLite:
		e.settings(ctx)
	case dsn.Redis:
		e.redis(ctx)
	case dsn.Etcd:
		e.etcd(ctx)
	case dsn.HTTP:
		e.skip("durability", "depends on the server's own store; run doctor on that")
	}
}

// settings checks each setting, and then asks the lease store.
func (e *checkup) settings(ctx context.Context) {
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
		if s.name == "sync_binlog" {
			bad = value != "1" && value != "no binary log"
		}
		if s.name == "synchronous" {
			value = map[string]string{"0": "off", "1": "normal", "2": "full", "3": "extra"}[value]
		}
		e.lossy = e.lossy || bad && s.status == Fail
		e.judge(bad, s.status, s.name, value, s.advice)
	}
	if e.Target.Kind == dsn.Postgres {
		e.standbys(ctx)
	}
	e.verdict(ctx)
}

// verdict reports what the store itself refuses.
func (e *checkup) verdict(ctx context.Context) {
	store, err := e.Target.Store(false)
	if err == nil {
		_, err = store.List(ctx, e.Namespace)
	}
	var lossy *worker.DurabilityError
	switch {
	case errors.As(err, &lossy) && e.lossy:
		e.report(Fail, "leases", "are refused: "+lossy.Setting, "correct it as described above")
	case errors.As(err, &lossy):
		e.report(Fail, "leases", fmt.Sprintf("are refused: %s is %s", lossy.Setting, lossy.Value), "must be "+lossy.Want)
	}
}

// standbys reports whether acknowledged writes of a PostgreSQL survive a failover. The
// lease store itself says what loses them.
func (e *checkup) standbys(ctx context.Context) {
	const name = "standbys"
	store, err := e.Target.Store(false)
	if err != nil {
		e.skip(name, "cannot be seen: %v", err)
		return
	}
	warnings, err := store.(interface { // sqlstore's
		Warnings(ctx context.Context) ([]string, error)
	}).Warnings(ctx)
	if err != nil {
		e.skip(name, "not visible: %v", err)
		return
	}
	for _, w := range warnings {
		detail, advice := w, "see the documentation of the lease store"
		if i := strings.LastIndex(w, "; "); i >= 0 {
			detail, advice = w[:i], w[i+2:]
		}
		e.report(Warn, name, detail, advice)
	}
	if len(warnings) > 0 {
		return
	}
	var names string
	if err := e.Target.DB.QueryRowContext(ctx, "SELECT current_setting('synchronous_standby_names')").Scan(&names); err != nil {
		e.skip(name, "not visible: %v", err)
		return
	}
	if strings.TrimSpace(names) == "" {
		e.ok(name, "none is connected")
		return
	}
	found, err := e.followers(ctx)
	switch setting := "synchronous_standby_names = " + names; {
	case err != nil:
		e.skip(name, "%s; the connected standbys are not visible: %v", setting, err)
	case len(found["sync"])+len(found["quorum"]) == 0 && len(found[""]) > 0:
		e.skip(name, "%s; the connected standbys are not visible to this role, which needs pg_monitor", setting)
	case len(found["sync"])+len(found["quorum"]) == 0:
		e.report(Warn, name, setting+", and none of these is connected", "start one: until then commits wait, and no lease is granted or renewed")
	default:
		detail := "synchronous: " + list(slices.Concat(found["sync"], found["quorum"]))
		if others := slices.Concat(found["async"], found["potential"]); len(others) > 0 {
			detail += "; not synchronous, so do not promote these first: " + list(others)
		}
		e.ok(name, "%s", detail)
	}
}

// followers returns the names of the standbys by sync_state, which is empty if this role
// may not see it.
func (e *checkup) followers(ctx context.Context) (map[string][]string, error) {
	rows, err := e.Target.DB.QueryContext(ctx, "SELECT application_name, sync_state FROM pg_stat_replication WHERE COALESCE(state, '') <> 'backup' ORDER BY 1")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[string][]string{}
	for rows.Next() {
		var name, state sql.NullString
		if err := rows.Scan(&name, &state); err != nil {
			return nil, err
		}
		found[state.String] = append(found[state.String], fmt.Sprintf("%q", dsn.Printable(name.String)))
	}
	return found, rows.Err()
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

func etcdVersion(ctx context.Context, e *checkup) (string, error) {
	var last error
	for _, endpoint := range e.Target.Endpoints {
		status, err := e.Target.Etcd.Status(ctx, endpoint)
		if err == nil {
			return status.Version, nil
		}
		last = err
	}
	return "", last
}

// etcd checks the members. They do not say whether they flush acknowledged writes.
func (e *checkup) etcd(ctx context.Context) {
	members, err := e.Target.Etcd.MemberList(ctx)
	if err != nil {
		e.skip("members", "not visible: %v", err)
	} else {
		voting := 0
		for _, m := range members.Members {
			if !m.IsLearner {
				voting++
			}
		}
		e.judge(voting < 3, Warn, "members", fmt.Sprintf("%d voting", voting), "run three or more: the loss of a disk loses the fences of the leases")
	}
	if all, err := e.Target.Etcd.AlarmList(ctx); err == nil {
		var alarms []string
		for _, a := range all.Alarms {
			if a.Alarm != etcdserverpb.AlarmType_NONE && !slices.Contains(alarms, a.Alarm.String()) {
				alarms = append(alarms, a.Alarm.String())
			}
		}
		e.judge(len(alarms) > 0, Fail, "alarms", cmp.Or(strings.Join(alarms, ", "), "none"), "see etcdctl alarm list: with NOSPACE no lease is renewed; replace CORRUPT members")
	}
	for _, endpoint := range e.Target.Endpoints {
		status, err := e.Target.Etcd.Status(ctx, endpoint)
		switch {
		case err != nil:
			e.report(Warn, "member", endpoint+": "+err.Error(), "check that it runs")
		case status.Leader == 0:
			e.report(Fail, "member", endpoint+" has no leader", "without a majority of the members nothing is written")
		default:
			e.ok("member", "%s, %s", endpoint, humanize.IBytes(uint64(max(status.DbSize, 0))))
		}
	}
	e.skip("fsync", "etcd does not report it; check that no member has --unsafe-no-fsync")
}
