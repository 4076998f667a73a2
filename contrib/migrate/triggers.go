package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// ourTrigger is the name of the trigger that keeps the columns equal. It fires last, and always.
const ourTrigger = "zz_snow_migrate"

// silence is the statement with which the ordinary triggers of a table do not fire in a transaction: they
// would set the times of rows, or write to other tables. Such a transaction checks no foreign key either. No
// row can dangle nevertheless: a fill sets only new columns, and refuseMembers refuses foreign keys of others
// on them. Transactions of programs check theirs, and wait for a row that the fill has locked.
const silence = "SET LOCAL session_replication_role = replica"

// fired returns the triggers that a fill of a table would fire, and those (always) that would fire in spite
// of silence: they are ENABLE ALWAYS or ENABLE REPLICA.
func (t *table) fired() (triggers, always []string) {
	for _, g := range t.Triggers {
		name := g.Name + " of " + t.String()
		if g.Name == ourTrigger || !g.Updates {
			continue
		}
		if g.Enabled == "O" || g.Enabled == "A" {
			triggers = append(triggers, name)
		}
		if g.Enabled == "R" || g.Enabled == "A" {
			always = append(always, name)
		}
	}
	return triggers, always
}

// checkSilence returns an error that names the triggers that fills would fire and cannot silence.
func (p *Plan) checkSilence(ctx context.Context, q querier) error {
	var triggers, always []string
	for _, s := range p.Left() {
		if len(s.triggers) > 0 {
			triggers, always = append(triggers, s.triggers...), append(always, s.always...)
		}
	}
	if len(triggers) == 0 {
		return nil
	}
	reason := "It cannot be silenced, because of ENABLE ALWAYS or ENABLE REPLICA (" + strings.Join(always, ", ") + ")"
	if len(always) == 0 {
		var is string
		err := q.QueryRowContext(ctx, "SELECT set_config('session_replication_role', 'replica', true)").Scan(&is)
		switch {
		case err == nil: // it was set until the end of this statement
			return nil
		case live.SQLState(err) != "42501":
			return fmt.Errorf("migrate: look for the right to silence triggers: %w", err)
		}
		reason = "Only a role that may set session_replication_role can silence it: a superuser or, from PostgreSQL 15 on, " +
			"after GRANT SET ON PARAMETER session_replication_role"
	}
	triggers = slices.Compact(slices.Sorted(slices.Values(append(triggers, always...))))
	return live.Error("migrate", "FireTriggers", false, "the UPDATE trigger %s would fire for each row that is filled. "+
		"%s. Disable it, or let it fire", strings.Join(triggers, ", "), reason)
}
