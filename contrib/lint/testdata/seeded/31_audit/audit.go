// Package audit says when rows were made, by their keys.
package audit

import (
	"context"
	"database/sql"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// New makes the generator of this package's rows, which are also those of a Discord bot.
func New(worker int64) (*core.Generator, error) {
	return core.New(core.Config{Layout: core.Discord(), Worker: core.Fixed(worker)})
}

// Trail is a list of rows.
type Trail struct {
	gen *core.Generator
	db  *sql.DB
}

// Open makes a trail. Call Close at the end.
func Open(db *sql.DB, worker int64) (*Trail, error) {
	gen, err := New(worker)
	if err != nil {
		return nil, err
	}
	return &Trail{gen, db}, nil
}

// Close ends the trail.
func (t *Trail) Close() { t.gen.Close() }

// Add adds a row and returns when that was.
func (t *Trail) Add(ctx context.Context, what string) (time.Time, error) {
	id, err := t.gen.Next(ctx)
	if err != nil {
		return time.Time{}, err
	}
	if _, err := t.db.ExecContext(ctx, "INSERT INTO trail (id, what) VALUES ($1, $2)", id, what); err != nil {
		return time.Time{}, err
	}
	p, err := core.Twitter().Decode(id) // FAULT 094 class 12: the id was made with Discord's layout, the time is four years too early; sapphiredev/utilities#521
	return p.Time, err
}

// Made returns when a row was made.
func (t *Trail) Made(id sqltype.ID) (time.Time, error) {
	p, err := t.gen.Layout().Decode(int64(id)) // OK 73: the generator's own layout
	return p.Time, err
}

// Between counts the rows of a time.
func (t *Trail) Between(ctx context.Context, from, to time.Time) (n int64, err error) {
	low, high, err := core.Layout{}.Range(from, to) // FAULT 095 class 12: the zero Layout is Twitter's, so the bounds are those of other years
	if err != nil {
		return 0, err
	}
	err = t.db.QueryRowContext(ctx, "SELECT count(*) FROM trail WHERE id >= $1 AND id < $2", low, high).Scan(&n)
	return n, err
}

// FromBot returns when a message of Discord was sent.
func FromBot(message int64) (time.Time, error) {
	p, err := core.Discord().Decode(message) // OK 74: Discord's ids have this layout
	return p.Time, err
}

// FromTweet returns when a tweet was sent.
func FromTweet(tweet int64) (time.Time, error) {
	p, err := core.Twitter().Decode(tweet) // OK 75: not an id of ours
	return p.Time, err
}
