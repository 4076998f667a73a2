package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// The mark precedes an argument such as -24h or -7, which pflag would take for flags. No
// argument of a process can contain it.
const negative = "\x00"

// mark marks arguments that start with a minus sign and a digit, as no flag does, unless
// they are the value of a flag.
func mark(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil {
		cmd = root
	}
	marked := make([]string, 0, len(args))
	value := false // whether the next one is the value of a flag
	for i, arg := range args {
		switch {
		case value:
			value = false
		case arg == "--":
			return append(marked, args[i:]...)
		case len(arg) > 1 && arg[0] == '-' && arg[1] >= '0' && arg[1] <= '9':
			arg = negative + arg
		case strings.HasPrefix(arg, "--") && !strings.Contains(arg, "="):
			flag := cmd.Flags().Lookup(arg[2:])
			value = flag != nil && flag.NoOptDefVal == ""
		case len(arg) == 2 && arg[0] == '-':
			flag := cmd.Flags().ShorthandLookup(arg[1:])
			value = flag != nil && flag.NoOptDefVal == ""
		}
		marked = append(marked, arg)
	}
	return marked
}

func unmark(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, negative, ""), `\x00`, "")
}
