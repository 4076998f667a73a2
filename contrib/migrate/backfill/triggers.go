package backfill

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// targets returns the columns that are written.
func (j *job) targets() []target { return append([]target{j.into}, j.refs...) }

// silence sees to it that triggers of the tables do not fire, or returns an error that names them.
func (j *job) silence(ctx context.Context) error {
	if j.cfg.FireTriggers {
		return nil
	}
	if j.db.dialect == ddl.Postgres {
		var filled []live.Filled
		for _, t := range j.targets() {
			filled = append(filled, live.Filled{Table: t.table.of(j.db), Name: t.table.String(), Columns: []string{t.to}})
		}
		triggers, err := live.Silent(ctx, j.db, "backfill", false, filled)
		j.db.silent = len(triggers) > 0
		return err
	}
	var all []string
	for _, t := range j.targets() {
		names, err := query(ctx, j.db, scanName, catalogOf(j.db.dialect).triggers, j.db.args(t.table.schema, t.table.name)...)
		if err != nil {
			return fmt.Errorf("backfill: look for triggers of %s: %w", t.table, err)
		}
		for _, name := range names {
			if name += " of " + t.table.String(); !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	if len(all) > 0 {
		return live.Error("backfill", "FireTriggers", false, "the UPDATE trigger %s would fire for each row that is filled, and this database cannot silence it. Drop it for the time of the backfill, or let it fire", strings.Join(all, ", "))
	}
	return nil
}

// keepPace returns an error for a limit that cannot be kept.
func (j *job) keepPace(ctx context.Context) error {
	field, value := "RowsPerSecond", any(j.cfg.RowsPerSecond)
	if j.cfg.RowsPerSecond == 0 {
		field, value = "MaxReplicaLag", j.cfg.MaxReplicaLag
	}
	for _, ref := range j.refs {
		if !ref.indexed && (j.cfg.RowsPerSecond > 0 || j.cfg.MaxReplicaLag > 0) {
			return live.Error("backfill", field, value, "%s.%s has no index, so its rows are written in one statement, whatever the limit: create an index", ref.table, ref.from)
		}
	}
	return j.pace.Probe(ctx, j.db, "backfill")
}
