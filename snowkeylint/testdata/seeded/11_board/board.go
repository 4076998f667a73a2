// Package board keeps the newest games of each player in a sorted set of Redis.
package board

import (
	"context"
	"math"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Z is a member of a sorted set, as the clients of Redis declare it.
type Z struct {
	Score  float64
	Member any
}

type Redis interface {
	ZAdd(ctx context.Context, key string, members ...Z) error
	ZRevRange(ctx context.Context, key string, from, to int64) ([]string, error)
}

type Game struct {
	ID     sqltype.ID
	Player sqltype.ID
	Points int64
}

// Add puts a game on the list of its player, newest last.
func Add(ctx context.Context, r Redis, g Game) error {
	return r.ZAdd(ctx, "games:"+g.Player.String(), Z{
		Score:  float64(g.ID), // FAULT 049 snownarrow: a score of a sorted set has 53 bits; redis/redis#2835
		Member: g.ID.String(),
	})
}

// AddPoints ranks the game by its points.
func AddPoints(ctx context.Context, r Redis, g Game) error {
	return r.ZAdd(ctx, "points", Z{Score: float64(g.Points), Member: g.ID.String()}) // OK 37: points, not a key
}

// Newest returns the greater of two games' keys.
func Newest(a, b Game) sqltype.ID {
	return newest(int64(a.ID), int64(b.ID))
}

func newest(a, b int64) sqltype.ID {
	return sqltype.ID(math.Max(float64(a), float64(b))) // FAULT 050 snownarrow: math.Max compares and returns a float64
}

// Share is the part of the points that a game has.
func Share(g Game, total int64) float64 {
	return float64(g.Points) / float64(total) // OK 38: no key
}

// List returns the keys of the newest games.
func List(ctx context.Context, r Redis, player sqltype.ID, n int64) ([]sqltype.ID, error) {
	texts, err := r.ZRevRange(ctx, "games:"+player.String(), 0, n-1)
	if err != nil {
		return nil, err
	}
	ids := make([]sqltype.ID, 0, len(texts))
	for _, text := range texts {
		id, err := sqltype.Parse(text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}
