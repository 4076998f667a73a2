package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var ids = regexp.MustCompile(`\d{19}`)

// The README's first program, pasted into an empty folder, runs by the README's commands and
// prints what the README shows, but for the ids.
func TestReadme(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(string(text), 3)
	if len(blocks) < 3 || blocks[0][1] != "go" || blocks[1][1] != "" || blocks[2][1] != "sh" {
		t.Fatalf("the README begins with other blocks: %q", blocks)
	}
	program, printed, commands := blocks[0][2], blocks[1][2], blocks[2][2]
	folder := filepath.Join(t.TempDir(), "notes")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	script := "go mod init notes\n" + strings.ReplaceAll(commands, "../snowkey", root) + "go mod tidy\ngo run .\n"
	shell := exec.Command("sh", "-e", "-c", script)
	shell.Dir = folder
	shell.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-modcacherw")
	var messages strings.Builder
	shell.Stderr = &messages
	output, err := shell.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, messages.String())
	}
	if got, want := ids.ReplaceAllString(string(output), "ID"), ids.ReplaceAllString(printed, "ID"); got != want {
		t.Errorf("printed %q, the README has %q", got, want)
	}
	if own, err := os.ReadFile("main.go"); err != nil || !strings.HasSuffix(string(own), program) {
		t.Errorf("this program differs from the README's: %v", err)
	}
}
