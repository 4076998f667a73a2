package worker

import (
	"context"
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker"
)

// Sessions with a schema each use one table, so they hold different worker IDs.
func TestSearchPath(t *testing.T) {
	e := newPostgres(t)
	mustExec(t, e.open(t), "CREATE SCHEMA a", "CREATE SCHEMA b")
	held := map[int64]string{}
	for _, path := range []string{"a", "b", "a,b,public", "pg_temp"} {
		gen, err := worker.Open(t.Context(), e.with(t, "search_path", path).store(t), once)
		must(t, err)
		defer gen.Close(context.Background())
		if other, taken := held[gen.Worker()]; taken {
			t.Errorf("search_path %s: worker ID %d is also held with %s", path, gen.Worker(), other)
		}
		held[gen.Worker()] = path
	}
	for n := range 3 { // counters as well
		if got, err := e.with(t, "search_path", []string{"a", "b", "public"}[n]).store(t).Reserve(t.Context(), "starts", 1); err != nil || got != int64(n+1) {
			t.Errorf("%d, %v", got, err)
		}
	}
}
