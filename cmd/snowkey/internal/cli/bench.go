package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// measured holds the flags.
type measured struct {
	each       time.Duration
	goroutines int64
	store      storeFlags
	rounds     int64
	layout     core.Layout
}

const benchAbout = `Measure how many IDs a generator issues on this machine: one at a time, in blocks,
and from several goroutines, in the given layout and in one without a practical cap.
The IDs are discarded, and no worker ID is leased.

With --dsn, measure instead how long a store takes to claim, renew and release a
worker ID, in a namespace of its own. Its rows remain, with all worker IDs free.`

func (a *app) benchCommand() *cobra.Command {
	m := &measured{each: time.Second, goroutines: int64(runtime.GOMAXPROCS(0)), rounds: 200}
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "measure the generator, or a store of worker IDs",
		Long:    benchAbout,
		Example: "  snowkey bench\n  snowkey bench --preset sonyflake --for 5s\n  snowkey bench --dsn postgres://localhost/app --rounds 1000",
		Args:    arguments(0, 0, "no arguments"),
		RunE: a.action(func(cmd *cobra.Command, _ []string) error {
			if err := m.unused(cmd); err != nil {
				return err
			}
			if m.store.text != "" {
				return a.benchStore(cmd.Context(), m)
			}
			return a.bench(cmd.Context(), m)
		}),
	}
	f := cmd.Flags()
	f.Var(flagval.New(&m.each, "DURATION", "1s", flagval.Duration(time.Millisecond, time.Hour)), "for", "duration of each measurement")
	f.Var(flagval.New(&m.goroutines, "N", "as many as cores", flagval.Whole(1, 10_000)), "goroutines", "number of goroutines that share a generator")
	m.store.add(cmd, "dsn", "store of worker IDs to measure")
	m.store.addNamespace(cmd, "snowkey-bench")
	m.store.addDataLoss(cmd)
	f.Var(flagval.New(&m.rounds, "N", "200", flagval.Whole(1, 1_000_000)), "rounds", "number of requests of each kind")
	a.jsonFlag(cmd, "one object")
	addLayout(cmd, &m.layout)
	return cmd
}

// unused rejects the flags of the other measurement.
func (m *measured) unused(cmd *cobra.Command) error {
	if m.store.text == "" {
		if cmd.Flags().Changed("rounds") {
			return usage("--rounds requires --dsn")
		}
		return m.store.unused()
	}
	for _, name := range append([]string{"for", "goroutines"}, layoutNames...) {
		if cmd.Flags().Changed(name) {
			return usage("--%s does not apply with --dsn", name)
		}
	}
	return nil
}

// speed is the JSON of a measurement.
type speed struct {
	What      string  `json:"what"`
	Layout    string  `json:"layout"`
	PerSecond float64 `json:"ids_per_second"`
	NsPerID   float64 `json:"ns_per_id"`
	Cap       float64 `json:"cap_per_second,omitempty"` // of the layout
}

// uncapped is a layout that this machine cannot exhaust.
func uncapped() core.Layout {
	l := core.Twitter()
	l.TimeBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits = 41, 0, 0, 22
	return l
}

// blocks is the number of IDs reserved at once.
const blocks = 1000

