package snowprom_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed-299c1d6b/snowkey/contrib/snowprom"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

func ExampleNew() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{}) // a program has a database
	gen, err := worker.Open(ctx, store, worker.Config{Namespace: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close(context.Background())

	metrics, err := snowprom.New(snowprom.Config{Generator: gen})
	if err != nil {
		fmt.Println(err)
		return
	}
	registry := prometheus.NewRegistry() // or prometheus.DefaultRegisterer
	registry.MustRegister(metrics)

	_ = gen.Fill(ctx, make([]int64, 5))
	families, _ := registry.Gather()
	for _, f := range families {
		if f.GetName() == "snowkey_ids_issued_total" {
			m := f.GetMetric()[0]
			fmt.Println(f.GetName(), m.GetLabel()[0].GetValue(), m.GetCounter().GetValue())
		}
	}
	// Output: snowkey_ids_issued_total orders 5
}

// Metrics have their own address, which clients of the service do not reach.
func ExampleCollector() {
	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	metrics, err := snowprom.New(snowprom.Config{Generator: gen, Namespace: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := httptest.NewServer(mux) // a program: &http.Server{Addr: "127.0.0.1:9464", Handler: mux}
	defer server.Close()

	answer, err := http.Get(server.URL + "/metrics")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "snowkey_worker_id{") {
			fmt.Println(lines.Text())
		}
	}
	// Output: snowkey_worker_id{snowkey_namespace="orders"} 3
}
