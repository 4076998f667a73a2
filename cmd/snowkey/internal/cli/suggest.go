package cli

import (
	"errors"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/idtext"
)

// otherNames returns what people call a command or a flag, by the name that it has here. A
// name that is only misspelled is found without it.
func otherNames(name string) []string {
	return map[string][]string{
		"gen":        {"generate", "new", "next", "create", "make", "id"},
		"parse":      {"decode", "explain", "show", "read", "convert"},
		"range":      {"where", "between", "time", "bounds"},
		"layout":     {"preset", "presets", "layouts", "draw"},
		"serial":     {"serials", "number", "invoice"},
		"ddl":        {"sql", "schema", "create-table"},
		"workers":    {"lease", "leases", "worker"},
		"doctor":     {"check", "status"},
		"serve":      {"server", "web", "http", "page", "ui"},
		"completion": {"completions", "complete", "autocomplete"},
		"version":    {"about"},

		"preset":    {"layout", "name"},
		"worker":    {"worker-id", "workerid", "node", "machine", "machine-id"},
		"count":     {"number", "num"},
		"dsn":       {"url", "db", "database", "store"},
		"lease":     {"dsn", "store", "db", "database"},
		"store":     {"dsn", "db", "database"},
		"tz":        {"timezone", "time-zone", "zone"},
		"format":    {"to", "output", "base", "encoding"},
		"from":      {"format", "input", "base", "encoding"},
		"to":        {"format", "output", "base", "encoding"},
		"at":        {"time", "date"},
		"sql":       {"column", "where"},
		"namespace": {"space"},
		"addr":      {"address", "listen", "port"},
	}[name]
}

// suggest returns the names like what was typed, as the end of an error.
func suggest(typed, dashes string, names []string) string {
	all := &cobra.Command{SuggestionsMinimumDistance: 2}
	if len(typed) < 3 { // it must not be another word
		all.SuggestionsMinimumDistance = 1
	}
	for _, name := range names {
		all.AddCommand(&cobra.Command{Use: name, SuggestFor: otherNames(name), Run: func(*cobra.Command, []string) {}})
	}
	near := all.SuggestionsFor(typed)
	if len(near) == 0 {
		return ""
	}
	for i := range near {
		near[i] = dashes + near[i]
	}
	return "; did you mean " + english.WordSeries(near, "or") + "?"
}

// noSuchCommand rejects arguments of a command that only has subcommands.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasParent() { // an ID without a command
		if _, _, err := idtext.Parse(args[0], idtext.Auto, false); err == nil && strings.ContainsAny(args[0], "0123456789") {
			return usage("there is no command %q; did you mean snowkey parse %s?", short(args[0]), short(args[0]))
		}
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return usage("there is no command %q%s", short(args[0]), suggest(args[0], "", names))
}

// flagError adds the flags that may be meant to an error about one that does not exist.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) || missing.GetSpecifiedShortnames() != "" {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return usage("%w%s", err, suggest(missing.GetSpecifiedName(), "--", names))
}
