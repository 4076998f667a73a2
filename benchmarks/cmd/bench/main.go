// Command bench runs the benchmarks of this module several times and writes the text that
// benchstat reads.
//
//	go run ./cmd/bench                 snowkey and other libraries
//	go run ./cmd/bench -suite inserts  rows under several kinds of keys
//	go run ./cmd/bench -suite load     pgxload and pgx by hand
//	go run ./cmd/bench -suite growth   tables that grow to 10⁷ rows
//	go run ./cmd/bench -suite keys     orders and lines under several kinds of keys, also the server's
//
// A round runs each part once. Each round begins with another part, so that a disturbance of the
// machine affects all alike. Nothing is written before all rounds are done.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/database"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
)

// config holds the flags.
type config struct {
	suite  string
	count  int    // rounds; 0: as many as the suite has
	scale  string // full or small
	out    string // the folder to write to
	module string // the folder of this module
}

// part is one run of a package's test binary in a round.
type part struct{ name, bench, time, toolchain string }

const newest = "go1.27.3"

// suites are the parts, and how many rounds they have by default. Six rounds of bench take two
// minutes on two cores, and of inserts or load four. Benchmarks of databases write a fixed number of rows, so they run twice a round.
var suites = map[string]struct {
	count int
	parts []part
}{
	"bench": {6, []part{
		{"generate", ".", "100ms", ""}, {"encoding", ".", "100ms", ""}, {"encoding", "JSON", "100ms", newest}, {"generate", "^BenchmarkNext$/mode=uncapped/./lib=std-", "100ms", newest}, {"pgxkeys", ".", "100ms", ""},
	}},
	"inserts": {6, []part{{"inserts", "^Benchmark[^L]", "2x", ""}}},
	"load":    {6, []part{{"inserts", "^BenchmarkLoad$", "2x", ""}}},
	"growth":  {1, []part{{"growth", "^BenchmarkGrowth$", "1x", ""}}},
	"keys":    {3, []part{{"growth", "^BenchmarkKeys$", "1x", ""}}},
}

func main() {
	var cfg config
	flag.StringVar(&cfg.suite, "suite", "bench", "what to run: bench, inserts, load, growth or keys")
	flag.IntVar(&cfg.count, "count", 0, "how many rounds; 0: 6, 3 for keys, and 1 for growth")
	flag.StringVar(&cfg.scale, "scale", "full", "full, or small: proves that everything runs, and measures nothing")
	flag.StringVar(&cfg.out, "out", "results", "the folder to write to")
	flag.StringVar(&cfg.module, "module", ".", "the folder of the module benchmarks")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, cfg)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run runs all rounds, and then writes the text at once.
func run(ctx context.Context, cfg config) (err error) {
	s, ok := suites[cfg.suite]
	if !ok {
		return fmt.Errorf("-suite %q: want bench, inserts, load, growth or keys", cfg.suite)
	}
	if cfg.scale != "full" && cfg.scale != "small" {
		return fmt.Errorf("-scale %q: want full or small", cfg.scale)
	}
	if cfg.count < 0 {
		return fmt.Errorf("-count %d: want 1 or more, or 0 for %d", cfg.count, s.count)
	}
	if cfg.count == 0 {
		cfg.count = s.count
	}
	bin, err := os.MkdirTemp("", "snowkey-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bin)) }()
	for _, p := range s.parts {
		if err := p.build(ctx, cfg, bin); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	if err := head(ctx, cfg, &text); err != nil {
		return err
	}
	for round := range cfg.count {
		for i := range s.parts {
			p := s.parts[(i+round)%len(s.parts)]
			began := time.Now()
			if err := p.run(ctx, cfg, bin, round, &text); err != nil {
				return fmt.Errorf("round %d, %s: %w", round+1, p.name, err)
			}
			fmt.Fprintf(os.Stderr, "round %d of %d: %-10s %4.0f s\n", round+1, cfg.count, p.name, time.Since(began).Seconds())
		}
	}
	if err := os.MkdirAll(cfg.out, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(cfg.out, cfg.suite+".txt"), text.Bytes(), 0o644)
}

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
	line("date", time.Now().UTC().Format(time.DateOnly))
	line("commit", output(ctx, cfg.module, "git", "describe", "--always", "--dirty", "--abbrev=10"))
	line("go", runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH)
	line("machine-cores", fmt.Sprint(runtime.NumCPU()))
	line("machine-kernel", output(ctx, ".", "uname", "-sr"))
	for _, file := range []string{"/proc/cpuinfo", "/proc/meminfo"} { // elsewhere go test itself prints the processor
		text, _ := os.ReadFile(file)
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "model name") || strings.HasPrefix(line, "MemTotal") {
				name, value, _ := strings.Cut(line, ":")
				fmt.Fprintf(w, "machine-%s:%s", strings.ToLower(strings.Fields(name)[0]), value)
				break
			}
		}
	}
	for _, engine := range database.Engines() {
		version, err := database.Version(ctx, engine)
		if err != nil {
			return err
		}
		line(engine, version)
		line(engine+"-settings", strings.ReplaceAll(strings.Join(database.Settings(engine, true), " "), "-c ", ""))
	}
	return nil
}

// output is what a program prints, or "" if it fails.
func output(ctx context.Context, dir, name string, arguments ...string) string {
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// build compiles the test binary of a part without the workspace, so with the versions of this
// module's go.mod.
func (p part) build(ctx context.Context, cfg config, bin string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", filepath.Join(bin, p.name+p.toolchain), "./"+p.name)
	cmd.Dir = cfg.module
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if p.toolchain != "" {
		cmd.Env = append(cmd.Env, "GOTOOLCHAIN="+p.toolchain)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", p.name, err, out)
	}
	return nil
}

// run runs a part, and adds the lines of its output that benchstat reads. A benchmark that is
// skipped is an error, not a gap in the figures.
func (p part) run(ctx context.Context, cfg config, bin string, round int, text *bytes.Buffer) error {
	benchtime := p.time
	if cfg.scale == "small" {
		benchtime = "1x"
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, p.name+p.toolchain), "-test.run=^$", "-test.timeout=2h", "-test.bench="+p.bench, "-test.benchtime="+benchtime)
	cmd.Dir = filepath.Join(cfg.module, p.name)
	cmd.Env = append(os.Environ(), scale.Variable+"="+cfg.scale, fmt.Sprintf("%s=%d", scale.Round, round), "SNOWKEY_TEST_REQUIRE=1")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends its servers
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	results := text.Len()
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "Benchmark") && strings.Contains(line, "\t") || strings.HasPrefix(line, "pkg: ") {
			text.WriteString(line)
		}
	}
	if err == nil && (text.Len() == results || bytes.Contains(out, []byte("--- SKIP"))) {
		err = errors.New("a benchmark was skipped, or there is none")
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out[max(0, len(out)-8000):])
	}
	return nil
}
