// Package cli implements the command snowkey: its commands, flags, output and exit codes.
package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
)

// app is one execution of the command.
type app struct {
	Env
	out             *bufio.Writer // keeps its first error
	lines           *json.Encoder // writes lines of JSON to out
	style, errStyle style         // of standard output, and of standard error
	now             func() time.Time
	secrets         []string
	started         bool // the command line was parsed
	failed          bool // the exit code must not be 0
	json            bool
}

// Run executes a command line, without the program's name, and returns its exit code: 0,
// 1 for a failure, 2 for a wrong command line, or 3 for a failed check.
func Run(ctx context.Context, args []string, env Env) int {
	colour := env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"
	a := &app{Env: env, out: bufio.NewWriterSize(env.Out, 64<<10), style: style(colour && env.OutTTY), errStyle: style(colour && env.ErrTTY), now: env.Clock}
	if a.now == nil {
		a.now = time.Now
	}
	a.lines = newEncoder(a.out)
	for _, arg := range args { // a DSN may be in a wrong position, and messages quote wrong values
		a.secrets = append(a.secrets, dsn.Secrets(arg)...)
	}
	root := a.root()
	root.Version = env.Version
	root.SetArgs(args)
	root.SetIn(env.In)
	root.SetOut(a.out)
	root.SetErr(env.Err)
	cmd, err := root.ExecuteContextC(ctx)
	return a.finish(cmd.CommandPath(), err)
}

const about = `snowkey generates and decodes Snowflake ids, and manages their worker IDs.

Ids are printed to standard output, messages to standard error. With --json, ids
are strings, because JavaScript cannot represent them as numbers.

A store of worker IDs, or a database to check, is named by a DSN:

  postgres://user:password@host:5432/database  or host=… user=… dbname=…
  mysql://user:password@host:3306/database     or user:password@tcp(host)/db
  file:ids.db                                  or a path to a .db or .sqlite
  redis://host:6379/0, etcd://host:2379,host:2379
  https://host/leases                          a snowkey serve --store
  env:DATABASE_URL                             what that variable contains

Exit status: 0 success, 1 failure, 2 wrong command line, 3 failed check.`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "snowkey",
		Short:         "Snowflake ids on the command line",
		Long:          about,
		Example:       "  snowkey gen -n 3 --worker 7\n  snowkey parse 1996573624012345677\n  snowkey doctor --dsn postgres://localhost/app --table orders",
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddGroup(&cobra.Group{ID: "ids", Title: "Ids:"}, &cobra.Group{ID: "db", Title: "Databases and worker IDs:"}, &cobra.Group{ID: "tool", Title: "This program:"})
	group := func(id string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	group("ids", a.genCommand(), a.parseCommand(), a.rangeCommand(), a.layoutCommand(), a.keysCommand(), a.serialCommand(), a.tokenCommand())
	group("db", a.ddlCommand(), a.partitionsCommand(), a.workersCommand(), a.whoCommand(), a.backfillCommand(),
		a.migrateCommand(), a.doctorCommand(), a.serveCommand())
	root.SetHelpCommand(&cobra.Command{ // cobra's own quotes a wrong argument, which may be a DSN
		Use:     "help [command]",
		Short:   "Help about any command",
		GroupID: "tool",
		RunE: func(_ *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err == nil && about.HasSubCommands() { // a command without any, such as ddl view, may have arguments
				err = cobra.NoArgs(about, rest)
			}
			if err != nil {
				return err
			}
			return about.Help()
		},
	})
	root.SetCompletionCommandGroupID("tool")
	usages := strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80")
	root.SetUsageTemplate(strings.Replace(usages, "{{if .HasAvailableInheritedFlags}}", layoutHint+"{{if .HasAvailableInheritedFlags}}", 1))
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		for _, name := range layoutNames {
			if f := cmd.Flags().Lookup(name); f != nil {
				f.Hidden = cmd.Name() != "layout"
			}
		}
		help(cmd, args)
	})
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		var missing *pflag.NotExistError
		if errors.As(err, &missing) && missing.GetSpecifiedShortnames() != "" {
			return usage("%w; write -- before an argument that begins with -", err)
		}
		return err
	})
	return root
}

// command returns a command. What run returns is no usage error, unless it is a usageError. A flag
// with an empty value, which a script passes if its variable is not set, is one.
func (a *app) command(use, short, long, example string, args cobra.PositionalArgs, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: args, RunE: func(cmd *cobra.Command, args []string) (err error) {
		a.started = true
		cmd.Flags().Visit(func(f *pflag.Flag) {
			list, ok := f.Value.(pflag.SliceValue)
			if f.Value.String() == "" || ok && len(list.GetSlice()) == 0 {
				err = usage("--%s \"\": must not be empty", f.Name)
			}
		})
		if err != nil {
			return err
		}
		return run(cmd, args)
	}}
}

// parent returns a command that has commands only, whose names are in the error without one.
func parent(use, short, long, example, names string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		return usage("requires a command, before all flags: %s", names)
	}}
	cmd.FParseErrWhitelist.UnknownFlags = true // so that the error names a mistyped command, not the flag after it
	cmd.AddCommand(commands...)
	return cmd
}

// jsonFlag adds --json.
func (a *app) jsonFlag(cmd *cobra.Command, what string) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON, with ids as strings: "+what)
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

// Env is the environment of one execution.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	// Whether they are terminals.
	InTTY, OutTTY, ErrTTY bool
	Getenv                func(string) string
	Clock                 func() time.Time // nil: the system's
	Version               string
}

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitCheck  = 3
)

// Main executes os.Args and returns the exit code. The first SIGINT or SIGTERM shuts the
// command down gracefully, the second kills it.
func Main() int {
	// A closed pipe is then an error of the write, so the worker ID is still released.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	version := "(unknown)"
	if build, ok := debug.ReadBuildInfo(); ok {
		version = build.Main.Version + ", " + build.GoVersion
	}
	tty := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	return Run(ctx, os.Args[1:], Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY: tty(os.Stdin), OutTTY: tty(os.Stdout), ErrTTY: tty(os.Stderr),
		Getenv: os.Getenv, Version: version,
	})
}

// enumVar adds a flag and completes its values.
func enumVar[T ~string](cmd *cobra.Command, value pflag.Value, flag, what string, values []T) {
	cmd.Flags().Var(value, flag, what)
	var names []cobra.Completion
	for _, v := range values {
		names = append(names, cobra.Completion(v))
	}
	// It fails if there is no such flag, which the tests would show.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}
