package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
)

const manAbout = `Write the man pages of this command and its subcommands into a directory, which is
created if it is missing. Files of the same names are replaced.`

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "write man pages",
		Long:    manAbout,
		Example: "  snowkey man /usr/local/share/man/man1\n  snowkey man man1 && man man1/snowkey-gen.1",
		Args:    arguments(1, 1, "one directory"),
		RunE:    a.action(func(cmd *cobra.Command, args []string) error { return a.man(cmd.Root(), args[0]) }),
	}
}

func (a *app) man(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // man pages are for all users
		return dsn.Bare(err)
	}
	version := describeBuild(a.Build()).Version
	var walk func(cmd *cobra.Command) error
	walk = func(cmd *cobra.Command) error {
		if err := writePage(filepath.Join(dir, pageName(cmd)+".1"), cmd, version); err != nil {
			return err
		}
		for _, c := range subcommands(cmd) {
			if err := walk(c); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(root)
}

// subcommands returns those with a man page.
func subcommands(cmd *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool { return c.Hidden })
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func writePage(file string, cmd *cobra.Command, version string) (err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644) //nolint:gosec // it is what the user asked for
	if err != nil {
		return fmt.Errorf("%q: %w", short(file), dsn.Bare(err))
	}
	w := bufio.NewWriter(f)
	page(w, cmd, version)
	err = w.Flush()
	if failed := f.Close(); err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("%q: %w", short(file), dsn.Bare(err))
	}
	return nil
}

// page writes a command's page in roff. cobra/doc reads the texts as Markdown, and so loses
// their columns.
func page(w io.Writer, cmd *cobra.Command, version string) {
	name := pageName(cmd)
	fmt.Fprintf(w, ".TH %s 1 \"\" %s %s\n", quoteRoff(strings.ToUpper(name)), quoteRoff("snowkey "+version), quoteRoff("snowkey"))
	fmt.Fprintf(w, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	synopsis := cmd.UseLine()
	if cmd.HasSubCommands() {
		synopsis = cmd.CommandPath() + " COMMAND [flags]"
	}
	fmt.Fprintf(w, ".SH SYNOPSIS\n%s\n", roff(synopsis))
	fmt.Fprintf(w, ".SH DESCRIPTION\n.nf\n%s\n.fi\n", roff(cmd.Long))
	own, layout := splitFlags(cmd.LocalFlags())
	flags(w, "OPTIONS", own)
	flags(w, "LAYOUT OF THE IDS", layout)
	var also []string
	if cmd.HasParent() {
		also = append(also, pageName(cmd.Parent()))
	}
	if below := subcommands(cmd); len(below) > 0 {
		fmt.Fprintf(w, ".SH COMMANDS\n")
		for _, c := range below {
			fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roff(c.Name()), roff(c.Short))
			also = append(also, pageName(c))
		}
	}
	fmt.Fprintf(w, ".SH EXIT STATUS\n0 success, 1 failure, 2 wrong command line, 3 failed check.\n")
	fmt.Fprintf(w, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	if len(also) > 0 {
		for i, name := range also {
			also[i] = `\fB` + roff(name) + `\fR(1)`
		}
		fmt.Fprintf(w, ".SH SEE ALSO\n%s\n", strings.Join(also, ",\n"))
	}
}

func flags(w io.Writer, title string, set *pflag.FlagSet) {
	if !set.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(w, ".SH %s\n", title)
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		head := `\fB` + roff("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			head = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + head
		}
		if value != "" {
			head += ` \fI` + roff(value) + `\fR`
		}
		switch f.DefValue {
		case "", "false", "0", "[]":
		default:
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(w, ".TP\n%s\n%s\n", head, roff(usage))
	})
}

// roff escapes text: a dash stays ASCII, so that it can be copied, and no line is a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// quoteRoff is an argument of a request.
func quoteRoff(text string) string { return `"` + strings.ReplaceAll(roff(text), `"`, `\(dq`) + `"` }
