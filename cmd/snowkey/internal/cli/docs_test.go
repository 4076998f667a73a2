package cli

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A command line in Markdown: in `a code span`, or on a line of a shell block.
var inline = regexp.MustCompile("`snowkey(?: [^`]*)?`")

// commandLines returns the command lines of snowkey in a document. Those of blocks are
// complete, while a code span may only name a command.
func commandLines(text string) (spans, blocks []string) {
	shell, fenced := false, false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fenced = !fenced
			shell = fenced && (trimmed == "```sh" || trimmed == "```bash" || trimmed == "```console" || trimmed == "```shell")
		case shell:
			blocks = append(blocks, ofShell(trimmed)...)
		case !fenced:
			for _, span := range inline.FindAllString(line, -1) {
				spans = append(spans, ofShell(strings.Trim(span, "`"))...)
			}
		}
	}
	return spans, blocks
}

// ofShell returns the calls of snowkey in a line of a shell, with or without pipes. It
// does not parse quotes.
func ofShell(line string) (calls []string) {
	line, _, _ = strings.Cut(" "+line, " #")
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("|;&()", r) }) {
		part, _, _ = strings.Cut(part, " >")
		part, _, _ = strings.Cut(part, " <")
		part = strings.TrimPrefix(strings.TrimSpace(part), "$ ")
		if part == "snowkey" || strings.HasPrefix(part, "snowkey ") {
			calls = append(calls, part)
		}
	}
	return calls
}

// understood checks that a call has known commands, flags and values; … is any value. A complete call
// also has its arguments.
func understood(t *testing.T, where, call string, whole bool) {
	t.Helper()
	a := &app{out: bufio.NewWriter(os.Stderr)}
	root := a.root()
	cmd, given, err := root.Find(strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(call))[1:])
	if err != nil || cmd == root && len(given) > 0 && !strings.HasPrefix(given[0], "-") {
		t.Errorf("%s: %q: there is no such command: %v", where, call, err)
		return
	}
	// A flag without its value, as in `serve --store` or `layout --time-bits …`.
	given = slices.DeleteFunc(given, func(arg string) bool { return arg == "…" })
	if n := len(given); n > 0 {
		if f := cmd.Flags().Lookup(strings.TrimPrefix(given[n-1], "--")); f != nil && f.NoOptDefVal == "" && strings.HasPrefix(given[n-1], "--") && !whole {
			given = given[:n-1]
		}
	}
	err = cmd.ParseFlags(given)
	if err == nil && whole {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		t.Errorf("%s: %q: %v", where, call, err)
	}
}

// The documents show valid command lines.
func TestDocuments(t *testing.T) {
	here, err := os.Getwd()
	must(t, err)
	// Not cleaned: a path that begins in this module is one whose changes go test sees,
	// and it would give a result that it remembers otherwise.
	root := here + "/../../../.."
	pages, err := os.ReadDir(root + "/docs")
	must(t, err)
	files := []string{root + "/README.md", root + "/README.zh-CN.md"}
	for _, page := range pages {
		if filepath.Ext(page.Name()) == ".md" {
			files = append(files, root+"/docs/"+page.Name())
		}
	}
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		spans, blocks := commandLines(string(text))
		found += len(spans) + len(blocks)
		for _, call := range spans {
			understood(t, filepath.Base(file), call, false)
		}
		for _, call := range blocks {
			understood(t, filepath.Base(file), call, true)
		}
	}
	if found < 5 {
		t.Errorf("only %d command lines were found in %q", found, files)
	}
}

// So does the help.
func TestHelpExamples(t *testing.T) {
	found := 0
	eachCommand(func(cmd *cobra.Command, name string) {
		for line := range strings.Lines(strings.ReplaceAll(cmd.Long+"\n"+cmd.Example, "\\\n", "")) {
			if !strings.HasPrefix(line, "  ") {
				continue
			}
			for _, call := range ofShell(line) {
				found++
				understood(t, name, call, true)
			}
		}
	})
	if found < 30 {
		t.Errorf("only %d examples were found", found)
	}
}
