package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
)

// app is one run of the command.
type app struct {
	Env
	out             *output
	style, errStyle style // of standard output, and of standard error
	secrets         []string
	started         bool // the command line was understood
	failed          bool // something that was told must not end well
	json            bool
}

// Run runs a command line, without the program's name, and returns its exit code:
// 0, 1 where something failed, 2 where the command line is wrong, and 3 where a
// check failed.
func Run(ctx context.Context, args []string, env Env) int {
	colour := env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"
	a := &app{Env: env, out: newOutput(env.Out), style: style(colour && env.OutTTY), errStyle: style(colour && env.ErrTTY)}
	for _, arg := range args { // a DSN may stand where none belongs, and messages quote what is wrong
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

const about = `snowkey makes Snowflake ids, takes them apart, and looks after the worker numbers
behind them.

Ids are data and go to standard output; messages go to standard error. With
--json ids are strings, because JavaScript cannot hold them as numbers.

A database of worker numbers, or one to be examined, is named by a DSN:

  postgres://user:password@host:5432/database
  mysql://user:password@host:3306/database    or user:password@tcp(host)/database
  file:ids.db                                 or a path that ends in .db or .sqlite
  redis://host:6379/0, etcd://host:2379,host:2379, dir:/var/lib/ids
  https://host/leases                         a snowkey serve --store, with --token-file
  env:DATABASE_URL                            what that variable says: no password on the command line

Exit status: 0 all is well, 1 something failed, 2 a wrong command line,
3 a check failed.`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "snowkey",
		Short:         "Snowflake ids on the command line",
		Long:          about,
		Example:       "  snowkey gen -n 3 --worker 7\n  snowkey parse 1996573624012345677\n  snowkey doctor --dsn postgres://localhost/app --table orders",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
	}
	version := root.Flags().Bool("version", false, "say which version this is")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *version {
			return a.version()
		}
		return cmd.Help()
	}
	root.CompletionOptions.DisableDefaultCmd = true
	help := a.helpCommand()
	root.SetHelpCommand(help)
	root.AddGroup(&cobra.Group{ID: "ids", Title: "Ids:"}, &cobra.Group{ID: "db", Title: "Databases and worker numbers:"}, &cobra.Group{ID: "tool", Title: "This program:"})
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

// noSuchCommand complains about what follows a command that has commands only.
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

// action wraps what a command does: from here on an error is no longer that of
// the command line, unless it says so.
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

// emptyFlag complains about a flag that was given with nothing, as a script does
// whose variable is not set. What may well be nothing is not meant.
func emptyFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, ok := f.Value.(pflag.SliceValue)
		if (f.Value.String() == "" || ok && len(list.GetSlice()) == 0) && f.Name != "prefix" && f.Name != "separator" && f.Name != "schema" {
			err = usage("--%s \"\": must not be empty", f.Name)
		}
	})
	return err
}

// jsonFlag gives a command --json.
func (a *app) jsonFlag(cmd *cobra.Command, what string) {
	cmd.Flags().BoolVar(&a.json, "json", false, "write JSON, ids as strings: "+what)
}

// arguments checks how many there are.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return usage("want %s, not %s", what, plural(int64(len(args)), "argument"))
		}
		return nil
	}
}
