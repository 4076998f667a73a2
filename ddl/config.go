package ddl

import (
	"cmp"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Config configures SQL for the ids of a layout. Only Dialect is required. Each method
// validates it; the error is a [*core.ConfigError] with all that is wrong.
type Config struct {
	Dialect Dialect     // required
	Layout  core.Layout // zero: Twitter's. An Unsigned layout is an error, because a bigint is signed
	Schema  string      // of the objects created; zero: the connection's. In MySQL a database
	Prefix  string      // of the names of the functions and the domain; zero: snowflake_
}

// builder writes the SQL of a Config, and collects its errors.
type builder struct {
	Config
	layout compiledLayout
	wrong  fields.Errors
}

func (c Config) builder() *builder {
	b := &builder{Config: c}
	b.Dialect.check(&b.wrong)
	b.Prefix = cmp.Or(b.Prefix, "snowflake_")
	b.layout = compile(&b.wrong, c.Layout)
	if c.Schema != "" {
		b.Dialect.ident(&b.wrong, "Schema", c.Schema)
	}
	return b
}

// result returns what was written, or the errors.
func result[T any](b *builder, written T) (T, error) {
	if err := b.wrong.Err("ddl"); err != nil {
		var none T
		return none, err
	}
	return written, nil
}

// named quotes a name that begins with the prefix.
func (b *builder) named(rest string) string {
	b.Dialect.identWith(&b.wrong, "Prefix", b.Prefix, rest)
	return b.Dialect.qualify(b.Schema, b.Prefix+rest)
}

// object quotes a name in the schema.
func (b *builder) object(field, name string) string {
	b.Dialect.ident(&b.wrong, field, name)
	return b.Dialect.qualify(b.Schema, name)
}
