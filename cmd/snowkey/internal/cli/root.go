package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
)

// app is one execution of the command.
type app struct {
	Env
	out             *output
	style, errStyle style // of standard output, and of standard error
	secrets         []string
	started         bool // the command line was parsed
	failed          bool // the exit code must not be 0
	json            bool
}

// Run executes a command line, without the program's name, and returns its exit code: 0,
// 1 for a failure, 2 for a wrong command line, or 3 for a failed check.
func Run(ctx context.Context, args []string, env Env) int {
	colour := env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"
	a := &app{Env: env, out: newOutput(env.Out), style: style(colour && env.OutTTY), errStyle: style(colour && env.ErrTTY)}
	for _, arg := range args { // a DSN may be in a wrong position, and messages quote wrong values
		a.secrets = append(a.secrets, dsn.Secrets(arg)...)
	}
	root := a.root()
	root.SetArgs(mark(root, args))
	root.SetIn(env.In)
	root.SetOut(a.out)
	root.SetErr(env.Err)
	cmd, err := root.ExecuteContextC(ctx)
	return a.finish(cmd.CommandPath(), err)
}

const about = `snowkey generates and decodes Snowflake IDs, and manages their worker IDs.

IDs are printed to standard output, messages to standard error. With --json, IDs are
strings, because JavaScript cannot represent them as numbers.

A store of worker IDs, or a database to check, is named by a DSN:

  postgres://user:password@host:5432/database
  mysql://user:password@host:3306/database    or user:password@tcp(host)/database
  file:ids.db                                 or a path ending in .db or .sqlite
  redis://host:6379/0, etcd://host:2379,host:2379, dir:/var/lib/ids
  https://host/leases                         a snowkey serve --store, with --token-file
  env:DATABASE_URL                            the value of that variable: no password on the command line

Exit status: 0 success, 1 failure, 2 wrong command line, 3 failed check.`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "snowkey",
		Short:         "Snowflake IDs on the command line",
		Long:          about,
		Example:       "  snowkey gen -n 3 --worker 7\n  snowkey parse 1996573624012345677\n  snowkey doctor --dsn postgres://localhost/app --table orders",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
	}
	version := root.Flags().Bool("version", false, "print the version")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *version {
			return a.version()
		}
		return cmd.Help()
	}
	root.CompletionOptions.DisableDefaultCmd = true
	help := a.helpCommand()
	root.SetHelpCommand(help)
	root.AddGroup(&cobra.Group{ID: "ids", Title: "IDs:"}, &cobra.Group{ID: "db", Title: "Databases and worker IDs:"}, &cobra.Group{ID: "tool", Title: "This program:"})
	group := func(id string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	group("ids", a.genCommand(), a.parseCommand(), a.rangeCommand(), a.layoutCommand(), a.serialCommand())
	group("db", a.ddlCommand(), a.partitionsCommand(), a.workersCommand(), a.doctorCommand(), a.serveCommand())
	group("tool", a.benchCommand(), a.completionCommand(), help, a.versionCommand())
	root.SetUsageFunc(usageText)
	root.SetHelpFunc(helpText)
	root.InitDefaultHelpFlag()
	return root
}

// noSuchCommand rejects arguments of a command that only has subcommands.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage("there is no command %q%s", short(args[0]), hint)
}

// action wraps a command: errors are no longer usage errors, unless they are a usageError.
func (a *app) action(run func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.started = true
		for i := range args {
			args[i] = unmark(args[i])
		}
		if err := emptyFlag(cmd); err != nil {
			return err
		}
		return run(cmd, args)
	}
}

// emptyFlag rejects a flag with an empty value, which a script passes if its variable is
// not set. Some flags may be empty.
func emptyFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, ok := f.Value.(pflag.SliceValue)
		if (f.Value.String() == "" || ok && len(list.GetSlice()) == 0) && f.Name != "prefix" && f.Name != "separator" && f.Name != "schema" {
			err = usage("--%s \"\": must not be empty", f.Name)
		}
	})
	return err
}

// jsonFlag adds --json.
func (a *app) jsonFlag(cmd *cobra.Command, what string) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON, with IDs as strings: "+what)
}

// arguments checks the number of arguments.
func arguments(low, high int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < low || len(args) > high {
			return usage("takes %s (got %d)", what, len(args))
		}
		return nil
	}
}
