// Command bench runs the benchmarks of this module several times and writes the raw text,
// which benchstat reads, and a report and charts of it.
//
//	go run ./cmd/bench                 the comparison with the peers
//	go run ./cmd/bench -suite growth   tables that grow to 10⁷ rows
//	go run ./cmd/bench -report         makes the report and charts from existing text
//
// A round runs each benchmark once. Each round begins with another benchmark, so that a
// disturbance of the machine affects all alike. Nothing is written before all rounds are
// done.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// config holds the flags.
type config struct {
	suite  string
	count  int    // rounds; 0: as many as the suite has
	scale  string // full or small
	only   string // names of parts, separated by commas; "": all
	out    string
	report bool
	module string // the folder of this module
	log    io.Writer
}

func main() {
	cfg := config{log: os.Stderr}
	flag.StringVar(&cfg.suite, "suite", "bench", "what to run: "+strings.Join(suiteNames(), " or "))
	flag.IntVar(&cfg.count, "count", 0, "how many rounds; 0: 6, and 1 for growth")
	flag.StringVar(&cfg.scale, "scale", "full", "full, or small: proves that everything runs, and measures nothing")
	flag.StringVar(&cfg.only, "only", "", "only these parts, separated by commas")
	flag.StringVar(&cfg.out, "out", "results", "the folder to write to")
	flag.BoolVar(&cfg.report, "report", false, "run nothing, make the report from existing text")
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

func run(ctx context.Context, cfg config) error {
	parts, err := cfg.parts()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cfg.out, 0o755); err != nil {
		return err
	}
	if !cfg.report {
		if err := measure(ctx, cfg, parts); err != nil {
			return err
		}
	}
	return write(cfg)
}

// text returns the path of the raw text of the suite.
func (cfg config) text() string { return filepath.Join(cfg.out, cfg.suite+".txt") }
