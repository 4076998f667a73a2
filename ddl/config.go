package ddl

import "github.com/seed-299c1d6b/snowkey/core"

// Config says whose SQL is to be written, for which layout, and under which
// names. It is checked whenever SQL is asked of it: what is wrong is a
// [*core.ConfigError] that holds all faults.
type Config struct {
	Dialect Dialect     // required
	Layout  core.Layout // zero: Twitter's; an Unsigned one is an error, for a bigint has a sign
	Schema  string      // of what is created; zero: the connection's own. In MySQL a database
	Prefix  string      // of the names of functions and domain; zero: snowflake_
}

// DefaultPrefix begins the names of functions and of the domain.
const DefaultPrefix = "snowflake_"

// begin checks all that does not depend on what is asked for. The shape is nil
// where the layout is not valid; then f has a fault.
func (c *Config) begin(f *faults) *shape {
	if !c.Dialect.known() {
		*f = append(*f, c.Dialect.fault())
	}
	if c.Prefix == "" {
		c.Prefix = DefaultPrefix
	}
	s := shapeOf(f, c.Layout)
	if c.Schema != "" {
		c.Dialect.ident(f, "Schema", c.Schema)
	}
	return s
}

// named quotes a name that begins with the prefix; Schema was checked already.
func (c *Config) named(f *faults, rest string) string {
	name := c.Dialect.ident(f, "Prefix", c.Prefix+rest)
	if c.Schema == "" {
		return name
	}
	return c.Dialect.ident(new(faults), "Schema", c.Schema) + "." + name
}
