package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/database"
)

// head writes the machine, the programs and the settings, in lines that benchstat reads as
// configuration.
func head(ctx context.Context, cfg config, w *bytes.Buffer) error {
	fmt.Fprintln(w, "Unit rows/s better=higher")
	line := func(key, value string) {
		if value = strings.Join(strings.Fields(value), " "); value != "" {
			fmt.Fprintf(w, "%s: %s\n", key, value)
		}
	}
	line("suite", fmt.Sprintf("%s, %d rounds, scale %s", cfg.suite, cfg.count, cfg.scale))
	if cfg.scale == "small" {
		line("warning", "small sizes, which only prove that everything runs: the figures mean nothing")
	}
	if cfg.only != "" {
		line("only", cfg.only)
	}
	line("date", time.Now().UTC().Format(time.DateOnly))
	line("commit", commit(ctx, cfg))
	line("go", runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH)
	line("machine-cpu", field("/proc/cpuinfo", "model name"))
	line("machine-cores", fmt.Sprint(runtime.NumCPU()))
	line("machine-memory", field("/proc/meminfo", "MemTotal"))
	line("machine-kernel", command(ctx, ".", "uname", "-sr"))
	for _, engine := range database.Engines() {
		version, err := database.Version(ctx, engine)
		if err != nil {
			version = "not installed"
			fmt.Fprintf(cfg.log, "%v\n", err)
		}
		line(engine, version)
		line(engine+"-settings", strings.ReplaceAll(strings.Join(database.Settings(engine, true), " "), "-c ", ""))
	}
	peers, err := versions(ctx, cfg)
	if err != nil {
		return err
	}
	line("libraries", peers)
	return nil
}

// commit is the short hash, marked if the tree has changes.
func commit(ctx context.Context, cfg config) string {
	hash := command(ctx, cfg.module, "git", "rev-parse", "--short=10", "HEAD")
	if hash != "" && command(ctx, cfg.module, "git", "status", "--porcelain", "--untracked-files=no") != "" {
		hash += " with changes"
	}
	return hash
}

// versions are those of the libraries that are measured: what go.mod names.
func versions(ctx context.Context, cfg config) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{if not (or .Main .Indirect .Replace)}}{{.Path}} {{.Version}},{{end}}", "all")
	cmd.Dir = cfg.module
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go list -m: %w", err)
	}
	list := strings.FieldsFunc(string(out), func(r rune) bool { return r == ',' || r == '\n' })
	return strings.ReplaceAll(strings.Join(list, ", "), "github.com/", ""), nil
}

// field is the first value of a key in one of the kernel's files, or "" on other systems,
// where go test itself prints the processor.
func field(file, key string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// command is the first line that a program prints, or "" if it fails.
func command(ctx context.Context, dir, name string, arguments ...string) string {
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return first
}