func (a *app) bench(ctx context.Context, m *measured) error {
	var speeds []speed
	kinds := []struct {
		name       string
		goroutines int
		block      int
	}{
		{"Next", 1, 1},
		{fmt.Sprintf("Fill of %d", blocks), 1, blocks},
		{fmt.Sprintf("Next, %s", plural(m.goroutines, "goroutine")), int(m.goroutines), 1},
	}
	add, done := a.progress(int64(2*len(kinds)), "measuring")
	defer done()
	for _, which := range []struct {
		name   string
		layout core.Layout
	}{{"layout", m.layout}, {"uncapped", uncapped()}} {
		for _, kind := range kinds {
			made, took, err := measure(ctx, which.layout, m.each, kind.goroutines, kind.block)
			if err != nil {
				return fmt.Errorf("%s: %w", kind.name, err)
			}
			add(1)
			s := speed{What: kind.name, Layout: which.name, PerSecond: float64(made) / took.Seconds(), NsPerID: float64(took.Nanoseconds()) / float64(made)}
			if which.name == "layout" {
				s.Cap = float64(m.layout.IDsPerTick()) / m.layout.Tick.Seconds()
			}
			speeds = append(speeds, s)
		}
	}
	done()
	if a.json {
		return a.object(struct {
			Cores  int     `json:"cores"`
			Go     string  `json:"go"`
			Layout string  `json:"layout"`
			Speeds []speed `json:"speeds"`
		}{runtime.GOMAXPROCS(0), runtime.Version(), m.layout.String(), speeds})
	}
	fmt.Fprintf(a.out, "%s, %s/%s, %s\nlayout: %s\nuncapped: %s\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, plural(int64(runtime.GOMAXPROCS(0)), "core"), m.layout, uncapped())
	rows := [][]string{{"", "LAYOUT", "IDS/S", "NS/ID", "OF THE CAP"}}
	for _, s := range speeds {
		part := ""
		if s.Cap > 0 {
			part = fmt.Sprintf("%.1f%%", 100*s.PerSecond/s.Cap)
		}
		rows = append(rows, []string{s.What, s.Layout, humanize.Comma(int64(s.PerSecond)), strconv.FormatFloat(s.NsPerID, 'f', 1, 64), part})
	}
	a.table(rows)
	return nil
}

// measure draws IDs until the time is over.
func measure(ctx context.Context, l core.Layout, each time.Duration, goroutines, block int) (made int64, took time.Duration, err error) {
	generator, err := core.New(core.Config{Layout: l, Worker: core.Fixed(0)})
	if err != nil {
		return 0, 0, newError(err)
	}
	defer generator.Close()
	if _, err := generator.Next(ctx); err != nil { // waits for the first tick, which may be long
		return 0, 0, err
	}
	var over atomic.Bool
	defer time.AfterFunc(each, func() { over.Store(true) }).Stop()
	defer context.AfterFunc(ctx, func() { over.Store(true) })()
	var sum atomic.Int64
	errs := make([]error, goroutines)
	var all sync.WaitGroup
	began := time.Now()
	for i := range goroutines {
		all.Go(func() {
			n, err := draw(generator, &over, block)
			sum.Add(n)
			errs[i] = err
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return 0, 0, errors.New("interrupted")
	}
	return sum.Load(), time.Since(began), errors.Join(errs...)
}

// draw draws at least once, on however busy a machine. A context that can end would slow
// each call.
func draw(generator *core.Generator, over *atomic.Bool, block int) (made int64, err error) {
	ids := make([]int64, block)
	for made == 0 || !over.Load() {
		if block == 1 {
			_, err = generator.Next(context.Background())
		} else {
			err = generator.Fill(context.Background(), ids)
		}
		if err != nil {
			return made, err
		}
		made += int64(block)
	}
	return made, nil
}

// latency is the JSON of one kind of request.
type latency struct {
	What string  `json:"what"`
	P50  float64 `json:"p50_ms"`
	P99  float64 `json:"p99_ms"`
	Max  float64 `json:"max_ms"`
}

// claimFor is the validity interval and the TTL of the claims.
const claimFor = 30 * time.Second

// benchStore measures the three verbs of a store.
func (a *app) benchStore(ctx context.Context, m *measured) error {
	target, store, err := a.openStore(ctx, &m.store, true)
	if err != nil {
		return err
	}
	defer target.Close()
	var took [3][]time.Duration
	add, done := a.progress(m.rounds, "rounds")
	defer done()
	for i := range m.rounds + 1 {
		round, err := benchRound(ctx, store, m.store.namespace)
		if err != nil {
			if ctx.Err() != nil {
				return errors.New("interrupted")
			}
			return fmt.Errorf("%s: %w", target.Name, withAdvice(err))
		}
		if i == 0 { // it creates connections and tables
			continue
		}
		for verb, t := range round {
			took[verb] = append(took[verb], t)
		}
		add(1)
	}
	done()
	figures := []latency{percentiles("claim", took[0]), percentiles("renew", took[1]), percentiles("release", took[2])}
	if a.json {
		return a.object(struct {
			Target    string    `json:"target"`
			Rounds    int64     `json:"rounds"`
			Latencies []latency `json:"latencies"`
		}{target.Name, m.rounds, figures})
	}
	fmt.Fprintf(a.out, "%s, %s in sequence, namespace %q\n\n", target.Name, plural(m.rounds, "round"), m.store.namespace)
	rows := [][]string{{"", "P50", "P99", "MAX"}}
	for _, f := range figures {
		ms := func(n float64) string { return fmt.Sprintf("%.2f ms", n) }
		rows = append(rows, []string{f.What, ms(f.P50), ms(f.P99), ms(f.Max)})
	}
	a.table(rows)
	return nil
}

// benchRound returns how long a claim, its renewal and its release took.
func benchRound(ctx context.Context, store driver.Store, namespace string) (took [3]time.Duration, err error) {
	l := core.Twitter()
	now := time.Now().UnixMilli()
	span := claimFor.Milliseconds()
	r := driver.Request{
		Namespace: namespace, Layout: driver.Fingerprint(l), WorkerIDs: l.WorkerIDs(), Preferred: -1, Exclude: -1, ClaimID: rand.Text(), Owner: "snowkey bench",
		Now: now, FenceWindow: span, TTL: span, MaxSkew: time.Minute.Milliseconds(), MaxLead: time.Minute.Milliseconds(),
	}
	start := time.Now()
	c, err := store.Claim(ctx, r)
	if err != nil {
		return took, err
	}
	claimed := time.Now()
	err = store.Renew(ctx, driver.Renewal{Namespace: namespace, Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: r.ClaimID, Fence: c.Fence + 1, TTL: span})
	renewed := time.Now()
	// The claim is released in any case: no ID was issued under it.
	released, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err = errors.Join(err, store.Release(released, driver.Return{Namespace: namespace, Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: r.ClaimID, Fence: c.From}))
	return [3]time.Duration{claimed.Sub(start), renewed.Sub(claimed), time.Since(renewed)}, err
}

func percentiles(what string, all []time.Duration) latency {
	slices.Sort(all)
	at := func(part float64) float64 {
		return float64(all[max(0, int(math.Ceil(part*float64(len(all))))-1)].Microseconds()) / 1000
	}
	return latency{What: what, P50: at(0.50), P99: at(0.99), Max: at(1)}
}
