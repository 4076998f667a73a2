package footprint

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	bwmarrin "github.com/bwmarrin/snowflake"
	_ "github.com/glebarez/go-sqlite" // the driver "sqlite"
	sonyflake2 "github.com/sony/sonyflake/v2"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// fixed is a generator that has given one id.
func fixed(b *testing.B) *core.Generator {
	b.Helper()
	g, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := g.Next(context.Background()); err != nil {
		b.Fatal(err)
	}
	return g
}

func bwmarrinNode(b *testing.B) *bwmarrin.Node {
	b.Helper()
	n, err := bwmarrin.NewNode(1)
	if err != nil {
		b.Fatal(err)
	}
	n.Generate()
	return n
}

func sonyflake(b *testing.B) *sonyflake2.Sonyflake {
	b.Helper()
	s, err := sonyflake2.New(sonyflake2.Settings{MachineID: func() (int, error) { return 1, nil }})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.NextID(); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkColdStart: snowkey has a fixed number; snowkey-lease-new takes the
// first lease of a new SQLite file, which has no tables yet; snowkey-lease takes
// one where others were before. Both open the file, and each commit waits for the
// disk.
func BenchmarkColdStart(b *testing.B) {
	dir := b.TempDir()
	files := 0
	cases := []struct {
		name  string
		start func(b *testing.B)
	}{
		{"snowkey", func(b *testing.B) { fixed(b).Close() }},
		{"bwmarrin", func(b *testing.B) { bwmarrinNode(b) }},
		{"sonyflake2", func(b *testing.B) { sonyflake(b) }},
		{"snowkey-lease-new", func(b *testing.B) {
			files++
			lease(b, filepath.Join(dir, fmt.Sprint(files, ".sqlite")))
		}},
		{"snowkey-lease", func(b *testing.B) { lease(b, filepath.Join(dir, "same.sqlite")) }},
	}
	for _, c := range scale.Rotate(b, cases) {
		b.Run("lib="+c.name, func(b *testing.B) {
			c.start(b) // what is made once in a process
			for b.Loop() {
				c.start(b)
			}
		})
	}
}

// lease makes one id under a number from a file; what is needed to end is not
// measured.
func lease(b *testing.B, file string) {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)")
	if err != nil {
		b.Fatal(err)
	}
	g, err := sqlstore.Open(b.Context(), db, sqlstore.Config{})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := g.Next(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	defer b.StartTimer()
	if err := g.Close(context.Background()); err != nil {
		b.Error(err)
	}
	if err := db.Close(); err != nil {
		b.Error(err)
	}
}
