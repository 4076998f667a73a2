package ddl

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Generator configures a generator of ids in SQL, for rows that no Go program inserts: those of
// psql, of a trigger, of COPY. It holds worker IDs of a namespace of leases, so its ids differ from
// theirs. The tables of the leases must be in the same database. Only Dialect is required. Each
// method validates the configuration; the error is a [*core.ConfigError] with all that is wrong.
//
//	script, err := ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders"}.Create()
//
//	SELECT snowkey_next('orders');
//	ALTER TABLE orders ALTER COLUMN id SET DEFAULT snowkey_next('orders');
//
// It is for PostgreSQL and MariaDB. SQLite is an [errors.ErrUnsupported], and MySQL rejects the
// script. docs/generator.md has the guarantees, the limits and the costs.
type Generator struct {
	Dialect   Dialect     // required; MySQL means MariaDB here
	Layout    core.Layout // that of the namespace; zero: Twitter's
	Schema    string      // of the objects created; zero: public, in MariaDB the connection's database
	Table     string      // of the leases, as in sqlstore.Config; zero: snow_worker. Without a schema it is in Schema
	Namespace string      // of the leases, as in worker.Config; zero: default
	// Datacenter restricts the worker IDs to those of one datacenter, as in worker.Config. Workers
	// then count from 0 within it. Nil: all worker IDs.
	Datacenter *int64
	// Workers are the worker IDs to take, in any order. Zero: the highest that are free, as many as
	// Count.
	Workers []int64
	Count   int    // how many worker IDs to take; zero: 1, or the length of Workers
	Prefix  string // of the names of the objects created; zero: snowkey_
	// MaxAhead is how far an id's time may be ahead of the clock: after the clock was set back,
	// after a crash, or when ids are taken faster than the layout allows. Beyond that a call waits,
	// and then fails. 1 second to 1 hour; zero: 10 seconds. In PostgreSQL it is at least 8 ticks.
	MaxAhead time.Duration
}

// maxGeneratorWorkers bounds the text of a script; more would not be faster.
const maxGeneratorWorkers = 64

// generator is a valid Generator with its defaults.
type generator struct {
	Generator
	layout compiledLayout

	fingerprint string // of the namespace
	workerIDs   int64  // of the namespace
	base        int64  // the bits of the datacenter in each id

	store  sqlstore.Config // the tables of the leases
	tables Script          // which creates them, if they are missing
}

// generatorSQL is what a dialect writes.
type generatorSQL interface {
	create() (Script, error)
	drop() (Script, error)
	next() string                                    // an expression that is a new id
	setDefault(table, column string) (Script, error) // table is SQL, column a name
}

// Create returns the script that creates the generator and takes its worker IDs. It also creates
// the tables of the leases, if they are missing. Run it as the owner of the schema. Commit its
// transaction before the first id.
//
// Run it again to change Workers or Count. If the generator has these already, it keeps them. In a
// database that was restored or copied, name other Workers, which neither the original nor a
// program uses.
func (g Generator) Create() (Script, error) { return generatorScript(g, generatorSQL.create) }

// Drop returns the script that drops the generator, if it exists, and releases its worker IDs. The
// script fails while a DEFAULT or a trigger uses the generator.
func (g Generator) Drop() (Script, error) { return generatorScript(g, generatorSQL.drop) }

// Default returns the expression of a new id, to write after DEFAULT in CREATE TABLE. MariaDB
// accepts no such function there: that is an [errors.ErrUnsupported], so use SetDefault.
func (g Generator) Default() (string, error) {
	to, err := g.sql()
	if err != nil {
		return "", err
	}
	if g.Dialect == MySQL {
		return "", fmt.Errorf("ddl: MariaDB accepts no stored function in a DEFAULT, so use SetDefault: %w", errors.ErrUnsupported)
	}
	return to.next(), nil
}

// SetDefault returns the script that makes new ids the default of a column of an existing table.
// The table may have a schema, as in SetDefault("id", "shop", "orders"). In MariaDB the default is a
// trigger, which replaces NULL and 0, as AUTO_INCREMENT does. The column must not have
// AUTO_INCREMENT.
func (g Generator) SetDefault(column string, table ...string) (Script, error) {
	to, err := g.sql()
	if err != nil {
		return nil, err
	}
	var wrong fields.Errors
	g.Dialect.ident(&wrong, "column", column)
	if len(table) > 2 {
		wrong.Add("table", fmt.Sprintf("%q", table), "must be a table, or a schema and a table")
	}
	name := g.Dialect.path(&wrong, "table", table)
	if err := wrong.Err("ddl"); err != nil {
		return nil, err
	}
	return to.setDefault(name, column)
}

func generatorScript(g Generator, write func(generatorSQL) (Script, error)) (Script, error) {
	to, err := g.sql()
	if err != nil {
		return nil, err
	}
	return write(to)
}

// sql validates g, and returns the writer of its dialect.
func (g Generator) sql() (generatorSQL, error) {
	c, err := g.compile()
	if err != nil {
		return nil, err
	}
	switch c.Dialect {
	case Postgres:
		return postgresGenerator{c}, nil
	case MySQL:
		return mariadbGenerator{c}, nil
	}
	return nil, c.Dialect.unsupported("sequences and no stored functions: see Config.RequireKey for a trigger that rejects rows without a key")
}

