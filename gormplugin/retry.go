package gormplugin

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/internal/backoff"
)

// write gives the rows their keys and writes them in a transaction, which begins anew, with
// the same keys, as long as it loses to another.
func (g *graph) write(cfg CreateConfig) (Result, error) {
	keep, failed := cfg.KeepKeys, true
	defer func() {
		if failed && !keep {
			g.restoreAll()
		}
	}()
	if err := g.assignAll(); err != nil { // first: a source that fails costs no transaction
		return Result{}, err
	}
	attempts := cfg.Attempts
	if !g.beginsTransaction() {
		attempts = 1
	}
	var before snapshot
	if attempts > 1 {
		before = g.snapshot()
	}
	pause := backoff.Backoff{Min: cfg.Backoff, Max: cfg.MaxBackoff}
	for n := 1; ; n++ {
		g.attempt = n
		w := &writer{graph: g, cfg: cfg, tables: map[string]int{}}
		err := w.run()
		if err == nil {
			failed = false
			return w.result, nil
		}
		keep = keep || w.unknown
		// SQLite's driver gives the connection back with the transaction still open if COMMIT
		// finds the file locked: none can begin there.
		stuck := w.sent && g.db.Name() == "sqlite"
		if n >= attempts || w.unknown || stuck || !lostToAnother(g.db.Name(), err) {
			if n > 1 {
				err = fmt.Errorf("%w (attempt %d of %d)", err, n, attempts)
			}
			return Result{}, err
		}
		g.reset(before)
		if stopped := pause.Wait(g.ctx, n); stopped != nil {
			return Result{}, fmt.Errorf("gormplugin: %w; after attempt %d of %d: %w", stopped, n, attempts, err)
		}
		if err := g.assignAll(); err != nil {
			return Result{}, err
		}
	}
}

// beginsTransaction reports whether the transaction is ours: in one of the caller's, what he
// wrote before is lost as well, and only he can write it again.
func (g *graph) beginsTransaction() bool {
	_, nested := g.db.Statement.ConnPool.(gorm.TxCommitter)
	return !nested && !g.db.DryRun
}

// snapshot is how rows are before the first attempt: hooks change them, and gorm sets what the
// database makes.
type snapshot struct {
	rows []*node
	was  []reflect.Value // of the row at the same place
	undo undoMark
}

func (g *graph) snapshot() snapshot {
	s := snapshot{rows: append([]*node(nil), g.order...), was: make([]reflect.Value, len(g.order)), undo: g.undo.mark()}
	kinds := map[reflect.Type]int{}
	for _, n := range s.rows {
		kinds[n.row.Type()]++
	}
	room := make(map[reflect.Type]reflect.Value, len(kinds)) // one array for all of a kind
	for t, n := range kinds {
		room[t] = reflect.MakeSlice(reflect.SliceOf(t), n, n)
	}
	for i, n := range s.rows {
		t := n.row.Type()
		kinds[t]--
		s.was[i] = room[t].Index(kinds[t])
		s.was[i].Set(n.row)
	}
	return s
}

// reset makes the graph what it was before the attempt. Rows that hooks have added lose
// their keys.
func (g *graph) reset(to snapshot) {
	g.undo.restoreTo(to.undo, &keySet{given: g.undo.given})
	for i, n := range to.rows {
		n.row.Set(to.was[i])
	}
	for _, n := range g.nodes {
		for ; n != nil; n = n.inner {
			n.state, n.batch, n.twin = pending, nil, nil
		}
	}
	g.moved = false
}

// lostInMySQL are a deadlock, MariaDB's row that another has changed since the first look, and
// a COMMIT that another server of the group has forestalled.
var lostInMySQL = []int{1213, 1020, 3101}

// lostToAnother reports whether the database asks for the transaction to be run again. A lock
// that was waited for in vain, as long as the caller has told the database to, is no such case.
func lostToAnother(dialect string, err error) bool {
	switch dialect {
	case "mysql":
		if isMySQL(err, lostInMySQL...) {
			return true
		}
	case "sqlite":
		return isLocked(err)
	}
	s := sqlState(err)
	return s == "40001" || s == "40P01"
}

func sqlState(err error) string {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState()
	}
	return ""
}

// sqliteCode is SQLite's primary result code, or 0.
func sqliteCode(err error) int {
	var code interface{ Code() int }
	if errors.As(err, &code) {
		return code.Code() & 0xff
	}
	return 0
}

// isLocked reports whether another connection had SQLite's file, or a table of a shared cache.
// One driver has the code in a field, so the text must do for it.
func isLocked(err error) bool {
	const busy, locked = 5, 6
	if code := sqliteCode(err); code != 0 {
		return code == busy || code == locked
	}
	text := err.Error()
	return strings.Contains(text, "database is locked") || strings.Contains(text, "database table is locked")
}

// isMySQL reports whether the server's error is one of these. No driver is imported here, so
// the beginning of its text must do.
func isMySQL(err error, numbers ...int) bool {
	switch e := err.(type) { //nolint:errorlint // it is what unwraps
	case interface{ Unwrap() error }:
		return isMySQL(e.Unwrap(), numbers...)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			if isMySQL(one, numbers...) {
				return true
			}
		}
		return false
	case nil:
		return false
	}
	var got int
	if _, e := fmt.Sscanf(err.Error(), "Error %d", &got); e != nil {
		return false
	}
	for _, n := range numbers {
		if got == n {
			return true
		}
	}
	return false
}
