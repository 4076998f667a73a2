package migrate

import (
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
)

// A pause comes after each batch of a fill.
func TestPause(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.shop(t, 1000)
	cfg := db.config()
	cfg.BatchSize, cfg.Pause = 100, 20*time.Millisecond
	batches := 0
	cfg.Progress = func(s migrate.Step, done, _ int64) {
		if s.Name == migrate.StepFill && done > 0 {
			batches++
		}
	}
	begun := time.Now()
	db.migrate(t, cfg)
	if took := time.Since(begun); batches < 5 || took < time.Duration(batches)*cfg.Pause {
		t.Errorf("%d batches in %v", batches, took)
	}
}
