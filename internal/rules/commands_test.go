package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each command that a document names can be run: the target is in the Makefile, the script
// exists and has the option, the folder holds a program that has the flag. cmd/snowkey
// checks the commands of snowkey itself.
func TestCommands(t *testing.T) {
	found := 0
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range calls(string(text)) {
			known, err := able(filepath.Dir(path), call.words)
			if err != nil {
				t.Errorf("%s: %q: %v", path, strings.Join(call.words, " "), err)
			}
			if known {
				found++
			} else if call.whole && !slices.Contains(foreign, call.words[0]) {
				t.Errorf("%s: %q: no rule knows this command", path, strings.Join(call.words, " "))
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d commands were found", found)
	}
}

// Programs that are not ours, in blocks for a shell, and the one that the tutorial builds.
var foreign = []string{"snowkey", "snowkeylint", "cd", "cp", "mkdir", "curl", "docker", "git", "kill", "kubectl", "mariadb", "mysql", "psql", "umask", "wait", "./notes"}

func TestCommandsAreJudged(t *testing.T) {
	misspelt := strings.Replace(module, "/snowkey/", "/snowky/", 1)
	for line, well := range map[string]bool{
		"make bench":                                  true,
		"make fuzz FUZZTIME=\"1 m\"":                  true,
		"make bnech":                                  false,
		"make fuzz FUZTIME=1m":                        false,
		"./test.sh --no-lint":                         true,
		"./test.sh --no-lnit":                         false,
		"tools/release.sh --write v0.1.0":             true,
		"tools/release.sh --wirte v0.1.0":             false,
		"tools/publish.sh":                            false,
		"go run ./examples/lease -for 20s":            true,
		"go run ./examples/lease -fro 20s":            false,
		"go run ./examples/laese":                     false,
		"go run ./docs":                               false,
		"go test ./worker/model":                      true,
		"go test ./worker/modal":                      false,
		"go test -run '^$' -bench 'Next|Fill' ./core": true,
		"go test -run '^$' -bench 'Next|Fil1' ./core": false,
		"go test ./cmd/snowkey/internal/cli -update":  true,
		"go test ./cmd/snowkey/internal/cli -upadte":  false,
		"go generate ./internal/integration/orms":     true,
		"go generate ./core":                          false,
		"go install " + module + "cmd/snowkey@latest": true,
		"go install " + module + "cmd/snowflake@v1":   false,
		"go get " + strings.TrimSuffix(module, "/"):   true,
		"go get " + module + "gormplugin":             false,
		"go get github.com/jackc/pgx/v5":              true,
		"go get " + misspelt + "core":                 false,
		"go vet -vettool=lint ./...":                  true,
		"go fetch ./core":                             false,
	} {
		t.Run(line, func(t *testing.T) {
			list := ofShell(line)
			if len(list) != 1 {
				t.Fatalf("read as %q", list)
			}
			if known, err := able(root, list[0]); !known || (err == nil) != well {
				t.Errorf("known %v, %v", known, err)
			}
		})
	}
	got := fmt.Sprint(calls("see `make a` and\n`A=1 make b`\n```sh\nmake c \\\n  d   # make e\n# make f\ncd x && make 'g h'\n```\n```go\nmake no\n```\n  ```sh\n  make i | make j\n  ```\n"))
	if want := "[{[make a] false} {[make b] false} {[make c d] true} {[cd x] true} {[make g h] true} {[make i] true} {[make j] true}]"; got != want {
		t.Errorf("read as %s", got)
	}
}

// call is a command in a document. One in a span of code may be named only in part.
type call struct {
	words []string
	whole bool
}

var span = regexp.MustCompile("`([^`]+)`")

// calls are the commands in spans of code and in blocks for a shell.
func calls(text string) (all []call) {
	kind, fenced := "", false
	continued := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if info, ok := strings.CutPrefix(line, "```"); ok {
			fenced, kind = !fenced, info
			continue
		}
		if !fenced {
			for _, m := range span.FindAllStringSubmatch(line, -1) {
				for _, words := range ofShell(m[1]) {
					all = append(all, call{words, false})
				}
			}
			continue
		}
		if kind != "sh" {
			continue
		}
		if line, ok := strings.CutSuffix(line, `\`); ok {
			continued += line + " "
			continue
		}
		for _, words := range ofShell(continued + line) {
			all = append(all, call{words, true})
		}
		continued = ""
	}
	return all
}

var word = regexp.MustCompile(`(?:[^\s'"|;&]|'[^']*'|"[^"]*")+|[|;&]+`)

// ofShell are the commands on a line, without comments and variables set for them.
func ofShell(line string) (list [][]string) {
	var words []string
	end := func() {
		if len(words) > 0 {
			list = append(list, words)
		}
		words = nil
	}
	line, _, _ = strings.Cut(" "+line, " #")
	for _, w := range word.FindAllString(line, -1) {
		switch {
		case strings.ContainsRune("|;&", rune(w[0])):
			end()
		case len(words) == 0 && regexp.MustCompile(`^[A-Z_]+=`).MatchString(w):
		default:
			words = append(words, strings.NewReplacer(`'`, "", `"`, "").Replace(w))
		}
	}
	end()
	return list
}

var root = filepath.Join("..", "..")

// able reports whether the command is one of those that are checked, and what is wrong with
// it. A script may also be named relative to the folder of its document.
func able(folder string, words []string) (known bool, err error) {
	switch name := words[0]; {
	case name == "make":
		return true, makes(words[1:])
	case name == "go" && len(words) > 1:
		return true, goes(words[1], words[2:])
	case strings.HasSuffix(name, ".sh"):
		path := filepath.Join(root, name)
		if _, err := os.Stat(path); err != nil {
			path = filepath.Join(folder, name)
		}
		return true, script(path, words[1:])
	}
	return false, nil
}

func makes(args []string) error {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return err
	}
	for _, arg := range args {
		pattern, what := `(?m)^`+regexp.QuoteMeta(arg)+`:`, "target"
		if name, _, ok := strings.Cut(arg, "="); ok {
			pattern, what = `(?m)^`+regexp.QuoteMeta(name)+` \?=`, "variable"
		}
		if !regexp.MustCompile(pattern).Match(text) {
			return fmt.Errorf("the Makefile has no %s %s", what, arg)
		}
	}
	return nil
}

func script(path string, args []string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode()&0o100 == 0 {
		return fmt.Errorf("%s cannot be executed", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "--") && !regexp.MustCompile(regexp.QuoteMeta(arg)+`\b`).Match(text) {
			return fmt.Errorf("%s knows no %s", path, arg)
		}
	}
	return nil
}
