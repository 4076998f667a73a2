package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

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
	target, err := a.open(ctx, &m.store, true)
	if err != nil {
		return err
	}
	defer target.Close()
	store, err := target.Store(storeOptions(&m.store))
	if err != nil {
		return err
	}
	var claims, renewals, releases []time.Duration
	timed := func(to *[]time.Duration, do func() error) error {
		began := time.Now()
		err := do()
		*to = append(*to, time.Since(began))
		return err
	}
	add, done := a.progress(m.rounds, "rounds")
	defer done()
	for i := range m.rounds + 1 {
		if i == 1 { // the first one creates connections and tables
			claims, renewals, releases = nil, nil, nil
		}
		if err := benchRound(ctx, store, m.store.namespace, timed, &claims, &renewals, &releases); err != nil {
			if ctx.Err() != nil {
				return errors.New("interrupted")
			}
			return fmt.Errorf("%s: %w", target.Name, withAdvice(err))
		}
		add(1)
	}
	done()
	figures := []latency{percentiles("claim", claims), percentiles("renew", renewals), percentiles("release", releases)}
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
		rows = append(rows, []string{f.What, ms(f.P50), ms(f.P99), ms(f.Max)})
	}
	a.table(rows)
	return nil
}

func ms(n float64) string { return fmt.Sprintf("%.2f ms", n) }

func benchRound(ctx context.Context, store driver.Store, namespace string, timed func(*[]time.Duration, func() error) error, claims, renewals, releases *[]time.Duration) error {
	l := core.Twitter()
	now := time.Now().UnixMilli()
	span := claimFor.Milliseconds()
	r := driver.Request{
		Namespace: namespace, Layout: driver.Fingerprint(l), WorkerIDs: l.WorkerIDs(), Preferred: -1, Exclude: -1, ClaimID: rand.Text(), Owner: "snowkey bench",
		Now: now, FenceWindow: span, TTL: span, MaxSkew: time.Minute.Milliseconds(), MaxLead: time.Minute.Milliseconds(),
	}
	var c driver.Claim
	if err := timed(claims, func() (err error) { c, err = store.Claim(ctx, r); return err }); err != nil {
		return err
	}
	err := timed(renewals, func() error {
		return store.Renew(ctx, driver.Renewal{Namespace: namespace, Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: r.ClaimID, Fence: c.Fence + 1, TTL: span})
	})
	// The claim is released in any case: no ID was issued under it.
	released, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(err, timed(releases, func() error {
		return store.Release(released, driver.Return{Namespace: namespace, Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: r.ClaimID, Fence: c.From})
	}))
}

func percentiles(what string, all []time.Duration) latency {
	slices.Sort(all)
	at := func(part float64) float64 {
		return float64(all[max(0, int(math.Ceil(part*float64(len(all))))-1)].Microseconds()) / 1000
	}
	return latency{What: what, P50: at(0.50), P99: at(0.99), Max: at(1)}
}
