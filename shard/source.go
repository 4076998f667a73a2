package shard

import (
	"context"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Generator issues ids, as a [*core.Generator] does.
type Generator interface {
	Next(ctx context.Context) (int64, error)
	Fill(ctx context.Context, ids []int64) error
}

// A Source takes ids from a generator and issues their keys, which do not ascend. It is a source for
// gormplugin, sqltype and pgxtype. It is safe for concurrent use if the generator is.
type Source struct {
	ids     Generator
	scatter Scatter
}

// NewSource returns a Source. A zero Scatter or a nil generator is a [*core.ConfigError]. The
// ids must be of the Scatter's layout.
func NewSource(ids Generator, s Scatter) (*Source, error) {
	var wrong fields.Errors
	if fields.IsNil(ids) {
		wrong.Add("ids", nil, "must be a generator")
	}
	if s.bits == 0 {
		wrong.Add("s", "zero", "must come from NewScatter")
	}
	if err := wrong.Err("shard"); err != nil {
		return nil, err
	}
	return &Source{ids, s}, nil
}

// Next issues one key. It fails if the generator fails or issues an id outside the layout.
func (s *Source) Next(ctx context.Context) (int64, error) {
	id, err := s.ids.Next(ctx)
	if err != nil {
		return 0, err
	}
	return s.scatter.Key(id)
}

// Fill issues len(keys) keys. On an error it issues none and keys is unchanged; the errors are those
// of Next.
func (s *Source) Fill(ctx context.Context, keys []int64) error {
	ids := make([]int64, len(keys))
	if err := s.ids.Fill(ctx, ids); err != nil {
		return err
	}
	for i, id := range ids {
		key, err := s.scatter.Key(id)
		if err != nil {
			return err
		}
		ids[i] = key
	}
	copy(keys, ids)
	return nil
}
