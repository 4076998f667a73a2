// Package feed sends what happened to the timelines of the followers.
package feed

import (
	"context"
	"encoding/json"
	"io"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Post struct {
	ID     sqltype.ID `json:"id"`
	Author sqltype.ID `json:"author"`
	Text   string     `json:"text"`
}

// Event is written to the stream of one follower.
type Event struct {
	Kind  string  `json:"kind"`
	Posts []int64 `json:"posts,string"` // FAULT 024 snowjson: the option string has no effect on a slice; https://sobyte.net/post/2022-01/golang-json
	Seen  []int64 `json:"-"`
}

// Page is one page of a timeline.
type Page[T any] struct {
	Items  []T   `json:"items"`
	Before int64 `json:"before"` // FAULT 025 snowjson: a key in a generic struct, filled in timeline.go; kra8/laravel-snowflake#22
	Total  int64 `json:"total"`
}

// Receipt maps what a client has sent to the rows that were made.
type Receipt struct {
	Made map[string]int64      `json:"made"`    // FAULT 026 snowjson: keys as values of a map, which take no option; golang/go#54017
	Read map[int64]bool        `json:"read"`    // OK 19: encoding/json writes the keys of a map as strings
	Refs map[string]sqltype.ID `json:"refs"`    // OK 20: an ID is a string in a map, too
	Size map[string]int64      `json:"lengths"` // OK 21: lengths in bytes
}

func send(w io.Writer, posts []Post) error {
	e := Event{Kind: "posts"}
	for _, p := range posts {
		e.Posts = append(e.Posts, p.ID.Int64())
	}
	return json.NewEncoder(w).Encode(e)
}

// Store writes posts under the names that the client has chosen, and says which key each got.
func Store(ctx context.Context, gen sqltype.Filler, drafts map[string]string, save func([]Post) error) (*Receipt, error) {
	ids := make([]int64, len(drafts))
	if err := gen.Fill(ctx, ids); err != nil {
		return nil, err
	}
	r := &Receipt{Made: map[string]int64{}, Read: map[int64]bool{}, Refs: map[string]sqltype.ID{}, Size: map[string]int64{}}
	posts := make([]Post, 0, len(drafts))
	for name, text := range drafts {
		id := ids[len(posts)]
		posts = append(posts, Post{ID: sqltype.ID(id), Text: text})
		r.Made[name] = id
		r.Read[id] = true
		r.Refs[name] = sqltype.ID(id)
		r.Size[name] = int64(len(text))
	}
	return r, save(posts)
}
