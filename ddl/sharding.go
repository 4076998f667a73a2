package ddl

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Sharding configures a table of PostgreSQL whose rows are on several servers, by postgres_fdw.
// Dialect, Table, Count and Servers are required. Each method validates it; the error is a
// [*core.ConfigError] with all that is wrong. For MySQL, MariaDB and SQLite it is an
// [errors.ErrUnsupported]: there a program connects to the server of each row itself, which
// [core.Shard] finds. docs/ddl.md shows all that is needed.
//
// The table itself is on one server, the coordinator, which has no rows. A shard is a table
// on one of the others, named like orders_s0. [Sharding.Shards] lists them.
type Sharding struct {
	Dialect Dialect     // required: Postgres
	Layout  core.Layout // zero: Twitter's. It matters only if Field is set
	Schema  string      // of the table and its shards; zero: the connection's own
	Table   string      // required
	Column  string      // zero: id
	// Field is Datacenter or WorkerID: the shard is that field modulo Count. Zero: core.Shard, which
	// spreads ids evenly.
	Field   Field
	Count   int      // required: the number of shards, at most [core.MaxShards]
	Servers []string // required: names of CREATE SERVER. Shard i is on the server i modulo their number
}

// A Shard is one shard of a [Sharding].
type Shard struct {
	Number int
	Table  string // on its server and on the coordinator
	Server string
	// Check is a constraint that rejects rows of other shards. No coordinator verifies what is
	// written directly on its server: ALTER TABLE … ADD and this.
	Check string
}

// sharder is a valid Sharding with its defaults.
type sharder struct {
	Sharding
	layout compiledLayout
}

// number is the SQL of the shard of an id, which is SQL.
func (s *sharder) number(id string) string {
	if s.Field == "" {
		return shardOf(id, s.Count)
	}
	return fmt.Sprintf("(%s %% %d)", Postgres.number(s.layout.below[s.Field], id), s.Count)
}

// key is the number of the shard of the table's column.
func (s *sharder) key() string { return s.number(Postgres.quote(s.Column)) }

// function is the name of the function that Create creates.
func (s *Sharding) function() string { return s.Table + "_shard" }

func (s Sharding) sharder() (*sharder, error) {
	var wrong fields.Errors
	if s.Dialect.check(&wrong); wrong == nil && s.Dialect != Postgres {
		return nil, fmt.Errorf("ddl: Dialect %q: a Sharding is for PostgreSQL, with postgres_fdw; connect to the server of each row, which core.Shard finds: %w", s.Dialect, errors.ErrUnsupported)
	}
	l := compile(&wrong, s.Layout)
	if s.Schema != "" {
		Postgres.ident(&wrong, "Schema", s.Schema)
	}
	Postgres.ident(&wrong, "Table", s.Table)
	s.Column = cmp.Or(s.Column, "id")
	Postgres.ident(&wrong, "Column", s.Column)
	if s.Count < 1 || s.Count > core.MaxShards {
		wrong.Add("Count", s.Count, "must be 1 to %d", core.MaxShards)
	} else if s.Table != "" {
		for _, name := range []string{s.table(s.Count - 1), s.function()} {
			Postgres.identWith(&wrong, "Table", s.Table, name[len(s.Table):])
		}
	}
	switch n := len(s.Servers); {
	case n == 0:
		wrong.Add("Servers", s.Servers, "must not be empty")
	case s.Count > 0 && n > s.Count:
		wrong.Add("Servers", s.Servers, "must be at most %d, one for each shard", s.Count)
	}
	for _, server := range s.Servers {
		Postgres.ident(&wrong, "Servers", server)
	}
	if !slices.Contains([]Field{"", Datacenter, WorkerID}, s.Field) {
		wrong.Add("Field", string(s.Field), "must be datacenter or worker_id, or empty")
	} else if s.Field != "" && l.below[s.Field].width == 0 {
		wrong.Add("Field", string(s.Field), "must have bits in the layout")
	}
	if err := wrong.Err("ddl"); err != nil {
		return nil, err
	}
	return &sharder{s, l}, nil
}

// table is the name of a shard.
func (s *Sharding) table(number int) string { return fmt.Sprintf("%s_s%d", s.Table, number) }

// Shards lists the shards. Create their tables on their servers, with the columns of the table
// and a primary key, before those of the coordinator. Each may be partitioned by time:
// see [Partitioning].
func (s Sharding) Shards() ([]Shard, error) {
	of, err := s.sharder()
	if err != nil {
		return nil, err
	}
	shards := make([]Shard, s.Count)
	for i := range shards {
		shards[i] = Shard{i, s.table(i), s.Servers[i%len(s.Servers)], fmt.Sprintf("CHECK (%s = %d)", of.key(), i)}
	}
	return shards, nil
}

// Clause returns what follows the closing parenthesis of CREATE TABLE on the coordinator. The table
// has no shards yet, [Sharding.Create] adds them. It cannot have a primary key: those of the shards
// suffice, because an id is always of the same shard.
func (s Sharding) Clause() (string, error) {
	of, err := s.sharder()
	if err != nil {
		return "", err
	}
	return "PARTITION BY LIST (" + of.key() + ")", nil
}

// Create adds the shards to the table, as foreign tables, and creates a function named like
// orders_shard. A query of one id that names it reads one shard only:
//
//	SELECT * FROM orders WHERE id = $1 AND orders_shard(id) = orders_shard($1)
func (s Sharding) Create() (Script, error) {
	of, err := s.sharder()
	if err != nil {
		return nil, err
	}
	shards, err := s.Shards()
	if err != nil {
		return nil, err
	}
	script := Script{fmt.Sprintf("CREATE FUNCTION %s(id bigint) RETURNS bigint\n  LANGUAGE sql IMMUTABLE PARALLEL SAFE\n  RETURN %s", Postgres.qualify(s.Schema, s.function()), of.number("id"))}
	for _, one := range shards {
		script = append(script, fmt.Sprintf("CREATE FOREIGN TABLE %s PARTITION OF %s FOR VALUES IN (%d) SERVER %s",
			Postgres.qualify(s.Schema, one.Table), Postgres.qualify(s.Schema, s.Table), one.Number, Postgres.quote(one.Server)))
	}
	return script, nil
}

// Shard returns the SQL of the shard of the id in a column among n shards, in parentheses:
// [core.Shard] in the database. It is a bigint. The layout has no effect. MySQL allows it after
// PARTITION BY.
func (c Config) Shard(n int, column ...string) (string, error) {
	b := c.builder()
	var config *core.ConfigError
	if _, err := core.Shard(0, n); errors.As(err, &config) {
		b.wrong = append(b.wrong, config.Fields...)
	}
	return result(b, shardOf(b.Dialect.path(&b.wrong, "column", column), n))
}

// shardOf is core.Shard in SQL, for an id that is SQL of a signed integer of 64 bits.
func shardOf(id string, n int) string {
	return fmt.Sprintf("((%[1]s %% 3863124193) * (%[1]s %% 2387542127) %% 4294967291 * 1640531527 %% 3037000493 * 2246822519 %% 4294967279 %% %[2]d)", id, n)
}
