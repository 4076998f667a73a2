package snowclose

import (
	"context"
	"database/sql"
	"sync"

	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

type tokens struct {
	mu  sync.RWMutex
	gen *worker.Generator
}

func (t *tokens) Next(ctx context.Context) (sqltype.ID, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return sqltype.New(ctx, t.gen)
}

func (t *tokens) Close(ctx context.Context) error { return t.gen.Close(ctx) }

func (t *tokens) Configure(ctx context.Context, db *sql.DB) error {
	gen, err := sqlstore.Open(ctx, db, sqlstore.Config{})
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.gen = gen // want `this overwrites the generator in t.gen`
	t.mu.Unlock()
	return nil
}

func (t *tokens) Direct(ctx context.Context, db *sql.DB) (err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gen, err = sqlstore.Open(ctx, db, sqlstore.Config{}) // want `this overwrites the generator in t.gen`
	return err
}

// The receiver is not in use yet.
func (t *tokens) Prepare(ctx context.Context, db *sql.DB) (err error) {
	t.gen, err = sqlstore.Open(ctx, db, sqlstore.Config{})
	return err
}

func (t *tokens) Start(ctx context.Context, db *sql.DB) (err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gen, err = sqlstore.Open(ctx, db, sqlstore.Config{})
	return err
}

func (t *tokens) Once(ctx context.Context, db *sql.DB) (err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gen == nil {
		t.gen, err = sqlstore.Open(ctx, db, sqlstore.Config{})
	}
	return err
}

func (t *tokens) Replace(ctx context.Context, db *sql.DB) error {
	gen, err := sqlstore.Open(ctx, db, sqlstore.Config{})
	if err != nil {
		return err
	}
	t.mu.Lock()
	old := t.gen
	t.gen = gen
	t.mu.Unlock()
	return old.Close(ctx)
}

func (t *tokens) After(ctx context.Context, db *sql.DB) error {
	if err := t.Close(ctx); err != nil {
		return err
	}
	gen, err := sqlstore.Open(ctx, db, sqlstore.Config{})
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gen = gen
	return nil
}

func (t *tokens) set(ctx context.Context, db *sql.DB) error {
	gen, err := sqlstore.Open(ctx, db, sqlstore.Config{})
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gen = gen
	return nil
}

func newTokens(ctx context.Context, db *sql.DB) (*tokens, error) {
	t := &tokens{}
	return t, t.set(ctx, db)
}
