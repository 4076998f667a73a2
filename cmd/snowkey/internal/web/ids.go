package web

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
)

// maxIDs bounds the ids of one request.
const maxIDs = 10_000

type idsBody struct {
	IDs       []describe.Texts `json:"ids"`
	WorkerID  int64            `json:"worker_id"` // datacenter<<worker_bits | worker
	Source    string           `json:"source"`    // generator or composed
	Guarantee string           `json:"guarantee"` // of the source, in words
	Layout    string           `json:"layout"`    // in one line
	FirstTime string           `json:"first_time"`
	LastTime  string           `json:"last_time"`
}

const (
	generated = "from this server's generator for that worker ID: it generates no id twice while the server runs; another process that uses the worker ID may create the same ids"
	composed  = "composed for the given time: a bound or test data, the same each time; not from a generator"
)

// ids generates ids for a worker ID. There is no default, because none is safe to guess.
func (s *server) ids(p *params, _ http.ResponseWriter, r *http.Request) (any, error) {
	l := p.layout()
	valid := l.Validate() == nil
	n, ok := read(p, "n", flagval.Whole(1, maxIDs))
	if !ok {
		n = 1
	}
	format := p.format(describe.Decimal)
	worker := p.worker(l, valid)
	at, composing := read(p, "time", p.moment())
	hasTime := p.values.Has("time")
	sequence, given := read(p, "sequence", flagval.Whole(0, math.MaxInt64))
	if given && !hasTime {
		p.wrong("sequence", quote(sequence), "requires time: a generator counts by itself")
	}
	if valid && composing {
		p.config(describe.CheckTick(l, sequence, n))
	}
	if valid && !hasTime && !s.noIDs {
		if limit := atOnce(l); n > limit {
			p.wrong("n", quote(n), fmt.Sprintf("must be at most %d: a worker of this layout generates %s ids a second", limit, describe.NewLayout(l, time.Now()).PerSecond))
		}
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if s.noIDs && !hasTime {
		return nil, refuse(http.StatusForbidden, "time", "", "must be given: this server generates no ids, and composes those of a time")
	}
	ids := make([]int64, n)
	body := idsBody{WorkerID: worker, Layout: l.String(), Source: "generator", Guarantee: generated}
	if composing {
		body.Source, body.Guarantee = "composed", composed
		if err := describe.Compose(l, worker, at, sequence, ids); err != nil {
			return nil, outside(err, strings.ToLower)
		}
	} else if err := s.generators.fill(r.Context(), l, worker, ids); err != nil {
		return nil, err
	}
	for i, id := range ids {
		if id < 0 && format.Signed() {
			return nil, refuse(http.StatusBadRequest, "format", string(format), fmt.Sprintf("has no negative ids, and one of these is %d", id))
		}
		body.IDs = append(body.IDs, describe.Text(id, format))
		if parts, err := l.Decode(id); err != nil {
			return nil, err
		} else if body.LastTime = timetext.Format(parts.Time); i == 0 {
			body.FirstTime = body.LastTime
		}
	}
	return body, nil
}

// worker reads the worker ID: its two fields or, without datacenter, the whole worker ID
// as in core.Fixed.
func (p *params) worker(l core.Layout, valid bool) (id int64) {
	datacenter, given := read(p, "datacenter", flagval.Whole(0, math.MaxInt64))
	if !given {
		datacenter = -1
	}
	worker, given := read(p, "worker", flagval.Whole(0, math.MaxInt64))
	if !p.values.Has("worker") {
		p.wrong("worker", "", "must be given: a worker ID that no other process uses, or any in a test")
	}
	if valid && given {
		var err error
		id, err = describe.WorkerID(l, datacenter, worker)
		p.config(err)
	}
	return id
}

// atOnce limits a request to what the worker generates in about a second.
func atOnce(l core.Layout) int64 {
	return min(min(l.IDsPerTick(), maxIDs)*max(1, int64(time.Second/l.Tick)), maxIDs) // cannot overflow
}

// column is a name that needs no quotes in SQL.
var column = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62}){0,2}$`)

// ranges answers with the ids of [from, to), or of all times from one on.
func (s *server) ranges(p *params, _ http.ResponseWriter, _ *http.Request) (any, error) {
	l := p.layout()
	moment := p.moment()
	from, _ := read(p, "from", moment)
	if !p.values.Has("from") {
		p.wrong("from", "", "must be given: a time such as "+timetext.Forms)
	}
	to, bounded := read(p, "to", moment)
	name, ok := p.text("column")
	if !ok {
		name = "id"
	} else if !column.MatchString(name) {
		p.wrong("column", name, "must be a name of letters, digits and _, optionally after that of its table")
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if !bounded {
		low, err := l.FirstAt(from)
		if err != nil {
			return nil, outside(err, func(string) string { return "from" })
		}
		if l.Unsigned && describe.NewLayout(l, from).Bits == 64 && low >= 0 {
			return nil, refuse(http.StatusBadRequest, "to", "", "must be given: later ids of this layout are negative")
		}
		return describe.Range{From: stamp(from), Min: strconv.FormatInt(low, 10), Where: fmt.Sprintf("%s >= %d", name, low)}, nil
	}
	low, high, err := l.Range(from, to)
	if err != nil {
		return nil, outside(err, strings.ToLower)
	}
	return describe.NewRange(stamp(from), stamp(to), low, high, name), nil
}

// stamp repeats a time with all its digits.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// maxParsed bounds the ids of one request.
const maxParsed = 1000

type parseBody struct {
	IDs []describe.ID `json:"ids"`
}

// parse decodes the ids of the query.
func (s *server) parse(p *params, _ http.ResponseWriter, _ *http.Request) (any, error) {
	l := p.layout()
	assume := !slices.ContainsFunc(slices.Collect(maps.Keys(p.asked)), p.values.Has) // no parameter of a layout
	format := p.format(describe.Auto)
	texts := p.list("id")
	switch {
	case len(texts) == 0:
		p.wrong("id", "", "must be given, once for each id")
	case len(texts) > maxParsed:
		p.wrong("id", "", fmt.Sprintf("must be given at most %d times, not %d", maxParsed, len(texts)))
	}
	workers, _ := read(p, "workers", flagval.WorkerIDs)
	if err := p.end(); err != nil {
		return nil, err
	}
	body, view := parseBody{}, describe.View{Now: time.Now(), Workers: workers}
	if assume {
		view.Presets = describe.Recognize(texts, format, view.Now)
		l = view.Presets[0].Layout
	}
	for i, text := range texts {
		id, found, err := describe.Parse(text, format, l.Unsigned)
		if errors.As(err, new(*describe.AmbiguousError)) {
			err = fmt.Errorf("%w: choose with format", err)
		}
		var described describe.ID
		if err == nil {
			described, err = describe.New(l, id, text, found, view)
		}
		if err != nil {
			p.wrong(fmt.Sprintf("id[%d]", i), text, err.Error())
		}
		body.IDs = append(body.IDs, described)
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return body, nil
}
