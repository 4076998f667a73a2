// Command bench runs the benchmarks of this module, several times over, and
// writes what came out: the raw text, which benchstat reads, a report made of it,
// and charts.
//
//	go run ./cmd/bench                 the comparison with the peers
//	go run ./cmd/bench -suite growth   tables that grow to 10⁷ rows
//	go run ./cmd/bench -report         makes report and charts anew from the text that is there
//
// A round runs each benchmark once. Rounds follow one another, and in each the
// order begins at another place, so that what disturbs the machine for a while
// hits all alike. Nothing is written before all rounds are done.
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

// config is what the flags say.
type config struct {
	suite  string
	count  int    // rounds; 0: as many as the suite has
	scale  string // full or small
	only   string // names of parts, with commas between; "": all
	out    string
	report bool
	module string // the folder of this module
	log    io.Writer
}

func main() {
	cfg := config{log: os.Stderr}
	flag.StringVar(&cfg.suite, "suite", "bench", "what to run: "+strings.Join(suiteNames(), " or "))
	flag.IntVar(&cfg.count, "count", 0, "how many rounds; 0: 6, and 1 for growth")
	flag.StringVar(&cfg.scale, "scale", "full", "full, or small: proves that all runs, and measures nothing")
	flag.StringVar(&cfg.only, "only", "", "some parts alone, with commas between")
	flag.StringVar(&cfg.out, "out", "results", "the folder to write to")
	flag.BoolVar(&cfg.report, "report", false, "run nothing, make the report anew from the text")
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

// text is where the raw text of the suite stands.
func (cfg config) text() string { return filepath.Join(cfg.out, cfg.suite+".txt") }
