// Package graphql resolves the queries of the mobile app.
package graphql

import (
	"context"
	"fmt"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// ID is the scalar ID of GraphQL, a string.
type ID string

type song struct {
	ID     sqltype.ID
	Artist sqltype.ID
	Plays  int64
}

type library interface {
	Song(ctx context.Context, id sqltype.ID) (*song, error)
	Similar(ctx context.Context, id sqltype.ID) ([]song, error)
}

type songResolver struct {
	lib library
	s   *song
}

// ID resolves Song.id, which the schema declares as ID.
func (r songResolver) ID() ID { return ID(r.s.ID.String()) } // OK 39: text

// ArtistID resolves Song.artistId, which the schema declares as Int.
func (r songResolver) ArtistID() int32 { return int32(r.s.Artist) } // FAULT 051 snownarrow: an Int of GraphQL has 32 bits; shurcooL/graphql#120

// Plays resolves Song.plays.
func (r songResolver) Plays() int32 { return int32(min(r.s.Plays, 1<<31-1)) } // OK 40: a count with a limit

func (r songResolver) Similar(ctx context.Context) ([]songResolver, error) {
	list, err := r.lib.Similar(ctx, r.s.ID)
	if err != nil {
		return nil, err
	}
	out := make([]songResolver, len(list))
	for i := range list {
		out[i] = songResolver{r.lib, &list[i]}
	}
	return out, nil
}

type root struct{ lib library }

// Song resolves the query song(id: ID!).
func (q root) Song(ctx context.Context, args struct{ ID ID }) (*songResolver, error) {
	n, err := strconv.ParseInt(string(args.ID), 10, 32) // FAULT 052 snownarrow: 32 bits are too few for a key; graph-gophers/graphql-go#333
	if err != nil {
		return nil, fmt.Errorf("song %q: %w", args.ID, err)
	}
	s, err := q.lib.Song(ctx, sqltype.ID(n)) // ALSO 052: converted here
	if err != nil {
		return nil, err
	}
	return &songResolver{q.lib, s}, nil
}

// Page is the number of a page.
func Page(text string) (int32, error) {
	n, err := strconv.ParseInt(text, 10, 32) // OK 41: a page, not a key
	return int32(n), err
}
