// Package service has the services of a game.
package service

import (
	"context"
	"database/sql"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/pgxstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Matches starts matches.
type Matches struct {
	gen  *worker.Generator
	pool *pgxpool.Pool
}

// NewMatches returns the service, which has no method that closes its generator.
func NewMatches(ctx context.Context, pool *pgxpool.Pool) (*Matches, error) {
	gen, err := pgxstore.Open(ctx, pool, worker.Config{}) // FAULT 073 snowclose: kept in a struct that nothing closes; sensu/sensu-go#1163
	if err != nil {
		return nil, err
	}
	return &Matches{gen: gen, pool: pool}, nil
}

// Start starts a match.
func (m *Matches) Start(ctx context.Context, players []sqltype.ID) (sqltype.ID, error) {
	id, err := sqltype.NextID(ctx, m.gen)
	if err != nil {
		return 0, err
	}
	_, err = m.pool.Exec(ctx, "INSERT INTO matches (id, players) VALUES ($1, $2)", id, players)
	return id, err
}

// Close closes the pool.
func (m *Matches) Close() { m.pool.Close() }

// Tokens hands out the ids of play tokens, under a namespace that can be changed.
type Tokens struct {
	mu  sync.RWMutex
	gen *worker.Generator
}

// Configure leases a worker ID of another namespace.
func (t *Tokens) Configure(ctx context.Context, db *sql.DB, namespace string) error {
	gen, err := sqlstore.Open(ctx, db, worker.Config{Namespace: namespace}) // ALSO 074: opened here
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gen = gen // FAULT 074 snowclose: the generator before is overwritten, not closed; go-micro/plugins#48
	return nil
}

// Next returns the id of a token.
func (t *Tokens) Next(ctx context.Context) (sqltype.ID, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return sqltype.NextID(ctx, t.gen)
}

// Close releases the last worker ID.
func (t *Tokens) Close(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.gen.Close(ctx)
}
