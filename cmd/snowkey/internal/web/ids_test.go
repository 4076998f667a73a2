package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
)

// Concurrent requests for one worker ID, written in different ways, return no id twice.
func TestNoDuplicates(t *testing.T) {
	h := handler(t, Config{patience: time.Minute}) // on a busy machine
	// All are Twitter's layout and worker ID 35 of 1024, so one pair.
	queries := []string{
		"worker=35", "datacenter=1&worker=3", "preset=twitter&worker=35", "time_bits=41&worker_bits=10&sequence_bits=12&worker=35",
		"time_bits=42&worker_bits=10&sequence_bits=12&unsigned=true&worker=35", "time_bits=40&datacenter_bits=10&sequence_bits=12&datacenter=35&worker=0&n=3",
		"time_bits=41&rollback_bits=3&worker_bits=7&sequence_bits=12&worker=35", "tick=1ms&epoch=1288834974657&worker=35",
	}
	var mu sync.Mutex
	seen := map[string]string{}
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 60 {
				query := queries[(g+i)%len(queries)]
				if g%2 == 0 && query != queries[5] {
					query += fmt.Sprintf("&n=%d", 1+i%50)
				}
				w := ask(h, http.MethodGet, "/api/ids?"+query)
				var body idsBody
				if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != http.StatusOK || len(body.IDs) == 0 {
					t.Errorf("%s: %d %s", query, w.Code, w.Body)
					return
				}
				mu.Lock()
				for _, id := range body.IDs {
					if before, ok := seen[id.ID]; ok {
						t.Errorf("%s came twice: %s and %s", id.ID, before, query)
					}
					seen[id.ID] = query
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) < 5000 {
		t.Errorf("only %d ids", len(seen))
	}
}

// Layouts whose ids are other numbers do not share a pair; TestNoDuplicates has those that must.
func TestPairs(t *testing.T) {
	base := core.Layout{TimeBits: 41, DatacenterBits: 5, WorkerBits: 5, SequenceBits: 12}.WithDefaults()
	for i, change := range []func(*core.Layout){
		func(l *core.Layout) { l.SequenceFirst = true },
		func(l *core.Layout) { l.Tick = 10 * time.Millisecond },
		func(l *core.Layout) { l.Epoch = l.Epoch.Add(time.Millisecond) },
		func(l *core.Layout) { l.WorkerBits = 4 },
		func(l *core.Layout) { l.SequenceBits = 11 },
		func(l *core.Layout) { l.TimeBits, l.RollbackBits = 40, 1 },
	} {
		l := base
		if change(&l); pairOf(l, 7) == pairOf(base, 7) {
			t.Errorf("%d: %v has the pair of %v", i, l, base)
		}
	}
}

// randomLayout returns a valid layout, which may have ended.
func randomLayout(r *rand.Rand) core.Layout {
	for {
		l := core.Layout{
			Epoch: time.UnixMilli(r.Int64N(1_700_000_000_000)), Tick: time.Duration(1+r.Int64N(20)) * time.Millisecond,
			TimeBits: uint8(1 + r.IntN(50)), RollbackBits: uint8(r.IntN(4)), DatacenterBits: uint8(r.IntN(8)), WorkerBits: uint8(r.IntN(12)), SequenceBits: uint8(r.IntN(24)),
			SequenceFirst: r.IntN(2) == 0, Unsigned: r.IntN(4) == 0,
		}
		if l.Validate() == nil {
			return l
		}
	}
}

func queryOf(l core.Layout) url.Values {
	q := url.Values{}
	q.Set("epoch", timetext.Format(l.Epoch))
	q.Set("tick", l.Tick.String())
	for name, bits := range map[string]uint8{"time_bits": l.TimeBits, "rollback_bits": l.RollbackBits, "datacenter_bits": l.DatacenterBits, "worker_bits": l.WorkerBits, "sequence_bits": l.SequenceBits} {
		q.Set(name, strconv.Itoa(int(bits)))
	}
	q.Set("sequence_first", strconv.FormatBool(l.SequenceFirst))
	q.Set("unsigned", strconv.FormatBool(l.Unsigned))
	return q
}

// The ids of the widest layout of a pair decode correctly in each of its layouts.
func TestWidest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := newGenerators(1<<20, time.Minute)
	made := 0
	for range 1500 {
		l := randomLayout(r)
		worker := r.Int64N(l.WorkerIDs())
		ids := make([]int64, min(3, atOnce(l)))
		before := time.Now()
		err := m.fill(t.Context(), l, worker, ids)
		var refused *refusal
		if errors.As(err, &refused) {
			if l.End().After(time.Now().Add(time.Minute)) {
				t.Fatalf("%v: %v", l, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%v: %v", l, err)
		}
		made++
		for _, id := range ids {
			p, err := l.Decode(id)
			if err != nil || p.Datacenter<<l.WorkerBits|p.Worker != worker || p.Rollback != 0 || p.Time.Before(before.Add(-time.Second)) || p.Time.After(time.Now().Add(time.Second)) {
				t.Fatalf("%v, worker %d: %d is %+v, %v", l, worker, id, p, err)
			}
		}
	}
	if made < 100 {
		t.Errorf("only %d layouts made ids", made)
	}
}

// Ids of a given time are core's, in every format.
func TestComposed(t *testing.T) {
	h := handler(t, Config{})
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for _, format := range append(describe.Formats(), "ord_") {
		body := get[idsBody](t, h, "/api/ids?datacenter=3&worker=7&n=2&sequence=9&time=2026-01-31T12:00:00Z&format="+string(format))
		if body.Source != "composed" || body.WorkerID != 103 || len(body.IDs) != 2 || body.FirstTime != "2026-01-31T12:00:00.000Z" {
			t.Errorf("%+v", body)
		}
		for i, got := range body.IDs {
			want, err := core.Twitter().Compose(core.Parts{Time: at, Datacenter: 3, Worker: 7, Sequence: 9 + int64(i)})
			must(t, err)
			if got != describe.Text(want, format) {
				t.Errorf("%s: %+v, want %+v", format, got, describe.Text(want, format))
			}
		}
	}
	if body := get[idsBody](t, h, "/api/ids?worker=103"); body.Source != "generator" || len(body.IDs) != 1 {
		t.Errorf("%+v", body)
	}
}
