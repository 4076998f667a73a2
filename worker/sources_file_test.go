package worker_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// A file is read as a whole, or it is an error: a part of it is never a worker ID.
func TestFromFileReadsAll(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    int64 // -1: an error
	}{
		"99 blanks":       {strings.Repeat(" ", 99) + "15", 15},
		"200 blanks":      {strings.Repeat(" ", 200) + "15\n", 15},
		"99 zeros":        {strings.Repeat("0", 99) + "15", 15},
		"the most":        {strings.Repeat("\n", 4094) + "15", 15},
		"more":            {strings.Repeat("\n", 4095) + "15", -1},
		"more, after":     {"15" + strings.Repeat("\n", 5000), -1},
		"another, behind": {"1" + strings.Repeat("\n", 99) + "2\n", -1},
		"empty":           {" \n", -1},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "number")
			if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			n, err := worker.FromFile(core.Layout{}, file, "")
			var config *core.ConfigError
			switch {
			case c.want < 0 && !errors.As(err, &config):
				t.Errorf("%s: %v, %v", name, n, err)
			case c.want < 0 && len(err.Error()) > 500:
				t.Errorf("%s: %v", name, err)
			case c.want >= 0 && (err != nil || n != c.want):
				t.Errorf("%s: %v, %v", name, n, err)
			}
		})
	}
	if n, err := worker.FromFile(core.Layout{}, t.TempDir(), ""); err == nil {
		t.Errorf("a directory: %v", n)
	}
}