func (g Generator) compile() (*generator, error) {
	var wrong fields.Errors
	g.Dialect.check(&wrong)
	c := &generator{Generator: g, layout: compile(&wrong, g.Layout)}
	c.Layout = c.layout.Layout
	if c.Dialect == Postgres {
		c.Schema = cmp.Or(c.Schema, "public")
	}
	if c.Schema != "" {
		c.Dialect.ident(&wrong, "Schema", c.Schema)
	}
	c.Prefix = cmp.Or(c.Prefix, "snowkey_")
	c.Dialect.around(&wrong, "Prefix", "", c.Prefix, "generator") // the longest name
	c.Namespace = cmp.Or(c.Namespace, "default")
	if err := driver.CheckNamespace(c.Namespace); err != nil {
		wrong.Add("Namespace", c.Namespace, "must be 1 to 64 letters, digits and . _ - : / of ASCII")
	}
	c.checkDatacenter(&wrong)
	c.checkWorkers(&wrong)
	c.MaxAhead = cmp.Or(c.MaxAhead, 10*time.Second)
	if c.MaxAhead < time.Second || c.MaxAhead > time.Hour {
		wrong.Add("MaxAhead", c.MaxAhead, "must be 1s to 1h")
	}
	if span := c.layout.End().Sub(c.layout.Epoch); span < 100*c.MaxAhead {
		wrong.Add("MaxAhead", c.MaxAhead, "must be at most a hundredth of the layout's time, %v", span)
	}
	c.findTables(&wrong)
	return c, wrong.Err("ddl")
}

// checkDatacenter sets what depends on Datacenter.
func (c *generator) checkDatacenter(wrong *fields.Errors) {
	c.fingerprint, c.workerIDs = driver.Fingerprint(c.Layout), c.layout.WorkerIDs()
	if c.Datacenter == nil {
		return
	}
	d := *c.Datacenter
	switch centers := int64(1) << c.Layout.DatacenterBits; {
	case c.Layout.DatacenterBits == 0:
		wrong.Add("Datacenter", d, "must be nil: the layout has no datacenter bits")
		return
	case d < 0 || d >= centers:
		wrong.Add("Datacenter", d, "must be 0 to %d in this layout", centers-1)
		return
	}
	c.fingerprint = driver.OfDatacenter(c.fingerprint, d)
	c.workerIDs = 1 << c.Layout.WorkerBits
	c.base = d << c.layout.below[Datacenter].shift
}

// checkWorkers sets Workers in ascending order, and Count.
func (c *generator) checkWorkers(wrong *fields.Errors) {
	most := c.workerIDs
	c.Workers = slices.Clone(c.Workers)
	slices.Sort(c.Workers)
	for i, id := range c.Workers {
		switch {
		case id < 0 || id >= most:
			wrong.Add("Workers", id, "must be 0 to %d in this layout%s", most-1, map[bool]string{true: ", with a Datacenter"}[c.Datacenter != nil])
		case i > 0 && id == c.Workers[i-1]:
			wrong.Add("Workers", id, "must be unique")
		}
	}
	given := c.Count
	c.Count = cmp.Or(c.Count, len(c.Workers), 1)
	switch limit := min(most, maxGeneratorWorkers); {
	case len(c.Workers) > 0 && c.Count != len(c.Workers):
		wrong.Add("Count", given, "must be %d, as many as the worker IDs that are named, or left out", len(c.Workers))
	case c.Count < 1 || int64(c.Count) > limit:
		wrong.Add("Count", c.Count, "must be 1 to %d", limit)
	}
}

// findTables sets the tables of the leases.
func (c *generator) findTables(wrong *fields.Errors) {
	c.Table = cmp.Or(c.Table, "snow_worker")
	if c.Schema != "" && !strings.Contains(c.Table, ".") {
		c.Table = c.Schema + "." + c.Table
	}
	dialect := map[Dialect]sqlstore.Dialect{Postgres: sqlstore.Postgres, MySQL: sqlstore.MySQL, SQLite: sqlstore.SQLite}[c.Dialect]
	if dialect == 0 {
		return // an error already
	}
	c.store = sqlstore.Config{Dialect: dialect, Table: c.Table}
	statements, err := c.store.DDL()
	if err != nil {
		wrong.Add("Table", c.Table, "must be a name of at most 48 letters, digits and _, optionally with a schema and a dot before it")
		return
	}
	c.tables = Script(statements[:2]) // without that of the counters
}

// end is the fence of the worker IDs: no id of the layout carries it, nor a date that cannot be
// written.
func (c *generator) end() int64 {
	last := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	if end := c.layout.End(); end.Before(last) {
		last = end
	}
	return last.UnixMilli()
}

// claimID is that of the worker IDs' records, apart from a random end that the database adds.
func (c *generator) claimID() string { return driver.GeneratorClaim }

// object is the quoted name of an object that the script creates.
func (c *generator) object(name string) string {
	return c.Dialect.qualify(c.Schema, c.Prefix+name)
}
