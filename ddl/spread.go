package ddl

import (
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Shard returns the SQL of the shard of the id in a column among n shards, in parentheses:
// [core.Shard] in the database. It is a bigint. The layout has no effect. MySQL allows it after
// PARTITION BY.
func (c Config) Shard(n int, column ...string) (string, error) {
	b := c.builder()
	var config *core.ConfigError
	if _, err := core.Shard(0, n); errors.As(err, &config) {
		b.wrong = append(b.wrong, config.Fields...)
	}
	return done(b, shardOf(b.Dialect.path(&b.wrong, "column", column), n))
}

// shardOf is core.Shard in SQL, for an id that is SQL of a signed integer of 64 bits.
func shardOf(id string, n int) string {
	return fmt.Sprintf("((%[1]s %% 3863124193) * (%[1]s %% 2387542127) %% 4294967291 * 1640531527 %% 3037000493 * 2246822519 %% 4294967279 %% %[2]d)", id, n)
}
