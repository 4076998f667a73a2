package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every command has a page, which formatters read without a warning.
func TestMan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "share", "man1")
	if got := run(t, "man", dir); got != (result{}) {
		t.Fatalf("exit code %d: %s%s", got.code, got.out, got.err)
	}
	pages := []string{"snowkey"}
	eachCommand(func(_ *cobra.Command, name string) {
		pages = append(pages, "snowkey-"+strings.ReplaceAll(name, " ", "-"))
	})
	if files, err := os.ReadDir(dir); err != nil || len(files) != len(pages) {
		t.Errorf("%d files for %d commands, %v", len(files), len(pages), err)
	}
	for _, page := range pages {
		file := filepath.Join(dir, page+".1")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{".TH \"" + strings.ToUpper(strings.ReplaceAll(page, "-", `\-`)) + `" 1 "" "snowkey v1.2.3"`, ".SH NAME\n", ".SH SYNOPSIS\n", ".SH EXAMPLES\n"} {
			if !bytes.Contains(text, []byte(want)) {
				t.Errorf("%s has no %q", page, want)
			}
		}
		if _, err := exec.LookPath("groff"); err == nil {
			if out, err := exec.CommandContext(t.Context(), "groff", "-man", "-Tutf8", "-ww", "-z", "-k", file).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s: %v: %s", page, err, out)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "snowkey-gen.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n\\fB\\-n\\fR, \\fB\\-\\-count\\fR \\fIN\\fR\nnumber of IDs (default 1)\n", "\n\\fB\\-\\-time\\-bits\\fR \\fIBITS\\fR\n", "\\fBsnowkey\\fR(1)\n"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("snowkey-gen.1 has no %q", want)
		}
	}
	for _, bad := range []string{"/dev/null/x", os.DevNull} {
		if got := run(t, "man", bad); got.code != 1 || !strings.Contains(got.err, "not a directory") {
			t.Errorf("man %s: exit code %d: %s", bad, got.code, got.err)
		}
	}
}

func TestRoff(t *testing.T) {
	for text, want := range map[string]string{
		"-n": `\-n`, `a\b`: `a\eb`, ".TH x\n'y\n .z": "\\&.TH x\n\\&'y\n .z",
	} {
		if got := roff(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := quoteRoff(`a "b"`); got != `"a \(dqb\(dq"` {
		t.Errorf("quoted: %s", got)
	}
}
