package ddl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// MaxShards is the greatest number of shards of a [Sharding].
const MaxShards = 1024

// Sharding configures a table whose rows are on several servers, in PostgreSQL with
// postgres_fdw, in MariaDB with Spider. Dialect, Table, Count and Servers are required. Each
// method validates it; the error is a [*core.ConfigError] with all that is wrong. SQLite has no
// other servers: an [errors.ErrUnsupported]. docs/shards.md shows all that is needed.
//
// The table itself is on one server, the coordinator, which has no rows. A shard is a table
// on one of the others, named like orders_s0. [Sharding.Shards] lists them.
type Sharding struct {
	Dialect Dialect     // required; MySQL is MariaDB here, because only that has Spider
	Layout  core.Layout // zero: Twitter's. It matters only if Field is set
	Schema  string      // of the table and its shards; zero: the connection's own
	Table   string      // required
	Column  string      // zero: id
	// Field is Datacenter or Worker: the shard is that field modulo Count. Zero: shard.Of, which
	// spreads ids evenly.
	Field   Field
	Count   int      // required: the number of shards, at most MaxShards
	Servers []string // required: names of CREATE SERVER. Shard i is on the server i modulo their number
}

// A Shard is one shard of a [Sharding].
type Shard struct {
	Number int
	Table  string // on its server; in PostgreSQL also on the coordinator
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
	return fmt.Sprintf("(%s %% %d)", s.Dialect.number(s.layout.below[s.Field], id), s.Count)
}

// key is that of the table's column.
func (s *sharder) key() string { return s.number(s.Dialect.quote(s.Column)) }

// function is the name of PostgreSQL's function.
func (s *Sharding) function() string { return s.Table + "_shard" }

func (s Sharding) sharder() (*sharder, error) {
	var wrong fields.Errors
	s.Dialect.check(&wrong)
	l := compile(&wrong, s.Layout)
	if s.Schema != "" {
		s.Dialect.ident(&wrong, "Schema", s.Schema)
	}
	s.Dialect.ident(&wrong, "Table", s.Table)
	if s.Column == "" {
		s.Column = "id"
	}
	s.Dialect.ident(&wrong, "Column", s.Column)
	if s.Count < 1 || s.Count > MaxShards {
		wrong.Add("Count", s.Count, "must be 1 to %d", MaxShards)
	} else if s.Table != "" {
		for _, name := range []string{s.table(s.Count - 1), s.function()} {
			s.Dialect.around(&wrong, "Table", "", s.Table, name[len(s.Table):])
		}
	}
	switch n := len(s.Servers); {
	case n == 0:
		wrong.Add("Servers", s.Servers, "must not be empty")
	case s.Count > 0 && n > s.Count:
		wrong.Add("Servers", s.Servers, "must be at most %d, one for each shard", s.Count)
	}
	s.comment(&wrong, "Table", s.Table)
	for _, server := range s.Servers {
		s.Dialect.ident(&wrong, "Servers", server)
		s.comment(&wrong, "Servers", server)
	}
	if !slices.Contains([]Field{"", Datacenter, Worker}, s.Field) {
		wrong.Add("Field", string(s.Field), "must be datacenter or worker, or empty")
	} else if s.Field != "" && l.below[s.Field].width == 0 {
		wrong.Add("Field", string(s.Field), "must have bits in the layout")
	}
	if err := wrong.Err("ddl"); err != nil {
		return nil, err
	}
	if s.Dialect == SQLite {
		return nil, SQLite.unsupported("other servers")
	}
	return &sharder{s, l}, nil
}

// comment checks a name that Spider reads in a comment.
func (s *Sharding) comment(wrong *fields.Errors, field, name string) {
	if s.Dialect == MySQL && strings.ContainsAny(name, `"'\`) {
		wrong.Add(field, name, "must have no quote and no backslash: Spider reads it in a comment")
	}
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

// Clause returns what follows the closing parenthesis of CREATE TABLE on the coordinator. In
// PostgreSQL the table has no shards yet, [Sharding.Create] adds them, and it cannot have a
// primary key: those of the shards suffice, because an id is always of the same shard. In
// MariaDB it has all of them, and a primary key as usual.
func (s Sharding) Clause() (string, error) {
	of, err := s.sharder()
	if err != nil {
		return "", err
	}
	if s.Dialect == Postgres {
		return "PARTITION BY LIST (" + of.key() + ")", nil
	}
	shards, err := s.Shards()
	if err != nil {
		return "", err
	}
	lines := make([]string, len(shards))
	for i, one := range shards {
		comment := fmt.Sprintf(`srv "%s", table "%s"`, one.Server, one.Table)
		lines[i] = fmt.Sprintf("\n  PARTITION %s VALUES IN (%d) COMMENT = '%s'", MySQL.quote(fmt.Sprint("s", i)), i, comment)
	}
	return `ENGINE = SPIDER COMMENT = 'wrapper "mysql"' PARTITION BY LIST ` + of.key() + " (" + strings.Join(lines, ",") + ")", nil
}

// Create adds the shards to the table of PostgreSQL, as foreign tables, and creates a
// function named like orders_shard. A query of one id that names it reads one shard only:
//
//	SELECT * FROM orders WHERE id = $1 AND orders_shard(id) = orders_shard($1)
//
// MariaDB needs neither, and the script is empty: there WHERE id = ? reads one shard.
func (s Sharding) Create() (Script, error) {
	of, err := s.sharder()
	if err != nil || s.Dialect == MySQL {
		return nil, err
	}
	shards, err := s.Shards()
	if err != nil {
		return nil, err
	}
	script := Script{fmt.Sprintf("CREATE FUNCTION %s(id bigint) RETURNS bigint\n  LANGUAGE sql IMMUTABLE PARALLEL SAFE\n  RETURN %s", s.Dialect.qualify(s.Schema, s.function()), of.number("id"))}
	for _, one := range shards {
		script = append(script, fmt.Sprintf("CREATE FOREIGN TABLE %s PARTITION OF %s FOR VALUES IN (%d) SERVER %s",
			s.Dialect.qualify(s.Schema, one.Table), s.Dialect.qualify(s.Schema, s.Table), one.Number, s.Dialect.quote(one.Server)))
	}
	return script, nil
}
