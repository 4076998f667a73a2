package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// measure runs all rounds and then writes the text at once.
func measure(ctx context.Context, cfg config, parts []part) (err error) {
	bin, err := os.MkdirTemp("", "snowkey-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bin)) }()
	programs, err := build(ctx, cfg, parts, bin)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := head(ctx, cfg, &text); err != nil {
		return err
	}
	for round := range cfg.count {
		for i := range parts {
			p := parts[(i+round)%len(parts)]
			began := time.Now()
			out, err := once(ctx, cfg, p, programs[p.program()], round)
			if err != nil {
				return fmt.Errorf("round %d, %s: %w", round+1, p.name, err)
			}
			text.Write(out)
			fmt.Fprintf(cfg.log, "round %d of %d: %-10s %4.0f s\n", round+1, cfg.count, p.name, time.Since(began).Seconds())
		}
	}
	partial := cfg.text() + ".partial"
	if err := os.WriteFile(partial, text.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(partial, cfg.text())
}

// build compiles the test binary of each folder and experiment without the workspace, so with
// the versions of this module's go.mod.
func build(ctx context.Context, cfg config, parts []part, bin string) (map[string]string, error) {
	programs := map[string]string{}
	for _, p := range parts {
		if programs[p.program()] != "" {
			continue
		}
		program := filepath.Join(bin, p.program()+".test")
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, "./"+p.folder)
		cmd.Dir = cfg.module
		cmd.Env = append(os.Environ(), "GOWORK=off")
		if p.experiment != "" {
			cmd.Env = append(cmd.Env, "GOEXPERIMENT="+p.experiment)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build %s: %w\n%s", p.program(), err, out)
		}
		programs[p.program()] = program
	}
	return programs, nil
}

// once runs one part. It returns the lines of its output that benchstat reads.
func once(ctx context.Context, cfg config, p part, program string, round int) ([]byte, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, program, p.arguments(cfg)...)
	cmd.Dir = filepath.Join(cfg.module, p.folder)
	cmd.Env = append(os.Environ(), cfg.environment(round)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends its servers
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, tail(out.String()))
	}
	var kept bytes.Buffer
	results := 0
	for line := range strings.Lines(out.String()) {
		switch {
		case strings.HasPrefix(line, "Benchmark") && strings.Contains(line, "\t"):
			results++
			kept.WriteString(line)
		case strings.HasPrefix(line, "pkg: "):
			kept.WriteString(line)
		case strings.Contains(line, "--- FAIL"), strings.Contains(line, "--- SKIP"):
			return nil, fmt.Errorf("a benchmark failed or was skipped\n%s", tail(out.String()))
		}
	}
	if results == 0 {
		return nil, fmt.Errorf("no result\n%s", tail(out.String()))
	}
	return kept.Bytes(), nil
}

// tail returns the end of an output, which has the reason.
func tail(s string) string { return strings.TrimSpace(s[max(0, len(s)-8000):]) }
