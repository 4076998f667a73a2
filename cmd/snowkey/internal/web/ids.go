package web

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// maxIDs is how many ids one request makes.
const maxIDs = 10_000

type idsBody struct {
	IDs        []string `json:"ids"`
	Worker     string   `json:"worker"`     // datacenter<<worker_bits | worker
	Made       string   `json:"made"`       // generated or composed
	Guarantee  string   `json:"guarantee"`  // what that means, in words
	LayoutText string   `json:"layout"`     // in one line
	Form       string   `json:"form"`       // of the ids
	FirstTime  string   `json:"first_time"` // of the first id
	LastTime   string   `json:"last_time"`
}

const (
	generated = "by this server's generator of that worker number: never the same id twice while the server runs; somebody else who uses the number may make them too"
	composed  = "of the time that was given: a bound or test data, the same each time; not from a generator"
)

// ids makes ids of a worker number, which must be given: none is safe to guess.
func (s *server) ids(_ http.ResponseWriter, r *http.Request) (any, error) {
	p := newParams(r)
	l, _ := p.layout()
	valid := l.Validate() == nil
	n, ok := p.number("n", 1, maxIDs)
	if !ok {
		n = 1
	}
	form := p.choice("form", formDecimal, formHex, form32, form58, form62)
	worker := p.worker(l, valid)
	at, composing := p.time("time")
	_, hasTime := p.values["time"]
	sequence, given := p.number("sequence", 0, math.MaxInt64)
	if given && !hasTime {
		p.fault("sequence", quote(sequence), "is for ids of a time that is given; without, the generator counts")
	}
	if valid && !hasTime {
		if most := atOnce(l); n > most {
			p.fault("n", quote(n), fmt.Sprintf("must be at most %d: a worker of this layout makes %s ids a second", most, describe(l, time.Now()).PerSecond))
		}
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	ids := make([]int64, n)
	body := idsBody{Worker: quote(worker), LayoutText: l.String(), Form: form, Made: "generated", Guarantee: generated}
	if composing {
		body.Made, body.Guarantee = "composed", composed
		if err := compose(l, worker, at, sequence, ids); err != nil {
			return nil, outside(err, strings.ToLower)
		}
	} else if err := s.makers.fill(r.Context(), l, worker, ids); err != nil {
		return nil, err
	}
	for i, id := range ids {
		if id < 0 && form != formDecimal && form != formHex {
			return nil, refuse(http.StatusBadRequest, "form", form, fmt.Sprintf("has no negative ids, and one of these is %d", id))
		}
		body.IDs = append(body.IDs, writeID(id, form))
		if parts, err := l.Decode(id); err != nil {
			return nil, err
		} else if body.LastTime = formatTime(parts.Time); i == 0 {
			body.FirstTime = body.LastTime
		}
	}
	return body, nil
}

// worker reads the worker number: its two fields, or without datacenter the number as
// a whole, as in core.Fixed.
func (p *params) worker(l core.Layout, valid bool) int64 {
	const required = "must be given: a number that no other process has, or one that does not matter for a test"
	most, datacenters := int64(math.MaxInt64), int64(math.MaxInt64)
	if valid {
		most, datacenters = l.WorkerIDs()-1, int64(1)<<l.DatacenterBits-1
		if p.values.Has("datacenter") {
			most = int64(1)<<l.WorkerBits - 1
		}
	}
	dc, _ := p.number("datacenter", 0, datacenters)
	worker, _ := p.number("worker", 0, most)
	if !p.values.Has("worker") {
		p.fault("worker", "", required)
	}
	return dc<<l.WorkerBits | worker
}

// atOnce is how many ids one request may have: what the worker makes in about a second.
func atOnce(l core.Layout) int64 {
	perTick := l.IDsPerTick()
	if perTick >= maxIDs {
		return maxIDs
	}
	return min(perTick*max(1, int64(time.Second/l.Tick)), maxIDs)
}

// compose makes ids of one tick, from a sequence number on.
func compose(l core.Layout, worker int64, at time.Time, sequence int64, ids []int64) error {
	if last := l.IDsPerTick() - 1; sequence > last || int64(len(ids)) > last-sequence+1 {
		return refuse(http.StatusBadRequest, "n", quote(len(ids)), fmt.Sprintf("does not fit: a tick has the sequence numbers 0 to %d, and these begin at %d", last, sequence))
	}
	parts := core.Parts{Time: at, Datacenter: worker >> l.WorkerBits, Worker: worker & (int64(1)<<l.WorkerBits - 1)}
	for i := range ids {
		parts.Sequence = sequence + int64(i)
		id, err := l.Compose(parts)
		if err != nil {
			return err
		}
		ids[i] = id
	}
	return nil
}
