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
	"github.com/seed-299c1d6b/snowkey/internal/leasetables"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Generator configures a generator of ids in SQL, for rows that psql, a trigger or COPY inserts instead
// of a Go program. It holds worker IDs of a namespace of leases, so its ids differ from those of Go
// generators. The tables of the leases must be in the same database. Only Dialect is required. Each
// method validates the configuration and returns a [*core.ConfigError] with all wrong fields.
//
//	script, err := ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders"}.Create()
//
//	SELECT snowkey_next('orders');
//	ALTER TABLE orders ALTER COLUMN id SET DEFAULT snowkey_next('orders');
//
// Only PostgreSQL is supported. For MySQL, MariaDB and SQLite each method returns an
// [errors.ErrUnsupported]: issue ids in Go there, and let [Config.RequireKey] reject rows without a
// key. docs/generator.md has the guarantees, the limits and the costs.
type Generator struct {
	Dialect   Dialect     // required: Postgres
	Layout    core.Layout // of the namespace; zero: Twitter's
	Schema    string      // of the objects created; zero: public
	Table     string      // of the leases, as in sqlstore.Config; zero: snow_lease. Without a schema it is in Schema
	Namespace string      // of the leases, as in worker.Config; zero: default
	// Datacenter restricts the worker IDs to one datacenter, as in worker.Config. Workers then count
	// from 0 within it. Nil: all worker IDs.
	Datacenter *int64
	// Workers lists the worker IDs to take, in any order. Zero: the highest Count worker IDs that are
	// free.
	Workers []int64
	Count   int    // how many worker IDs to take; zero: 1, or the length of Workers
	Prefix  string // of the names of the objects created; zero: snowkey_
	// MaxAhead is how far an id's time may be ahead of the clock, after the clock was set back or
	// when ids are taken faster than the layout allows. Beyond that, a call waits and then fails.
	// After a crash, a failover or a restore, ids start further ahead, by the namespace's
	// FenceWindow + MaxSkew. MaxAhead must be 1 second to 1 hour, at least 8 ticks, and at most the
	// namespace's FenceWindow; zero: 10 seconds.
	MaxAhead time.Duration
}

// maxGeneratorWorkers bounds the length of a script; more would not be faster.
const maxGeneratorWorkers = 64

// generator is a valid Generator with its defaults.
type generator struct {
	Generator
	layout compiledLayout

	fingerprint string // of the namespace
	workerIDs   int64  // of the namespace
	base        int64  // the bits of the datacenter in each id

	tables leasetables.Names // of the leases
}

// Create returns the script that creates the generator and takes its worker IDs. The script also creates
// missing tables of the leases. Run it as the owner of the schema, and commit before you take the first
// id.
//
// Run the script again to change Workers or Count. If the generator already has these Workers, or this
// many, it keeps its worker IDs. In a database that was restored or copied, name other Workers that
// neither the original nor a program uses.
func (g Generator) Create() (Script, error) {
	c, err := g.compile()
	if err != nil {
		return nil, err
	}
	script := c.write(postgresCreate)
	return slices.Concat(script[:1], c.tables.DDL()[:leasetables.Claims], script[1:]), nil
}

// Drop returns the script that drops the generator, if it exists, and releases its worker IDs. It fails
// while a DEFAULT uses the generator.
func (g Generator) Drop() (Script, error) {
	c, err := g.compile()
	if err != nil {
		return nil, err
	}
	return c.write(postgresDrop), nil
}

// Default returns the expression for a new id, to write after DEFAULT in CREATE TABLE.
func (g Generator) Default() (string, error) {
	c, err := g.compile()
	if err != nil {
		return "", err
	}
	return c.next(), nil
}

// SetDefault returns the script that makes new ids the default of a column of an existing table.
// The table may have a schema, as in SetDefault("id", "shop", "orders").
func (g Generator) SetDefault(column string, table ...string) (Script, error) {
	c, err := g.compile()
	if err != nil {
		return nil, err
	}
	var wrong fields.Errors
	key := Postgres.ident(&wrong, "column", column)
	if len(table) > 2 {
		wrong.Add("table", fmt.Sprintf("%q", table), "must be a table, or a schema and a table")
	}
	name := Postgres.path(&wrong, "table", table)
	if err := wrong.Err("ddl"); err != nil {
		return nil, err
	}
	return Script{"ALTER TABLE " + name + " ALTER COLUMN " + key + " SET DEFAULT " + c.next()}, nil
}

