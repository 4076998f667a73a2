package cli

import (
	"github.com/spf13/cobra"
)

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
