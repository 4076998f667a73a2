package ddl

import (
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/idhash"
	"github.com/seed-299c1d6b/snowkey/shard"
)

// Shard returns the SQL of the shard of the id in a column among n shards, in parentheses:
// [shard.Of] in the database. It is a bigint. The layout has no effect. MySQL allows it after
// PARTITION BY.
func (c Config) Shard(n int, column ...string) (string, error) {
	b := c.builder()
	if _, err := shard.Of(0, n); err != nil {
		addAll(&b.wrong, err)
	}
	return done(b, shardOf(b.Dialect.path(&b.wrong, "column", column), n))
}

func shardOf(id string, n int) string { return fmt.Sprintf("(%s %% %d)", idhash.SQL(id), n) }

// ScatterKey returns the SQL of the key of the id in a column, in parentheses: [shard.Scatter]
// of the layout in the database. It is NULL for an id that the layout cannot have
// produced.
func (c Config) ScatterKey(bits int, column ...string) (string, error) {
	b := c.builder()
	b.checkScatter(bits)
	id := b.Dialect.path(&b.wrong, "column", column)
	high := b.Dialect.shifted(id, uint(bits))
	return done(b, b.inside(id, fmt.Sprintf("(%s %% %d + %s) %% %[2]d * %[4]d + %[5]s", id, 1<<bits, idhash.SQL(high), b.perPrefix(bits), high)))
}

// ScatterID returns the SQL of the id of the key in a column, in parentheses. It is the
// inverse of [Config.ScatterKey].
func (c Config) ScatterID(bits int, column ...string) (string, error) {
	b := c.builder()
	b.checkScatter(bits)
	key := b.Dialect.path(&b.wrong, "column", column)
	per := b.perPrefix(bits)
	high := fmt.Sprintf("(%s %% %d)", key, per)
	prefix := b.Dialect.divided(key, per)
	return done(b, b.inside(key, fmt.Sprintf("%s * %d + (%s + %[2]d - %[4]s %% %[2]d) %% %[2]d", high, 1<<bits, prefix, idhash.SQL(high))))
}

// perPrefix is how many keys of a Scatter have the same prefix.
func (b *builder) perPrefix(bits int) int64 { return b.layout.max>>bits + 1 }

func (b *builder) checkScatter(bits int) {
	if b.wrong != nil {
		return // the layout may be a stand-in
	}
	if _, err := shard.NewScatter(b.Layout, bits); err != nil {
		addAll(&b.wrong, err)
	}
}

// inside is value for an id of the layout, else NULL.
func (b *builder) inside(id, value string) string {
	return fmt.Sprintf("(CASE WHEN %s BETWEEN 0 AND %d THEN %s END)", id, b.layout.max, value)
}

// addAll adds the fields of a *core.ConfigError.
func addAll(wrong *fields.Errors, err error) {
	if config := new(core.ConfigError); errors.As(err, &config) {
		*wrong = append(*wrong, config.Fields...)
	}
}
