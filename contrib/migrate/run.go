package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// lockKey is the key of the advisory lock, "snow".
const lockKey int64 = 0x736e6f77

var (
	// ErrRunning means that another migration runs in the database. Run waits for its end for 15 seconds,
	// because a server usually takes about a second to end the session of one that was killed.
	ErrRunning = fmt.Errorf("migrate: another migration is running in this database: "+
		"see SELECT * FROM pg_locks WHERE locktype = 'advisory' AND objid = %d", lockKey)
	// errChanged means that the schema has changed since the plan was made.
	errChanged = errors.New("the schema has changed meanwhile")
	// ErrBusy means that other transactions kept a step waiting for Config.Patience.
	ErrBusy = errors.New("migrate: others were in the way for too long")
)

// A Result says what Run has done.
type Result struct {
	Steps []Step // the steps that it has run, in order
	Rows  int64  // how many rows it has filled
	Plan  Plan   // what is left
}

// Inspect returns the plan of what Run would do, and writes nothing. It returns the same errors as Run.
func Inspect(ctx context.Context, db *sql.DB, cfg Config) (Plan, error) {
	if err := cfg.check(db); err != nil {
		return Plan{}, err
	}
	return (&run{cfg: cfg}).inspect(ctx, db)
}

// inspect returns the plan, with done steps marked.
func (r *run) inspect(ctx context.Context, q querier) (Plan, error) {
	p, err := r.plan(ctx, q)
	if err == nil {
		err = p.mark(ctx, q)
	}
	if err == nil {
		err = p.checkSilence(ctx, q)
	}
	if err == nil && slices.ContainsFunc(p.Left(), func(s Step) bool { return s.Name == StepSwap }) {
		err = r.checkSnapshots(ctx, q)
	}
	return p, err
}

// mark finds out which steps are done.
func (p *Plan) mark(ctx context.Context, q querier) error {
	undone := false
	for i := range p.Steps {
		s := &p.Steps[i]
		if undone && (s.Batches || s.Name == StepFinish) { // its column may be missing; there is nothing to drop yet
			continue
		}
		var done sql.NullBool
		err := q.QueryRowContext(ctx, s.Check).Scan(&done)
		s.Done = done.Bool
		if err != nil {
			return fmt.Errorf("migrate: check the step %s of %s by %s: %w", s.Name, s.Table, s.Check, err)
		}
		undone = undone || !s.Done
	}
	return nil
}

// Run does the steps of the plan that are not done, one by one, up to the swap or Config.StopBefore.
// With Config.Finish, it also drops the old columns. If a step is interrupted, nothing of it is done; but a
// fill keeps the batches that it has written. Call Run again to continue.
//
// The errors are *core.ConfigError for what the migration does not handle, ErrRunning, ErrBusy, the
// context's, and the database's errors.
func Run(ctx context.Context, db *sql.DB, cfg Config) (_ Result, err error) {
	defer func() {
		if ended := ctx.Err(); err != nil && ended != nil && !errors.Is(err, ended) { // pgx returns driver.ErrBadConn then
			err = fmt.Errorf("%w: %w", err, ended)
		}
	}()
	if err := cfg.check(db); err != nil {
		return Result{}, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("migrate: connect: %w", err)
	}
	defer conn.Close()
	r := &run{cfg: cfg, conn: conn}
	release, err := r.lock(ctx)
	if err != nil {
		return Result{}, err
	}
	defer release()
	result := &r.result
	const maxChanges = 20
	for changes := 0; ; {
		if result.Plan, err = r.inspect(ctx, conn); err != nil {
			return *result, err
		}
		left := result.Plan.Left()
		if len(left) == 0 || left[0].Name == StepFinish && !cfg.Finish {
			return *result, nil
		}
		if stop, err := result.Plan.stops(cfg.StopBefore); stop || err != nil {
			return *result, err
		}
		if slices.ContainsFunc(result.Steps, func(s Step) bool {
			return slices.Equal(s.Statements, left[0].Statements) && s.Check == left[0].Check
		}) {
			return *result, fmt.Errorf("migrate: the step %s of %s has run, but is not done: %s is false",
				left[0].Name, left[0].Table, left[0].Check)
		}
		err := r.step(ctx, left[0])
		if errors.Is(err, errChanged) && changes < maxChanges {
			changes++
			continue
		}
		if err != nil {
			return *result, fmt.Errorf("migrate: the step %s of %s: %w", left[0].Name, left[0].Table, err)
		}
		result.Steps = append(result.Steps, left[0])
	}
}

func (r *run) step(ctx context.Context, s Step) error {
	r.cfg.Progress(s, 0, 0)
	switch {
	case s.Batches:
		n, err := r.fill(ctx, s)
		r.result.Rows += n
		return err
	case s.Transaction:
		return r.retryStep(ctx, s)
	}
	for _, text := range s.Statements {
		if _, err := r.conn.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}
