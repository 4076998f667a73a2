package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// The commands of docs/tutorial.md run, in their order and in one shell, and print what it says,
// but for ids and durations. Ports and the folder of the database are the test's.
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
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root := here + "/../.." // not cleaned, so that go test notices changes of the page
	page, err := os.ReadFile(root + "/docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	edits := []string{
		"git clone https://github.com/seed-299c1d6b/snowkey && cd snowkey", "",
		"go get github.com/seed-299c1d6b/snowkey", "", // not in this module
		"-o notes", "-o \"$DIR\"/notes",
		"file:notes.sqlite", "file:\"$DIR\"/notes.sqlite",
	}
	for _, port := range []string{"8080", "8081", "8082"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		free := fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
		listener.Close()
		edits = append(edits, "./notes -addr :"+port+" &",
			`(cd "$DIR" && exec ./notes -addr 127.0.0.1:`+free+") &\nfor i in {1..600}; do curl -s localhost:"+free+"/ready >/dev/null && break; sleep 0.1; done",
			"localhost:"+port, "localhost:"+free)
	}
	script := "trap 'jobs -p | xargs -r kill -9' EXIT\n"
	var want []string
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```(?:\n\n```\n(.*?)```)?").FindAllStringSubmatch(string(page), -1) {
		want = append(want, m[2])
		script += "echo '--- next'\n" + strings.NewReplacer(edits...).Replace(m[1])
	}
	if len(want) < 7 || strings.Count(script, "exec ./notes") != 3 {
		t.Fatalf("%d blocks in\n%s", len(want), script)
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", script)
	cmd.Dir = filepath.Clean(root)
	cmd.Env = append(os.Environ(), "DIR="+dir, "GOWORK=", "GOFLAGS=")
	cmd.Stderr = &strings.Builder{}
	out, err := cmd.Output()
	// The last wait returns the status of a service that was killed.
	got := strings.Split(string(out), "--- next\n")[1:]
	if len(got) != len(want) {
		t.Fatalf("%d of %d blocks ran: %v\n%s\n%s\n%s", len(got), len(want), err, script, out, cmd.Stderr)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, cmd.Stderr)
	}
	varying := regexp.MustCompile(`\d{19}|\d+s\b`)
	for i := range want {
		want, got := varying.ReplaceAllString(want[i], "…"), varying.ReplaceAllString(got[i], "…")
		if !strings.Contains(got, want) {
			t.Errorf("block %d printed\n%s\nand the tutorial has\n%s", i+1, got, want)
		}
	}
	if list := got[3]; strings.Count(list, " held ") != 2 { // of the second replica
		t.Errorf("two replicas: %s", list)
	}
	if list := got[5]; strings.Count(list, " held ") != 1 || strings.Count(list, " free ") != 1 {
		t.Errorf("one crashed, one stopped: %s", list)
	}
}
