package snowprom_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/seed-299c1d6b/snowkey/contrib/snowprom"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

func collector(t testing.TB, cfg snowprom.Config) *snowprom.Collector {
	t.Helper()
	c, err := snowprom.New(cfg)
	must(t, err)
	return c
}

func fixedGenerator(t testing.TB, id int64) *core.Generator {
	t.Helper()
	gen, err := core.New(core.Config{Worker: core.Fixed(id)})
	must(t, err)
	t.Cleanup(gen.Close)
	return gen
}

func leasedGenerator(t testing.TB, namespace string) *worker.Generator {
	t.Helper()
	gen, err := worker.Open(t.Context(), memstore.New(memstore.Config{}), worker.Config{Namespace: namespace})
	must(t, err)
	t.Cleanup(func() { _ = gen.Close(context.Background()) })
	return gen
}

// fencedGenerator has a grant with a fence, and no lease.
func fencedGenerator(t testing.TB) *core.Generator {
	t.Helper()
	grant, err := core.NewGrant(core.Layout{}, 1, time.Time{}, time.Now().Add(time.Hour))
	must(t, err)
	gen, err := core.New(core.Config{Worker: granting{grant}})
	must(t, err)
	t.Cleanup(gen.Close)
	return gen
}

type granting struct{ grant *core.Grant }

func (g granting) Grant(context.Context, *core.Grant) (*core.Grant, error) { return g.grant, nil }

func TestValues(t *testing.T) {
	gen := leasedGenerator(t, "orders")
	must(t, gen.Fill(t.Context(), make([]int64, 7)))
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collector(t, snowprom.Config{Generator: gen}))
	want := fmt.Sprintf(`
# HELP snowkey_ids_issued_total Ids taken from the generator, including those of a cancelled Fill.
# TYPE snowkey_ids_issued_total counter
snowkey_ids_issued_total{snowkey_namespace="orders"} 7
# HELP snowkey_lease_claims_total Worker IDs claimed, the first included.
# TYPE snowkey_lease_claims_total counter
snowkey_lease_claims_total{snowkey_namespace="orders"} 1
# HELP snowkey_lease_failing_seconds For how long requests to the store have been failing; 0 if the last one did not.
# TYPE snowkey_lease_failing_seconds gauge
snowkey_lease_failing_seconds{snowkey_namespace="orders"} 0
# HELP snowkey_lease_state 1 for the state of the lease, 0 for the others.
# TYPE snowkey_lease_state gauge
snowkey_lease_state{snowkey_lease_state="blocked",snowkey_namespace="orders"} 0
snowkey_lease_state{snowkey_lease_state="ended",snowkey_namespace="orders"} 0
snowkey_lease_state{snowkey_lease_state="held",snowkey_namespace="orders"} 1
snowkey_lease_state{snowkey_lease_state="lost",snowkey_namespace="orders"} 0
snowkey_lease_state{snowkey_lease_state="releasing",snowkey_namespace="orders"} 0
snowkey_lease_state{snowkey_lease_state="rotating",snowkey_namespace="orders"} 0
# HELP snowkey_worker_id The worker ID that ids carry: datacenter<<WorkerBits | worker.
# TYPE snowkey_worker_id gauge
snowkey_worker_id{snowkey_namespace="orders"} %d
`, gen.Worker())
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "snowkey_ids_issued_total", "snowkey_lease_claims_total",
		"snowkey_lease_failing_seconds", "snowkey_lease_state", "snowkey_worker_id"); err != nil {
		t.Error(err)
	}
}

// What is exported depends on what there is.
func TestSources(t *testing.T) {
	gen := leasedGenerator(t, "orders")
	for name, c := range map[string]struct {
		cfg   snowprom.Config
		n     int
		leads string // the namespace
	}{
		"a lease":                 {snowprom.Config{Generator: gen}, 17 + 6, "orders"},
		"another namespace":       {snowprom.Config{Generator: gen, Namespace: "b"}, 17 + 6, "orders"},
		"no lease":                {snowprom.Config{Generator: fixedGenerator(t, 1)}, 9, "default"}, // no fence
		"no lease, and a name":    {snowprom.Config{Generator: fixedGenerator(t, 1), Namespace: "a/b"}, 9, "a/b"},
		"a fence without a lease": {snowprom.Config{Generator: fencedGenerator(t)}, 10, "default"},
	} {
		t.Run(name, func(t *testing.T) {
			registry := prometheus.NewPedanticRegistry()
			registry.MustRegister(collector(t, c.cfg))
			families, err := registry.Gather()
			must(t, err)
			n := 0
			for _, family := range families {
				for _, m := range family.GetMetric() {
					n++
					if got := m.GetLabel()[len(m.GetLabel())-1]; got.GetName() != "snowkey_namespace" || got.GetValue() != c.leads {
						t.Errorf("%s has the label %v", family.GetName(), got)
					}
				}
			}
			if n != c.n {
				t.Errorf("%d series, want %d", n, c.n)
			}
			problems, err := testutil.GatherAndLint(registry)
			if err != nil || len(problems) > 0 {
				t.Errorf("%v, %v", problems, err)
			}
		})
	}
}

func TestConfigErrors(t *testing.T) {
	for name, cfg := range map[string]snowprom.Config{
		"missing": {}, "zero": {Generator: new(core.Generator)}, "nil": {Generator: (*worker.Generator)(nil)},
	} {
		c, err := snowprom.New(cfg)
		var config *core.ConfigError
		if c != nil || !errors.As(err, &config) || err.Error() != "snowprom: Generator nil or zero: must come from core.New or an Open" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Namespaces share a registry.
func TestSeveral(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	for _, namespace := range []string{"a", "b"} {
		if err := registry.Register(collector(t, snowprom.Config{Generator: fixedGenerator(t, 1), Namespace: namespace})); err != nil {
			t.Error(err)
		}
	}
	again := collector(t, snowprom.Config{Generator: fixedGenerator(t, 1), Namespace: "b"})
	var already prometheus.AlreadyRegisteredError
	if err := registry.Register(again); !errors.As(err, &already) {
		t.Error(err)
	}
}

func TestZeroCollector(t *testing.T) {
	for name, c := range map[string]*snowprom.Collector{"nil": nil, "zero": {}} {
		if n := testutil.CollectAndCount(c); n != 0 {
			t.Errorf("%s: %d series", name, n)
		}
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
