package pgxtype

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// cleanUpLimit is how long a rollback may take whose caller's context is done.
const cleanUpLimit = 5 * time.Second

// errEnded is of a transaction that a statement has ended, such as a ROLLBACK by Exec.
var errEnded = errors.New("a statement has ended it")

// inTx runs f in tx and commits. On an error or a panic of f, tx is rolled back.
func inTx(ctx context.Context, tx pgx.Tx, nested bool, f func() error) error {
	ended := false
	defer func() {
		if !ended {
			rollback(ctx, tx)
		}
	}()
	if err := f(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("pgxtype: before COMMIT: %w", err)
	}
	if c := tx.Conn(); c != nil {
		const idle = 'I'
		switch {
		case c.IsClosed():
			return fmt.Errorf("pgxtype: before COMMIT: %w", pgconn.ErrConnClosed)
		case c.PgConn() != nil && c.PgConn().TxStatus() == idle: // pgx does not know, and COMMIT would succeed
			return fmt.Errorf("pgxtype: before COMMIT: the server is in no transaction: %w", errEnded)
		}
	}
	ended = true
	if nested {
		return release(ctx, tx)
	}
	return outcome(tx.Commit(ctx))
}

// rollback undoes tx, even if ctx is done: the caller of a savepoint may commit the transaction
// around it. If it fails, it closes the connection.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpLimit)
	defer cancel()
	if err := tx.Rollback(ctx); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
		_ = tx.Conn().Close(ctx)
	}
}

// release ends a savepoint. pgx considers it ended even if that was never sent, so ctx must not
// stop it.
func release(ctx context.Context, tx pgx.Tx) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpLimit)
	defer cancel()
	err := tx.Commit(ctx)
	if err != nil {
		_ = tx.Conn().Close(ctx)
		return fmt.Errorf("pgxtype: release savepoint: %w", err)
	}
	return nil
}

// outcome adds ErrOutcomeUnknown to an error of COMMIT unless it means "not committed".
func outcome(err error) error {
	if err == nil {
		return nil
	}
	var pg *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrTxCommitRollback), errors.Is(err, pgx.ErrTxClosed), neverSent(err):
		return fmt.Errorf("pgxtype: commit: %w", err)
	case errors.As(err, &pg) && !fatal(pg) && pg.Code != "40003":
		return fmt.Errorf("pgxtype: commit: %w", err)
	}
	return fmt.Errorf("pgxtype: %w: %w", ErrOutcomeUnknown, err)
}

// neverSent reports whether COMMIT was not sent. A closed connection does not prove that, though
// pgx calls it safe to retry: it may have been lost during the wait for the answer. inTx has
// checked that it was open before.
func neverSent(err error) bool {
	return pgconn.SafeToRetry(err) && !errors.Is(err, pgconn.ErrConnClosed)
}

// fatal reports whether the server ended the session. It may do so after the
// commit is on disk, for example while it waits for a standby.
func fatal(pg *pgconn.PgError) bool {
	severity := pg.SeverityUnlocalized
	if severity == "" {
		severity = pg.Severity
	}
	return severity != "ERROR"
}
