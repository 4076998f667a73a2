package doctor

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
)

// standbys reports whether acknowledged writes of a PostgreSQL survive a failover. The
// lease store itself says what loses them.
func (e *checkup) standbys(ctx context.Context) {
	const name = "standbys"
	store, err := e.Target.Store(dsn.StoreOptions{NoCreate: true})
	if err != nil {
		e.skip(name, "cannot be seen: %v", err)
		return
	}
	if store, ok := store.(interface {
		Warnings(ctx context.Context) ([]string, error)
	}); ok {
		warnings, err := store.Warnings(ctx)
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
