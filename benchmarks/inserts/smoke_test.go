package inserts

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/smoke"
)

func TestBenchmarks(t *testing.T) {
	smoke.Run(t, "Insert", "Upsert", "Graph", "GraphFar", "Load", "SQLiteKeys")
}
