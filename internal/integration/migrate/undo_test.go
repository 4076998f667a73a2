package migrate

import (
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
)

// A migration goes back from each step, and the schema is what it was.
func TestUndo(t *testing.T) {
	db := openPostgres(t)
	db.shop(t, 1000)
	before := db.schema(t, "public")
	cfg := db.config()
	plan, err := migrate.Inspect(t.Context(), db.DB, cfg)
	must(t, err)
	if again, err := migrate.Inspect(t.Context(), db.DB, cfg); err != nil || again.String() != plan.String() {
		t.Errorf("another plan, %v:\n%s", err, again)
	}
	for _, at := range []string{migrate.StepColumns, migrate.StepFill, migrate.StepValidate, migrate.StepIndex, migrate.StepForeignKey, migrate.StepSwap, migrate.StepFinish} {
		t.Run(at, func(t *testing.T) {
			there := cfg
			there.StopBefore = at
			left := db.migrate(t, there).Plan.Left()
			if len(left) == 0 || left[0].Name != at {
				t.Errorf("left: %s", names(left))
			}
			db.undo(t, cfg)
			db.unchanged(t, before)
		})
	}
	// With an id that does not fit, there is no way back.
	db.migrate(t, cfg)
	back := cfg
	back.Undo = true
	db.Run(t, "INSERT INTO orders (id, note) VALUES (9000000000000000000, 'new')")
	db.refuses(t, back, "9000000000000000000, which does not fit into integer")
	db.Run(t, "DELETE FROM orders WHERE id = 9000000000000000000")
	db.undo(t, cfg)
	db.unchanged(t, before)
	db.finish(t, cfg)
	if now, want := db.schema(t, "public"), before; strings.Contains(now, "migrate") || strings.Count(now, "\n") != strings.Count(want, "\n") {
		t.Errorf("the schema is\n%s\nand was\n%s", now, want)
	}
	db.Expect(t, "integer", "SELECT data_type FROM information_schema.columns WHERE table_name = 'order_lines' AND column_name = 'line'")
	db.Expect(t, "It's the key", "SELECT col_description('orders'::regclass, attnum) FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attname = 'id'")
	db.Expect(t, "public.orders_id_seq", "SELECT pg_get_serial_sequence('orders', 'id')")
}

// A way back that stops before its swap can be given up: ids are accepted again, and the old columns
// can be dropped.
func TestAbandonUndo(t *testing.T) {
	t.Parallel()
	for _, finish := range []bool{false, true} {
		db := openNext(t)
		db.pair(t)
		cfg := db.config()
		db.migrate(t, cfg)
		back := cfg
		back.Undo, back.StopBefore = true, migrate.StepSwap
		db.migrate(t, back)
		const insert = "INSERT INTO orders (id, note) VALUES (9000000000000000000, 'new')"
		if _, err := db.Exec(insert); err == nil {
			t.Fatal("an id is accepted on the way back")
		}
		cfg.Finish = finish
		db.migrate(t, cfg)
		db.Run(t, insert)
		db.finish(t, cfg)
		db.Expect(t, "0", "SELECT count(*) FROM order_lines l LEFT JOIN orders o ON o.id = l.order_id WHERE o.id IS NULL")
	}
}

// StopBefore stops also if its step is done already, or is none of the plan's.
func TestStopBefore(t *testing.T) {
	db := openPair(t)
	cfg := db.config()
	cfg.StopBefore = migrate.StepRemove
	if result, err := migrate.Run(t.Context(), db.DB, cfg); err == nil || !strings.Contains(err.Error(), `StopBefore "remove": is no step of this plan`) || len(result.Steps) > 0 {
		t.Errorf("%v, %s", err, names(result.Steps))
	}
	for _, at := range []string{migrate.StepIndex, migrate.StepFill} {
		cfg.StopBefore = at
		if left := db.migrate(t, cfg).Plan.Left(); len(left) == 0 || left[0].Name != migrate.StepIndex {
			t.Errorf("stopped before %s, left: %s", at, names(left))
		}
	}
}

// A way back in the middle of a fill leaves nothing, and the next migration begins anew.
func TestUndoFill(t *testing.T) {
	db := openPostgres(t)
	db.shop(t, 3000)
	before := db.schema(t, "public")
	db.killed(t, func(line string) bool {
		return strings.HasPrefix(line, "fill public.orders") && !strings.HasSuffix(line, " 0")
	})
	db.undo(t, db.config())
	db.unchanged(t, before)
	db.finish(t, db.config())
	db.checkShop(t)
}
