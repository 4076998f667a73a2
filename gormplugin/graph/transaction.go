package graph

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/internal/retry"
)

// ownsTransaction reports whether the transaction is not the caller's. What the caller wrote in
// it before a conflict is lost as well, and only the caller can write it again.
func (g *graph) ownsTransaction() bool {
	_, nested := g.db.Statement.ConnPool.(gorm.TxCommitter)
	return !nested && !g.db.DryRun
}

// begin begins a transaction, or sets a savepoint in the caller's.
func (w *writer) begin() error {
	if !w.ownsTransaction() {
		return w.setSavepoint()
	}
	if w.tx = w.db.Begin(); w.tx.Error != nil {
		return fmt.Errorf("graph: BEGIN: %w", w.tx.Error)
	}
	inner, ok := w.tx.Statement.ConnPool.(gorm.TxCommitter)
	if !ok {
		return fmt.Errorf("graph: BEGIN: %T is no transaction: %w", w.tx.Statement.ConnPool, gorm.ErrInvalidTransaction)
	}
	w.conn, w.commit, w.rollback = wrap(w.tx, w.db), inner.Commit, inner.Rollback
	return nil
}

func (w *writer) setSavepoint() error {
	w.tx = w.db.Session(&gorm.Session{Context: w.ctx})
	w.conn = wrap(w.tx, w.db)
	if w.db.DisableNestedTransaction || w.db.DryRun {
		return nil
	}
	name := fmt.Sprintf("snowkey%016x", rand.Uint64())
	caller := func() *gorm.DB { // past conn, which may refuse statements
		return w.db.Session(&gorm.Session{NewDB: true, Context: context.WithoutCancel(w.ctx)})
	}
	if err := caller().SavePoint(name).Error; err != nil {
		return fmt.Errorf("graph: SAVEPOINT: %w", err)
	}
	w.rollback = func() error { return caller().RollbackTo(name).Error }
	return nil
}

// undo rolls back after err, and adds to it what that reports.
func (w *writer) undo(err error) error {
	if w.rollback == nil {
		return err
	}
	e := w.rollback()
	if gone := w.conn.conflict() != nil && strings.Contains(fmt.Sprint(e), "Error 1305"); gone || errors.Is(e, sql.ErrTxDone) {
		return err // MySQL has rolled back the transaction with its savepoints, or the end of the context has
	}
	if e != nil && err != nil {
		return fmt.Errorf("%w; and the rollback: %w", err, e)
	}
	return err
}

// No driver is imported here. What an error says is read from the methods and the text of the
// drivers' errors.

// conflicts matches MySQL's deadlock (1213), a row that MariaDB finds changed since the first look
// (1020), a COMMIT that another server of a group has forestalled (3101), and a file or a table
// that another connection of SQLite has locked.
var conflicts = map[string]*regexp.Regexp{
	"mysql":  regexp.MustCompile(`(?m)(^|: )Error (1213|1020|3101)\b`),
	"sqlite": regexp.MustCompile(`database (table )?is locked`),
}

// isConflict reports whether the database asks for the transaction to be run again. It is false
// for a lock that was not granted in the time that the caller has set.
func isConflict(dialect string, err error) bool {
	if text := conflicts[dialect]; text != nil {
		return text.MatchString(err.Error())
	}
	const aborted = "25P02" // by an earlier error, which a hook has kept to itself
	return retry.IsConflict(err) || retry.SQLState(err) == aborted
}

// isRefused reports whether the error of a COMMIT says that nothing was committed: the server
// refused it, or it was never sent.
func isRefused(dialect string, err error) bool {
	if s := retry.SQLState(err); s != "" { // of the outcome, a connection that was lost says nothing: 08 and 57P
		return len(s) == 5 && s[:2] != "08" && s[:3] != "57P" && s != "40003"
	}
	return errors.Is(err, sql.ErrTxDone) || isConflict(dialect, err) || dialect == "sqlite" && strings.Contains(err.Error(), "constraint failed")
}