// compile validates g and sets its defaults.
func (g Generator) compile() (*generator, error) {
	var wrong fields.Errors
	if g.Dialect.check(&wrong); wrong == nil && g.Dialect != Postgres {
		return nil, fmt.Errorf("ddl: Dialect %q: the generator in SQL is for PostgreSQL; issue ids in Go, with gormplugin or worker/sqlstore, and reject rows without a key by Config.RequireKey: %w", g.Dialect, errors.ErrUnsupported)
	}
	c := &generator{Generator: g, layout: compile(&wrong, g.Layout)}
	c.Layout = c.layout.Layout
	c.Schema = cmp.Or(c.Schema, "public")
	Postgres.ident(&wrong, "Schema", c.Schema)
	c.Prefix = cmp.Or(c.Prefix, "snowkey_")
	Postgres.identWith(&wrong, "Prefix", c.Prefix, "generator") // the longest name
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

// checkDatacenter checks Datacenter, and sets the fields that depend on it.
func (g *generator) checkDatacenter(wrong *fields.Errors) {
	g.fingerprint, g.workerIDs = driver.Fingerprint(g.Layout), g.layout.WorkerIDs()
	if g.Datacenter == nil {
		return
	}
	d := *g.Datacenter
	switch centers := int64(1) << g.Layout.DatacenterBits; {
	case g.Layout.DatacenterBits == 0:
		wrong.Add("Datacenter", d, "must be nil: the layout has no datacenter bits")
		return
	case d < 0 || d >= centers:
		wrong.Add("Datacenter", d, "must be 0 to %d in this layout", centers-1)
		return
	}
	g.fingerprint = driver.OfDatacenter(g.fingerprint, d)
	g.workerIDs = 1 << g.Layout.WorkerBits
	g.base = d << g.layout.below[Datacenter].shift
}

// checkWorkers checks Workers and Count, sorts Workers, and sets the default of Count.
func (g *generator) checkWorkers(wrong *fields.Errors) {
	most := g.workerIDs
	g.Workers = slices.Clone(g.Workers)
	slices.Sort(g.Workers)
	for i, id := range g.Workers {
		switch {
		case id < 0 || id >= most:
			wrong.Add("Workers", id, "must be 0 to %d in this layout%s", most-1, map[bool]string{true: ", with a Datacenter"}[g.Datacenter != nil])
		case i > 0 && id == g.Workers[i-1]:
			wrong.Add("Workers", id, "must be unique")
		}
	}
	given := g.Count
	g.Count = cmp.Or(g.Count, len(g.Workers), 1)
	switch limit := min(most, maxGeneratorWorkers); {
	case len(g.Workers) > 0 && g.Count != len(g.Workers):
		wrong.Add("Count", given, "must be %d, as many as the worker IDs that are named, or left out", len(g.Workers))
	case g.Count < 1 || int64(g.Count) > limit:
		wrong.Add("Count", g.Count, "must be 1 to %d", limit)
	}
}

// findTables sets the tables of the leases.
func (g *generator) findTables(wrong *fields.Errors) {
	g.Table = cmp.Or(g.Table, "snow_lease")
	if !strings.Contains(g.Table, ".") {
		g.Table = g.Schema + "." + g.Table
	}
	var ok bool
	if g.tables, ok = leasetables.Parse(g.Table); !ok {
		wrong.Add("Table", g.Table, leasetables.Rule)
	}
}

// end returns the fence of the worker IDs: the end of the layout's time, or the year 9999 if that is earlier,
// because databases must be able to write it.
func (g *generator) end() int64 {
	last := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	if end := g.layout.End(); end.Before(last) {
		last = end
	}
	return last.UnixMilli()
}

// object returns the quoted name of an object that the script creates.
func (g *generator) object(name string) string {
	return Postgres.qualify(g.Schema, g.Prefix+name)
}
