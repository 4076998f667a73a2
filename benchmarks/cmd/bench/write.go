package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-299c1d6b/snowkey/benchmarks/report"
)

// write makes the report and the charts from the text.
func write(cfg config) error {
	text, err := os.ReadFile(cfg.text())
	if err != nil {
		return err
	}
	parsed, err := report.Parse(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.text(), err)
	}
	pictures, err := report.Charts(parsed.Series)
	if err != nil {
		return err
	}
	var names []string
	for _, p := range pictures {
		names = append(names, p.File)
		if err := os.WriteFile(filepath.Join(cfg.out, p.File), p.SVG, 0o644); err != nil {
			return err
		}
	}
	page := filepath.Join(cfg.out, cfg.suite+".md")
	if err := os.WriteFile(page, report.Markdown(parsed, names), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(cfg.log, "%s, %s and %d charts\n", cfg.text(), page, len(pictures))
	return nil
}
