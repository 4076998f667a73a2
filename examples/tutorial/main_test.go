package main

import (
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// The commands of docs/tutorial.md run exactly as printed, in their order and in one shell, and
// print what the page says, but for ids and durations. Only git is a script that stands for the
// clone: a copy of this checkout is there already.
func TestTutorial(t *testing.T) {
	if testing.Short() && os.Getenv("SNOWKEY_TEST_REQUIRE") == "" {
		t.Skip("it builds programs and starts them")
	}
	testserver.Uncached()
	for _, program := range []string{"bash", "curl", "go"} {
		if _, err := exec.LookPath(program); err != nil {
			testserver.Missing(t, err)
		}
	}
	for _, port := range []string{":8080", ":8081", ":8082"} {
		listener, err := net.Listen("tcp", port)
		if err != nil {
			testserver.Missing(t, err)
		}
		listener.Close()
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root := here + "/../.." // not cleaned, so that go test notices changes of the page
	page, err := os.ReadFile(root + "/docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	copyTo(t, filepath.Join(dir, "snowkey"), os.DirFS(filepath.Clean(root)))
	clone := "#!/bin/sh\n[ \"$*\" = 'clone https://github.com/seed-299c1d6b/snowkey' ]\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(clone), 0o700); err != nil {
		t.Fatal(err)
	}

	script := "trap 'jobs -p | xargs -r kill -9' EXIT\n"
	var want []string
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```(?:\n\n```\n(.*?)```)?").FindAllStringSubmatch(string(page), -1) {
		want = append(want, m[2])
		script += "echo '--- next'\n" + m[1]
	}
	if n := strings.Count(script, "./notes -addr"); n != 3 {
		t.Fatalf("%d services in\n%s", n, script)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "GOWORK=", "GOFLAGS=")
	cmd.Stderr = &strings.Builder{}
	out, err := cmd.Output()
	got := strings.Split(string(out), "--- next\n")[1:]
	if len(got) != len(want) {
		t.Fatalf("%d of %d blocks ran: %v\n%s\n%s\n%s", len(got), len(want), err, script, out, cmd.Stderr)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, cmd.Stderr)
	}
	varying := regexp.MustCompile(`\d{19}|\d+s\b`)
	var held []int // in each list of worker IDs
	for i := range want {
		shown, printed := varying.ReplaceAllString(want[i], "…"), varying.ReplaceAllString(got[i], "…")
		if !strings.Contains(printed, shown) {
			t.Errorf("block %d printed\n%s\nand the tutorial has\n%s", i+1, printed, shown)
		}
		if strings.HasPrefix(got[i], "WORKER ID ") || strings.Contains(got[i], "\nWORKER ID ") {
			held = append(held, strings.Count(got[i], " held "))
		}
	}
	if len(held) != 2 || held[0] != 2 || held[1] != 1 {
		t.Errorf("worker IDs held with two replicas, and after both have ended: %v\n%s", held, out)
	}
}

// copyTo copies a checkout, without what git or other tools keep in it.
func copyTo(t *testing.T, dir string, checkout fs.FS) {
	t.Helper()
	err := fs.WalkDir(checkout, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); name != "." && (name[0] == '.' || name == "node_modules") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		to := filepath.Join(dir, filepath.FromSlash(path))
		if d.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := fs.ReadFile(checkout, path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}
