package sqlgen

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// A generator of one datacenter shares its namespace with the leases of that datacenter. Those of
// another one, and of all, are refused, and a generator of another one too.
func TestDatacenter(t *testing.T) {
	two, three := int64(2), int64(3)
	dsn := database(t)
	conn, db, g := connect(t, dsn), openDB(t, dsn), orders
	g.Datacenter = &two
	create(t, conn, g)
	lease := func(datacenter *int64) (*worker.Generator, error) {
		return sqlstore.Open(t.Context(), db, worker.Config{Namespace: "orders", Datacenter: datacenter})
	}
	gen, err := lease(&two)
	must(t, err)
	defer gen.Close(context.Background())
	ours, err := gen.Next(t.Context())
	must(t, err)
	for id, worker := range map[int64]int64{ours: 0, one[int64](t, conn, next): 31} {
		if parts, err := core.Twitter().Decode(id); err != nil || parts.Datacenter != two || parts.Worker != worker {
			t.Errorf("%d: %+v, %v; want worker %d", id, parts, err, worker)
		}
	}
	for name, other := range map[string]*int64{"another": &three, "all": nil} {
		var layout *driver.LayoutError
		if gen, err := lease(other); !errors.As(err, &layout) {
			t.Errorf("a lease of %s: %v", name, err)
			_ = gen.Close(t.Context())
		}
	}
	g.Prefix, g.Datacenter = "third_", &three
	var refused error
	for _, statement := range script(t)(g.Create()) {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			refused = err
		}
	}
	if refused == nil {
		t.Error("a generator of another datacenter was created")
	}
}
