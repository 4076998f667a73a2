package graph

import (
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
)

// write gives the rows their keys and writes them in a transaction. After a conflict with another
// transaction, it begins a new one, with the same keys.
func (g *graph) write(cfg Config) (Result, error) {
	keep := cfg.KeepKeys
	defer func() {
		if !keep {
			g.restoreAll()
		}
	}()
	if err := g.assign(); err != nil { // before BEGIN: a source that fails costs no transaction
		return Result{}, err
	}
	attempts := cfg.Attempts
	if !g.ownsTransaction() {
		attempts = 1
	}
	var before snapshot
	if attempts > 1 {
		before = g.snapshot()
	}
	for g.attempt = 1; ; g.attempt++ {
		w := &writer{graph: g, cfg: cfg}
		err := w.run()
		if err == nil {
			keep = true
			return w.result, nil
		}
		keep = keep || w.commit == unknown
		// SQLite's driver returns the connection with the transaction open if COMMIT finds the
		// file locked: none can begin there.
		stuck := w.commit == sent && g.db.Name() == "sqlite"
		if g.attempt >= attempts || w.commit == unknown || stuck || !isConflict(g.db.Name(), err) {
			if g.attempt > 1 {
				err = fmt.Errorf("%w (attempt %d of %d)", err, g.attempt, attempts)
			}
			return Result{}, err
		}
		g.reset(before)
		if stopped := cfg.limits().Wait(g.ctx, g.attempt); stopped != nil {
			return Result{}, fmt.Errorf("graph: %w; after attempt %d of %d: %w", stopped, g.attempt, attempts, err)
		}
		if err := g.assign(); err != nil {
			return Result{}, err
		}
	}
}

// ownsTransaction reports whether the transaction is not the caller's. What the caller wrote in
// it before a conflict is lost as well, and only the caller can write it again.
func (g *graph) ownsTransaction() bool {
	_, nested := g.db.Statement.ConnPool.(gorm.TxCommitter)
	return !nested && !g.db.DryRun
}

// snapshot is the rows before the first attempt: hooks change them, and gorm sets what the
// database makes.
type snapshot struct {
	nodes []*node
	rows  map[reflect.Type]*copied
	undo  undoMark
}

// copied is the copies of the rows of one type, in the order of the nodes.
type copied struct {
	list reflect.Value // a slice
	at   int
}

func (g *graph) snapshot() snapshot {
	s := snapshot{nodes: slices.Clone(g.order), rows: map[reflect.Type]*copied{}, undo: g.undo.mark()}
	for _, n := range s.nodes {
		t := n.row.Type()
		if s.rows[t] == nil {
			s.rows[t] = &copied{}
		}
		s.rows[t].at++
	}
	for t, c := range s.rows {
		c.list = reflect.MakeSlice(reflect.SliceOf(t), c.at, c.at)
	}
	s.each(func(n *node, saved reflect.Value) { saved.Set(n.row) })
	return s
}

// each calls do with each row and its copy.
func (s *snapshot) each(do func(n *node, saved reflect.Value)) {
	for _, c := range s.rows {
		c.at = 0
	}
	for _, n := range s.nodes {
		c := s.rows[n.row.Type()]
		do(n, c.list.Index(c.at))
		c.at++
	}
}

// reset sets the graph back to the snapshot. Rows that hooks have added lose their keys.
func (g *graph) reset(to snapshot) {
	g.undo.restoreTo(to.undo)
	to.each(func(n *node, saved reflect.Value) { n.row.Set(saved) })
	for _, n := range g.nodes {
		for ; n != nil; n = n.inner {
			n.state, n.batch, n.same = pending, nil, nil
		}
	}
	g.stale = false
}
