package doctor

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
)

// standbys says whether what a PostgreSQL has acknowledged survives its replacement by a
// standby. What would lose it is the lease store's own judgement.
func (e *examination) standbys(ctx context.Context) {
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
			e.skip(name, "cannot be seen: %v", err)
			return
		}
		for _, w := range warnings {
			detail, advice := w, "see what the lease store's documentation says"
			if i := strings.LastIndex(w, "; "); i >= 0 {
				detail, advice = w[:i], w[i+2:]
			}
			e.tell(Warn, name, detail, advice)
		}
		if len(warnings) > 0 {
			return
		}
	}
	var names string
	if err := e.Target.DB.QueryRowContext(ctx, "SELECT current_setting('synchronous_standby_names')").Scan(&names); err != nil {
		e.skip(name, "cannot be seen: %v", err)
		return
	}
	if strings.TrimSpace(names) == "" {
		e.ok(name, "none is connected")
		return
	}
	found, err := e.followers(ctx)
	switch setting := "synchronous_standby_names = " + names; {
	case err != nil:
		e.skip(name, "%s; who is connected cannot be seen: %v", setting, err)
	case len(found["sync"])+len(found["quorum"]) == 0 && len(found[""]) > 0:
		e.skip(name, "%s; who is connected cannot be seen by this role, which needs pg_monitor", setting)
	case len(found["sync"])+len(found["quorum"]) == 0:
		e.tell(Warn, name, setting+", and none of these is connected", "start one: until then commits wait, and no lease is granted or renewed")
	default:
		detail := "synchronous: " + list(slices.Concat(found["sync"], found["quorum"]))
		if others := slices.Concat(found["async"], found["potential"]); len(others) > 0 {
			detail += "; not synchronous, so never to be promoted before those: " + list(others)
		}
		e.ok(name, "%s", detail)
	}
}

// followers are the names of the standbys by their sync_state, which is empty where this
// role may not see it.
func (e *examination) followers(ctx context.Context) (map[string][]string, error) {
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
		found[state.String] = append(found[state.String], fmt.Sprintf("%q", clean(name.String)))
	}
	return found, rows.Err()
}
