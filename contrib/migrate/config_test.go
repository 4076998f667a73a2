package migrate

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func TestBadConfig(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(cfg *Config)
		want string
	}{
		{"no table", func(cfg *Config) { cfg.Table = "" }, `Table ""`},
		{"quotes", func(cfg *Config) { cfg.Table = `o"` }, "without dots, quotes"},
		{"three names", func(cfg *Config) { cfg.Table = "a.b.c" }, "without dots"},
		{"no schema", func(cfg *Config) { cfg.Table = ".orders" }, `Table ".orders"`},
		{"both ways", func(cfg *Config) { cfg.Undo, cfg.Finish = true, true }, "Finish true"},
		{"a batch", func(cfg *Config) { cfg.BatchSize = -1 }, "BatchSize -1"},
		{"a pause", func(cfg *Config) { cfg.Pause = -time.Second }, "Pause -1s"},
		{"a timeout", func(cfg *Config) { cfg.LockTimeout = -time.Second }, "LockTimeout -1s"},
		{"a short timeout", func(cfg *Config) { cfg.HoldTimeout = time.Microsecond }, "HoldTimeout 1µs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := Config{Table: "orders"}
			c.edit(&cfg)
			err := cfg.check(new(sql.DB))
			if config := new(core.ConfigError); !errors.As(err, &config) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
	if _, err := Run(t.Context(), nil, Config{Table: "orders"}); err == nil || !strings.Contains(err.Error(), "db nil") {
		t.Errorf("no database: %v", err)
	}
	_, err := (Plan{}).stops(StepSwap)
	if err == nil || !strings.Contains(err.Error(), `StopBefore "swap": is no step of this plan`) {
		t.Errorf("a step of no plan: %v", err)
	}
}
