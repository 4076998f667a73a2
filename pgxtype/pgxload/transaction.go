package pgxload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

var errEnded = errors.New("a statement, such as ROLLBACK by Exec, has ended the transaction")

// inTx runs f in tx and commits. If f fails or panics, inTx rolls back, even if ctx is done: the caller of
// a savepoint may commit the transaction around it. If the rollback fails, inTx closes the connection.
func inTx(ctx context.Context, tx pgx.Tx, nested bool, f func() error) error {
	cleanUp := func(end func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err := end(ctx)
		if err != nil && !errors.Is(err, pgx.ErrTxClosed) {
			_ = tx.Conn().Close(ctx)
		}
		return err
	}
	ended := false
	defer func() {
		if !ended {
			_ = cleanUp(tx.Rollback)
		}
	}()
	err := f()
	if err != nil {
		return err
	}
	switch c := tx.Conn(); {
	case ctx.Err() != nil:
		err = ctx.Err()
	case c == nil || c.PgConn() == nil: // a fake
	case c.IsClosed():
		err = pgconn.ErrConnClosed
	case c.PgConn().TxStatus() == 'I': // idle; pgx does not notice it, and COMMIT would succeed
		err = errEnded
	}
	if err != nil {
		return fmt.Errorf("pgxload: before COMMIT: %w", err)
	}
	ended = true
	if !nested {
		return outcome(tx.Commit(ctx))
	}
	// pgx considers a savepoint ended even if the statement was never sent, so ctx must not stop it.
	if err = cleanUp(tx.Commit); err != nil {
		err = fmt.Errorf("pgxload: release savepoint: %w", err)
	}
	return err
}

// outcome adds ErrOutcomeUnknown to an error of COMMIT, unless the error means "not committed".
func outcome(err error) error {
	if err == nil {
		return nil
	}
	// A closed connection does not prove that COMMIT was not sent, though pgx calls it safe to retry: it
	// may have been lost during the wait for the answer. inTx has checked that it was open before.
	neverSent := pgconn.SafeToRetry(err) && !errors.Is(err, pgconn.ErrConnClosed)
	// When the commit is on disk, the server may still end the session, and a pooler may lose the server (08).
	var pg *pgconn.PgError
	refused := errors.As(err, &pg) && cmp.Or(pg.SeverityUnlocalized, pg.Severity) == "ERROR" &&
		pg.Code != "40003" && !strings.HasPrefix(pg.Code, "08")
	switch {
	case refused && pg.TableName != "": // a deferred constraint
		return &LoadError{Table: pg.TableName, Row: -1, Column: pg.ColumnName, Err: fmt.Errorf("commit: %w", err)}
	case refused, neverSent, errors.Is(err, pgx.ErrTxCommitRollback), errors.Is(err, pgx.ErrTxClosed):
		return fmt.Errorf("pgxload: commit: %w", err)
	}
	return fmt.Errorf("pgxload: %w: %w", sqltype.ErrOutcomeUnknown, err)
}
