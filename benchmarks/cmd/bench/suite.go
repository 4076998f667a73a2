package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
)

// part is one call of a package's test binary in a round.
type part struct {
	name   string // for -only
	folder string
	bench  string // -test.bench
	time   string // -test.benchtime
	cpu    string // -test.cpu

	experiment string // GOEXPERIMENT of the build
}

// program names the test binary of a part. Parts share it.
func (p part) program() string { return strings.TrimSuffix(p.folder+"-"+p.experiment, "-") }

type suite struct {
	name  string
	count int
	parts []part
}

// With these times, six rounds take 25 minutes on two cores. Benchmarks of databases write a
// fixed number of rows, so they run twice a round.
func suites() []suite {
	return []suite{
		{"bench", 6, []part{
			{name: "generate", folder: "generate", bench: "^Benchmark(Next|Loop|Block)$", time: "100ms"},
			{name: "processors", folder: "generate", bench: "^BenchmarkProcessors$", time: "100ms", cpu: "1,2,4,8"},
			{name: "encoding", folder: "encoding", bench: ".", time: "100ms"},
			{name: "jsonv2", folder: "encoding", bench: "^BenchmarkJSONv2$", time: "100ms", experiment: "jsonv2"},
			{name: "pgxkeys", folder: "pgxkeys", bench: ".", time: "100ms"},
			{name: "inserts", folder: "inserts", bench: ".", time: "2x"},
			{name: "footprint", folder: "footprint", bench: ".", time: "5x"},
		}},
		{"growth", 1, []part{{name: "growth", folder: "growth", bench: ".", time: "1x"}}},
	}
}

func suiteNames() []string {
	var names []string
	for _, s := range suites() {
		names = append(names, s.name)
	}
	return names
}

// parts returns the parts that the flags ask for, or all errors in the flags.
func (cfg *config) parts() ([]part, error) {
	var faults []error
	i := slices.IndexFunc(suites(), func(s suite) bool { return s.name == cfg.suite })
	if i < 0 {
		return nil, fmt.Errorf("-suite %q: want %s", cfg.suite, strings.Join(suiteNames(), " or "))
	}
	s := suites()[i]
	if cfg.count < 0 {
		faults = append(faults, fmt.Errorf("-count %d: want 1 or more, or 0 for %d", cfg.count, s.count))
	}
	if cfg.count == 0 {
		cfg.count = s.count
	}
	if cfg.scale != "full" && cfg.scale != "small" {
		faults = append(faults, fmt.Errorf("-scale %q: want full or small", cfg.scale))
	}
	var parts []part
	if cfg.only == "" {
		parts = s.parts
	} else {
		for name := range strings.SplitSeq(cfg.only, ",") {
			j := slices.IndexFunc(s.parts, func(p part) bool { return p.name == strings.TrimSpace(name) })
			if j < 0 {
				var names []string
				for _, p := range s.parts {
					names = append(names, p.name)
				}
				faults = append(faults, fmt.Errorf("-only: there is no part %q in the suite %s, but %s", name, s.name, strings.Join(names, ", ")))
				continue
			}
			parts = append(parts, s.parts[j])
		}
	}
	return parts, errors.Join(faults...)
}

func (p part) arguments(cfg config) []string {
	list := []string{"-test.run=^$", "-test.timeout=2h", "-test.bench=" + p.bench, "-test.benchtime=" + p.time}
	if cfg.scale == "small" {
		list[len(list)-1] = "-test.benchtime=1x"
	}
	if p.cpu != "" {
		list = append(list, "-test.cpu="+p.cpu)
	}
	return list
}

func (cfg config) environment(round int) []string {
	return []string{
		scale.Variable + "=" + cfg.scale,
		fmt.Sprintf("%s=%d", scale.Round, round),
		"SNOWKEY_TEST_REQUIRE=1", // a missing server is an error, not a gap in the figures
	}
}
