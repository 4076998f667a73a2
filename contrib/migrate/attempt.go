package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// retryStep runs a step that stops writers, and retries until it can lock its tables.
func (r *run) retryStep(ctx context.Context, s Step) error {
	deadline := time.Now().Add(r.cfg.Patience)
	filled := ""
	if s.Name == StepSwap {
		if err := r.conn.QueryRowContext(ctx, nextTransaction).Scan(&filled); err != nil {
			return err
		}
	}
	const mostHeld = 5 // each stops writers for HoldTimeout
	for failures := 1; ; failures++ {
		err := r.checkOlder(ctx, filled)
		if err == nil {
			err = r.attempt(ctx, s)
		}
		switch {
		case !othersInTheWay(err): // or there is no error
			return err
		case r.held == mostHeld:
			return fmt.Errorf("it was canceled %d times, after HoldTimeout, %v: %w", r.held, r.cfg.HoldTimeout, err)
		case time.Now().After(deadline):
			return fmt.Errorf("%w, %v%s: %w", ErrBusy, r.cfg.Patience, r.blockers(ctx, s), err)
		}
		if waited := live.Backoff(ctx, failures); waited != nil {
			return errors.Join(waited, err)
		}
	}
}

// firstLockTimeout is how long to wait for a lock that does not stop writers. It must be longer than
// deadlock_timeout, after which PostgreSQL cancels an autovacuum that is in the way.
const firstLockTimeout = 10 * time.Second

// attempt runs a step made by locked: its first two statements lock the tables. The server cancels it if it
// waits for longer than LockTimeout or works for longer than HoldTimeout.
func (r *run) attempt(ctx context.Context, s Step) error {
	tx, err := r.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	if err := r.exec(ctx, tx, firstLockTimeout, firstLockTimeout, s.Statements[0]); err != nil {
		return err
	}
	if err := r.checkUnchanged(ctx, tx, s); err != nil {
		return err
	}
	if err := r.exec(ctx, tx, r.cfg.LockTimeout, r.cfg.LockTimeout, s.Statements[1]); err != nil {
		return err
	}
	// One round trip, to hold the locks only for a short time.
	var block strings.Builder
	for _, text := range s.Statements[2:] {
		block.WriteString("EXECUTE " + literal(text) + "; ")
	}
	err = r.exec(ctx, tx, r.cfg.LockTimeout, r.cfg.HoldTimeout, "DO "+literal("BEGIN "+block.String()+"END"))
	if live.SQLState(err) == canceled {
		r.held++
	}
	if err != nil {
		return err
	}
	r.held = 0
	return tx.Commit()
}

// The SQLSTATEs of lock_timeout and statement_timeout.
const lockNotAvailable, canceled = "55P03", "57014"

// othersInTheWay reports whether an attempt may succeed later.
func othersInTheWay(err error) bool {
	return slices.Contains([]string{lockNotAvailable, canceled}, live.SQLState(err)) || live.IsUndone(err) ||
		errors.Is(err, errOlder)
}

// exec runs a statement with limits for each lock that it waits for, and for all of it. If this process is
// stopped or cut off between two statements, the server ends the session and its locks.
func (r *run) exec(ctx context.Context, tx *sql.Tx, lock, limit time.Duration, text string) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`SELECT set_config('statement_timeout', '%d', true),
		set_config('lock_timeout', '%d', true), set_config('idle_in_transaction_session_timeout', '%d', true)`,
		limit.Milliseconds(), lock.Milliseconds(), r.cfg.HoldTimeout.Milliseconds()))
	if err == nil {
		_, err = tx.ExecContext(ctx, text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

// blockers names the oldest transactions that hold locks on the tables of a step.
func (r *run) blockers(ctx context.Context, s Step) string {
	list, _, _ := strings.Cut(strings.TrimPrefix(s.Statements[0], "LOCK TABLE "), " IN ")
	// This fails for a name with a comma.
	text, _ := r.sessions(ctx, "EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.granted AND "+
		"l.relation = ANY (string_to_array($1, ', ')::regclass[]))", list)
	if text == "" {
		return ""
	}
	return " (the oldest transactions in the way now: " + text + ")"
}

// checkUnchanged plans again, now that the tables are locked against other changes.
func (r *run) checkUnchanged(ctx context.Context, tx *sql.Tx, s Step) error {
	p, err := r.plan(ctx, tx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(p.Steps, func(o Step) bool {
		return o.Name == s.Name && slices.Equal(o.Statements, s.Statements)
	}) {
		return errChanged
	}
	return nil
}
