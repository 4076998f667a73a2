package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// ddlOptions are the flags of the command.
type ddlOptions struct {
	dialect               ddl.Dialect
	schema, prefix        string
	table, column, viewed string
	layout                core.Layout
	servers               []string
	shards                int64
	by                    ddl.Field
	generator             ddl.Generator
	datacenter            int64 // -1: not given
	count                 int64
	given                 string // --dialect: mysql or mariadb
}

var ddlParts = []string{"functions", "drop", "domain", "check", "view", "shards", "workers", "generator", "drop-generator", "require-key"} //nolint:gochecknoglobals // constant

const ddlAbout = `Print SQL for a layout; nothing is executed. PART is one of:

  functions       functions that decode ids in the database (the default)
  drop            drop those functions
  domain          a type that accepts only ids (PostgreSQL)
  check           a constraint that accepts only ids in --column of --table
  view            a view named --view over --table, with its ids decoded
  shards          a --table whose rows are on the --server list, by postgres_fdw
                  (PostgreSQL)
  workers         the tables of the worker leases
  generator       a generator in SQL that takes worker IDs of --namespace; with
                  --table, its ids become the default of --column (PostgreSQL)
  drop-generator  drop that generator, and release its worker IDs
  require-key     reject rows of --table in which the program has not set
                  --column`

// ddlFlags lists the parts to which a flag applies.
var ddlFlags = map[string]string{ //nolint:gochecknoglobals // constant
	"view": "view", "prefix": "functions drop domain generator drop-generator", "table": tableParts, "column": tableParts,
	"worker": "generator", "count": "generator", "datacenter": "generator", "max-ahead": "generator", "namespace": "generator drop-generator",
	"shards": "shards", "server": "shards", "by": "shards",
}

const tableParts = "view check shards generator require-key"

func (a *app) ddlCommand() *cobra.Command {
	s := &ddlOptions{datacenter: -1}
	cmd := a.command("ddl [PART] --dialect D", "print SQL for a layout: functions, checks, generators", ddlAbout,
		`  snowkey ddl --dialect postgres | psql app
  snowkey ddl workers --dialect mysql
  snowkey ddl view --dialect postgres --table orders --view orders_decoded
  snowkey ddl shards --dialect postgres --table orders --shards 16 \
    --server alpha,beta
  snowkey ddl generator --dialect postgres --namespace orders \
    --table orders | psql app`,
		arguments(0, 1, "at most one part"), func(cmd *cobra.Command, args []string) error {
			part := "functions"
			if len(args) > 0 {
				part = args[0]
			}
			for name, parts := range ddlFlags {
				if cmd.Flags().Changed(name) && slices.Contains(ddlParts, part) && !slices.Contains(strings.Fields(parts), part) {
					return usage("--%s does not apply to %s", name, part)
				}
			}
			if part == "generator" && s.table == "" && cmd.Flags().Changed("column") {
				return usage("--column %q: requires --table", truncate(s.column))
			}
			s.given = cmd.Flags().Lookup("dialect").Value.String()
			return a.ddl(s, part)
		})
	cmd.ValidArgs = ddlParts
	f := cmd.Flags()
	enumVar(cmd, flagval.New(&s.dialect, "NAME", "", dialect), "dialect", "SQL dialect: postgres, mysql, mariadb or sqlite; required", dialects)
	f.StringVar(&s.schema, "schema", "", "`SCHEMA` of what is created, in MySQL a database (default the connection's)")
	f.StringVar(&s.prefix, "prefix", "", "`PREFIX` of the names that are created (default \"snowflake_\", for a generator \"snowkey_\")")
	f.StringVar(&s.table, "table", "", "`TABLE` with the ids; check, view, shards and require-key require it")
	f.StringVar(&s.column, "column", "id", "`COLUMN` of the ids")
	f.StringVar(&s.viewed, "view", "", "`NAME` of the view")
	f.Var(flagval.New(&s.shards, "N", "", flagval.Whole(1, core.MaxShards)), "shards", "number of shards; shards requires it")
	f.StringSliceVar(&s.servers, "server", nil, "`NAMES` of CREATE SERVER, which take the shards in turn; shards requires it")
	f.Var(flagval.New(&s.by, "FIELD", "", flagval.OneOf(ddl.Datacenter, ddl.WorkerID)), "by", "field whose value chooses the shard: datacenter or worker_id (default a hash of the id)")
	f.StringVar(&s.generator.Namespace, "namespace", "default", "`NAMESPACE` of the leases from which the generator takes worker IDs")
	f.Int64SliceVar(&s.generator.Workers, "worker", nil, "`WORKERIDS` that the generator takes (default the highest that are free)")
	f.Lookup("worker").DefValue = "" // or the help has another default, []
	f.Var(flagval.New(&s.datacenter, "N", "", flagval.Whole(0, math.MaxInt64)), "datacenter", "datacenter of the leases of --namespace; --worker then counts from 0 within it (default none)")
	f.Var(flagval.New(&s.count, "N", "1", flagval.Whole(1, 64)), "count", "how many worker IDs the generator takes; more make more ids a millisecond")
	f.Var(flagval.New(&s.generator.MaxAhead, "DURATION", "10s", flagval.Duration(time.Second, time.Hour)), "max-ahead", "how far the time of an id may be ahead of the clock")
	a.jsonFlag(cmd, "the statements as a list")
	addLayout(cmd, &s.layout)
	return cmd
}

