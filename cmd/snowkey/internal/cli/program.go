package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the width of the help for flags.
const helpWidth = 100

func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "show the help of a command",
		Long:    "Show the help of a command, as its --help does.",
		Example: "  snowkey help gen\n  snowkey help workers free",
		RunE: a.action(func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return &usageError{err}
			}
			if len(rest) > 0 {
				return noSuchCommand(about, rest)
			}
			return about.Help()
		}),
	}
}

func helpText(cmd *cobra.Command, _ []string) {
	fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n", cmd.Long)
	_ = usageText(cmd)
}

// usageText prints the usage of a command, with the flags of the layout in a group.
func usageText(cmd *cobra.Command) error {
	w := cmd.OutOrStdout()
	if cmd.HasSubCommands() {
		fmt.Fprintf(w, "Usage:\n  %s COMMAND [flags]\n", cmd.CommandPath())
	} else {
		fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
	}
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	list := func(title, group string) {
		var lines []string
		for _, c := range cmd.Commands() {
			if !c.Hidden && c.GroupID == group {
				lines = append(lines, fmt.Sprintf("  %-11s %s", c.Name(), c.Short))
			}
		}
		if len(lines) > 0 {
			fmt.Fprintf(w, "\n%s\n%s\n", title, strings.Join(lines, "\n"))
		}
	}
	for _, g := range cmd.Groups() {
		list(g.Title, g.ID)
	}
	list("Commands:", "")
	own, layout := splitFlags(cmd.LocalFlags())
	if own.HasAvailableFlags() {
		fmt.Fprintf(w, "\nFlags:\n%s", own.FlagUsagesWrapped(helpWidth))
	}
	if layout.HasAvailableFlags() {
		fmt.Fprintf(w, "\nLayout of the IDs:\n%s", layout.FlagUsagesWrapped(helpWidth))
	}
	if cmd.HasSubCommands() {
		fmt.Fprintf(w, "\n%s COMMAND --help shows the help of a command.\n", cmd.CommandPath())
	}
	return nil
}

func splitFlags(all *pflag.FlagSet) (own, layout *pflag.FlagSet) {
	own, layout = pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	layout.SortFlags = false
	for _, name := range layoutNames { // in this order
		if f := all.Lookup(name); f != nil {
			layout.AddFlag(f)
		}
	}
	all.VisitAll(func(f *pflag.Flag) {
		if layout.Lookup(f.Name) == nil {
			own.AddFlag(f)
		}
	})
	return own, layout
}

var shells = []string{"bash", "zsh", "fish", "powershell"} //nolint:gochecknoglobals // constant

const completionAbout = `Print a completion script for commands, flags and their values.

  bash        snowkey completion bash > /etc/bash_completion.d/snowkey
  zsh         snowkey completion zsh > "${fpath[1]}/_snowkey"
  fish        snowkey completion fish > ~/.config/fish/completions/snowkey.fish
  powershell  snowkey completion powershell | Out-String | Invoke-Expression`

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "completion {bash|zsh|fish|powershell}",
		Short:     "print a shell completion script",
		Long:      completionAbout,
		Example:   "  source <(snowkey completion bash)",
		Args:      arguments(1, 1, "one shell: bash, zsh, fish or powershell"),
		ValidArgs: shells,
		RunE: a.action(func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.out)
			}
			return usage("shell %q: must be bash, zsh, fish or powershell", short(args[0]))
		}),
	}
}

// completeWith completes the values of a flag.
func completeWith[T ~string](cmd *cobra.Command, flag string, values []T) {
	var names []cobra.Completion
	for _, v := range values {
		names = append(names, cobra.Completion(v))
	}
	// It fails if there is no such flag, which the tests would show.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

// versionInfo is the JSON of the version.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified"`
	Core     string `json:"library,omitempty"` // version of the library
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "print the version",
		Long:    "Print the version, its revision, and the version of Go.",
		Example: "  snowkey version\n  snowkey version --json",
		Args:    arguments(0, 0, "no arguments"),
		RunE:    a.action(func(*cobra.Command, []string) error { return a.version() }),
	}
	a.jsonFlag(cmd, "one object")
	return cmd
}

func (a *app) version() error {
	info := describeBuild(a.Build())
	if a.json {
		return a.object(info)
	}
	if info.Revision != "" && info.Modified {
		info.Revision += ", with uncommitted changes"
	}
	fmt.Fprintf(a.out, "snowkey %s\n", info.Version)
	for _, line := range [][2]string{{"revision", info.Revision}, {"date", info.Time}, {"library", info.Core}, {"go", info.Go}, {"platform", info.Platform}} {
		if line[1] != "" {
			fmt.Fprintf(a.out, "  %s %s\n", a.style.faint(fmt.Sprintf("%-8s", line[0])), line[1])
		}
	}
	return nil
}

func describeBuild(build *debug.BuildInfo, ok bool) versionInfo {
	info := versionInfo{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if !ok {
		return info
	}
	info.Go, info.Version = cmp.Or(build.GoVersion, info.Go), cmp.Or(build.Main.Version, info.Version)
	for _, dep := range build.Deps {
		if dep.Path == "github.com/seed-299c1d6b/snowkey" && dep.Replace == nil {
			info.Core = dep.Version
		}
	}
	settings := map[string]string{}
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	info.Revision, info.Time, info.Modified = settings["vcs.revision"], settings["vcs.time"], settings["vcs.modified"] == "true"
	info.Platform = cmp.Or(settings["GOOS"], runtime.GOOS) + "/" + cmp.Or(settings["GOARCH"], runtime.GOARCH)
	return info
}
