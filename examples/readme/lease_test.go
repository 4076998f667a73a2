package readme

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/glebarez/go-sqlite"
)

func TestLease(t *testing.T) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "leases.sqlite")+"?_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	numbers := map[int64]bool{}
	for range 3 {
		l, gen, err := lease(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		defer func() { _ = gen.Close() }()
		id, err := gen.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p, err := gen.Layout().Decode(id)
		if number := p.Datacenter<<5 | p.Worker; err != nil || numbers[number] || number != l.Worker() {
			t.Errorf("number %d of %v, %v", number, numbers, err)
		}
		numbers[l.Worker()] = true
	}
}