func (a *app) ddl(s *ddlOptions, part string) error {
	if s.dialect == "" {
		return usage("--dialect is required: postgres, mysql, mariadb or sqlite")
	}
	if s.table == "" && slices.Contains([]string{"check", "view", "shards", "require-key"}, part) {
		return usage("%s requires --table", part)
	}
	script, err := s.script(part)
	if err != nil {
		return sqlError(s.dialect, err)
	}
	return a.script(script)
}

// script returns the statements of a part.
func (s *ddlOptions) script(part string) (ddl.Script, error) {
	cfg := ddl.Config{Dialect: s.dialect, Layout: s.layout, Schema: s.schema, Prefix: s.prefix}
	switch part {
	case "functions":
		return cfg.Functions()
	case "drop":
		return cfg.DropFunctions()
	case "domain":
		return cfg.Domain()
	case "check":
		return s.check(cfg)
	case "view":
		if s.viewed == "" {
			return nil, usage("view requires --view, the name of the view")
		}
		return cfg.View(s.viewed, s.table, s.column)
	case "shards":
		return s.sharded()
	case "generator", "drop-generator":
		return s.generates(part)
	case "require-key":
		return cfg.RequireKey(s.table, s.column)
	case "workers":
		table := ""
		if s.schema != "" {
			table = s.schema + ".snow_lease"
		}
		return sqlstore.Config{Dialect: s.dialect, Table: table}.DDL()
	}
	return nil, usage("there is no part %q: must be %s", truncate(part), flagval.List(ddlParts))
}

// generates writes the generator, or drops it.
func (s *ddlOptions) generates(part string) (ddl.Script, error) {
	if s.dialect != ddl.Postgres {
		return nil, usage("--dialect %s: the generator is for PostgreSQL only; make the ids in Go, with gormplugin or sqlstore, and use ddl require-key to reject rows without a key", s.given)
	}
	g := s.generator
	g.Dialect, g.Layout, g.Schema, g.Prefix = s.dialect, s.layout, s.schema, s.prefix
	g.Count = int(s.count)
	if s.datacenter >= 0 {
		g.Datacenter = &s.datacenter
	}
	if part == "drop-generator" {
		return g.Drop()
	}
	script, err := g.Create()
	if err != nil || s.table == "" {
		return script, err
	}
	on := []string{s.table}
	if s.schema != "" {
		on = []string{s.schema, s.table}
	}
	more, err := g.SetDefault(s.column, on...)
	return append(script, more...), err
}

// sharded writes the statements of the coordinator. CREATE TABLE there and on the servers is a
// comment, because the columns are the caller's.
func (s *ddlOptions) sharded() (ddl.Script, error) {
	if s.shards == 0 || len(s.servers) == 0 {
		return nil, usage("shards requires --shards and --server")
	}
	if s.dialect != ddl.Postgres {
		return nil, usage("--dialect %s: shards are for PostgreSQL only, which has postgres_fdw", s.given)
	}
	of := ddl.Sharding{Dialect: s.dialect, Layout: s.layout, Schema: s.schema, Table: s.table, Column: s.column, Field: s.by, Count: int(s.shards), Servers: s.servers}
	clause, err := of.Clause()
	create, wrong := of.Create()
	shards, bad := of.Shards()
	if err := cmp.Or(err, wrong, bad); err != nil {
		return nil, err
	}
	var script ddl.Script
	for _, one := range shards {
		table, err := s.dialect.Quote(s.schema, one.Table)
		if err != nil {
			return nil, err
		}
		script = append(script, comment(fmt.Sprintf("on %s: CREATE TABLE %s (…, %s);", one.Server, table, one.Check)))
	}
	table, err := s.dialect.Quote(s.schema, s.table)
	script = append(script, comment(fmt.Sprintf("here: CREATE TABLE %s (…) %s;", table, clause)))
	return append(script, create...), err
}

// comment makes a comment of a text, which may have line breaks, as names may.
func comment(text string) string {
	return "-- " + strings.NewReplacer("\n", "\n-- ", "\r", "\n-- ").Replace(text)
}

// check adds the constraint. SQLite cannot, so there it is a comment.
func (s *ddlOptions) check(cfg ddl.Config) (ddl.Script, error) {
	text, err := cfg.Check(s.column)
	if err != nil {
		return nil, err
	}
	table, err := s.dialect.Quote(s.schema, s.table)
	if err != nil {
		return nil, err
	}
	if s.dialect == ddl.SQLite {
		return ddl.Script{comment(fmt.Sprintf("in CREATE TABLE %s, after the column's type, because SQLite adds no constraint later:\n%s", table, text))}, nil
	}
	return ddl.Script{"ALTER TABLE " + table + " ADD " + text}, nil
}

// sqlError reports a wrong name or layout as a usage error, and what the dialect lacks.
func sqlError(d ddl.Dialect, err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return usage("--dialect %s: %s", d, strings.TrimSuffix(strings.TrimPrefix(err.Error(), "ddl: "), ": "+errors.ErrUnsupported.Error()))
	}
	return byFlag(err)
}

// script prints statements. One that is a comment has no semicolon.
func (a *app) script(script ddl.Script) error {
	if a.json {
		return a.object([]string(script))
	}
	for _, statement := range script {
		if strings.HasPrefix(statement, "--") {
			fmt.Fprintln(a.out, statement)
			continue
		}
		fmt.Fprint(a.out, ddl.Script{statement}.String())
	}
	return nil
}
