package prometheus_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	snowprom "github.com/seed-299c1d6b/snowkey/contrib/prometheus"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// every is how often a recording scrapes, and how often its rules are evaluated.
const every = 15 * time.Second

var errDown = errors.New("the store is down")

// plant is a program with a lease in a bubble: its clock, its store, and what is scraped.
type plant struct {
	*testing.T
	mem   *memstore.Store
	ahead atomic.Int64 // of the program's clock, in nanoseconds
	down  atomic.Bool
	gen   *worker.Generator // of the first program

	targets map[string]*prometheus.Registry // by instance
	series  map[string]*recorded
	scrapes int

	ends   []func()
	issued sync.WaitGroup
}

// recorded are the values of one series; NaN: it had none at that scrape.
type recorded struct {
	labels map[string]string // with its name
	values []float64
}

// faulty is the store that the lease uses.
type faulty struct {
	*memstore.Store
	down *atomic.Bool
}

func (f faulty) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	if f.down.Load() {
		return driver.Claim{}, errDown
	}
	return f.Store.Claim(ctx, r)
}

func (f faulty) Renew(ctx context.Context, r driver.Renewal) error {
	if f.down.Load() {
		return errDown
	}
	return f.Store.Renew(ctx, r)
}

func (p *plant) now() time.Time { return time.Now().Add(time.Duration(p.ahead.Load())) }

// open leases a worker ID for one more program, and makes its generator.
func (p *plant) open(cfg worker.Config) {
	p.Helper()
	cfg.Namespace, cfg.Now = "orders", p.now
	gen, err := worker.Open(p.Context(), faulty{p.mem, &p.down}, cfg)
	if err != nil {
		p.Fatal(err)
	}
	if p.gen == nil {
		p.gen = gen
	}
	p.run(gen)
	p.end(func() { _ = gen.Close(context.Background()) })
}

// generate makes the generator of one more program, without a lease.
func (p *plant) generate(cfg core.Config) {
	p.Helper()
	gen, err := core.New(cfg)
	if err != nil {
		p.Fatal(err)
	}
	p.run(gen)
	p.end(gen.Close)
}

type measured interface {
	sqltype.Source
	Metrics() []core.Metric
}

// run is one more program, which draws an id each second.
func (p *plant) run(gen measured) {
	p.Helper()
	collector, err := snowprom.New(snowprom.Config{Generator: gen, Namespace: "orders"})
	if err != nil {
		p.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collector)
	p.targets[fmt.Sprintf("app-%d:9090", 1+len(p.targets))] = registry
	p.draw(gen, time.Second)
}

// end adds what is to be done at the end of the recording, before what was added earlier.
func (p *plant) end(f func()) { p.ends = append(p.ends, f) }

// draw draws ids until the recording ends. Those that fail do not matter.
func (p *plant) draw(gen sqltype.Source, pause time.Duration) {
	ctx, cancel := context.WithCancel(p.Context())
	p.end(cancel)
	p.issued.Go(func() {
		for ctx.Err() == nil {
			_, _ = gen.Next(ctx)
			time.Sleep(pause)
		}
	})
}

// scrape reads all targets as Prometheus does.
func (p *plant) scrape() {
	p.Helper()
	synctest.Wait()
	for instance, registry := range p.targets {
		families, err := registry.Gather()
		if err != nil {
			p.Fatal(err)
		}
		for _, family := range families {
			for _, m := range family.GetMetric() {
				labels := map[string]string{"__name__": family.GetName(), "job": "app", "instance": instance}
				for _, l := range m.GetLabel() {
					labels[l.GetName()] = l.GetValue()
				}
				key := selector(labels)
				if p.series[key] == nil {
					p.series[key] = &recorded{labels: labels}
				}
				s := p.series[key]
				for len(s.values) < p.scrapes {
					s.values = append(s.values, math.NaN())
				}
				s.values = append(s.values, m.GetGauge().GetValue()+m.GetCounter().GetValue())
			}
		}
	}
	p.scrapes++
}

// record runs a failure in a bubble and returns the series that it leaves.
func record(t *testing.T, f failure) (series map[string]*recorded) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &plant{T: t, mem: memstore.New(memstore.Config{}), targets: map[string]*prometheus.Registry{}, series: map[string]*recorded{}}
		f.start(p)
		steps := slices.Clone(f.steps)
		for at := time.Duration(0); at <= f.length; at += every {
			for len(steps) > 0 && steps[0].at <= at { // between two scrapes
				time.Sleep(steps[0].at - (at - every))
				steps[0].do(p)
				time.Sleep(at - steps[0].at)
				steps = steps[1:]
			}
			if wait := time.Duration(p.scrapes)*every - at; wait != 0 {
				t.Fatalf("%d scrapes at %v", p.scrapes, at)
			}
			p.scrape()
			if len(steps) == 0 || steps[0].at > at+every {
				time.Sleep(every)
			}
		}
		p.down.Store(false)
		for _, end := range slices.Backward(p.ends) {
			end()
		}
		p.issued.Wait()
		series = p.series
	})
	return series
}

// selector is a series as PromQL writes it.
func selector(labels map[string]string) string {
	var pairs []string
	for name, value := range labels {
		if name != "__name__" {
			pairs = append(pairs, fmt.Sprintf("%s=%q", name, value))
		}
	}
	slices.Sort(pairs)
	return labels["__name__"] + "{" + strings.Join(pairs, ",") + "}"
}

// notation are the values as promtool reads them: a+bxn for n more values with the difference b.
func (s recorded) notation() string {
	var parts []string
	for i := 0; i < len(s.values); {
		v := s.values[i]
		if math.IsNaN(v) {
			parts = append(parts, "_")
			i++
			continue
		}
		n, d := 0, 0.0
		if i+1 < len(s.values) {
			d = s.values[i+1] - v
		}
		for i+n+1 < len(s.values) && d == math.Trunc(d) && s.values[i+n+1]-s.values[i+n] == d {
			n++
		}
		if n < 2 {
			parts = append(parts, number(v))
			i++
			continue
		}
		sign := "+"
		if d < 0 {
			sign = "-"
		}
		parts = append(parts, number(v)+sign+number(math.Abs(d))+"x"+strconv.Itoa(n))
		i += n + 1
	}
	return strings.Join(parts, " ")
}

// number rounds to milliseconds, but never to zero.
func number(v float64) string {
	if v > 0 && v < 0.001 {
		v = 0.001
	}
	return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
}
