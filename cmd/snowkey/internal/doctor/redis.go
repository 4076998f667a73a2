package doctor

import (
	"context"
	"strings"
)

// info returns a section of Redis' INFO. go-redis does not parse it.
func info(ctx context.Context, e *checkup, section string) map[string]string {
	text, err := e.Target.Redis.Info(ctx, section).Result()
	values := map[string]string{}
	if err != nil {
		return values
	}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			values[name] = value
		}
	}
	return values
}

// redis checks the settings on which leases depend.
func (e *checkup) redis(ctx context.Context) {
	judge := func(name, value string, bad bool, status Status, advice string) {
		switch {
		case value == "":
			e.skip(name, "not visible")
		case bad:
			e.report(status, name, value, advice)
		default:
			e.ok(name, "%s", value)
		}
	}
	appendonly := map[string]string{"1": "yes", "0": "no"}[info(ctx, e, "persistence")["aof_enabled"]]
	judge("appendonly", appendonly, appendonly == "no", Fail, "CONFIG SET appendonly yes: a restart may lose the fences of the leases")
	sync, err := e.Target.ConfigGet(ctx, "appendfsync")
	if err != nil {
		sync = ""
	}
	judge("appendfsync", sync, sync != "always", Fail, "CONFIG SET appendfsync always: a crash may lose acknowledged writes")

	memory := info(ctx, e, "memory")
	policy := memory["maxmemory_policy"]
	evicts := strings.HasPrefix(policy, "allkeys")
	limited := memory["maxmemory"] != "0"
	status := Warn
	if limited {
		status = Fail
	}
	judge("maxmemory-policy", policy, evicts, status, "CONFIG SET maxmemory-policy noeviction: keys of leases may be evicted")

	replication := info(ctx, e, "replication")
	judge("role", replication["role"], replication["role"] != "master", Fail, "connect to the master: a replica accepts no writes")
	if n := replication["connected_slaves"]; n != "" && n != "0" {
		e.report(Warn, "replicas", n, "do not fail over automatically: a replica may lack the last writes")
	}
}
