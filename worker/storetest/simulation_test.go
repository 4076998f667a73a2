package storetest

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

var histories = flag.Int("histories", 800, "random histories of TestSimulation")

// The simulation has small numbers, so that everything meets.
const (
	simWindow  = 6
	simSkew    = 2
	simStep    = simWindow + simSkew
	simHolders = 3
	simSteps   = 700
)

// A simState is all that the store keeps.
type simState struct {
	ns, index         driver.Namespace
	missing           bool
	indexMissing      bool
	records           []driver.Record
	everIndex, everNS bool // something was ever there
}

func (s simState) clone() simState { s.records = slices.Clone(s.records); return s }

// A simCall is a request under way: it reads, and writes later, perhaps on another server.
type simCall struct {
	kind    string
	claim   driver.Claim
	renewal driver.Renewal
	release driver.Release
	read    driver.State
	change  driver.Change
	wrote   bool // the next step is to write
}

type simHolder struct {
	live          bool
	claim         string
	worker, token int64
	cursor, fence int64
	sent          *driver.Claim // not answered yet
	former        driver.Former
}

type world struct {
	r       *rand.Rand
	rules   map[string]bool // that are changed
	t, off  int64           // the time, and by how much the server's clock is ahead
	life    int             // of the server
	now     simState
	history []simState
	holders []simHolder
	calls   []simCall // late ones
	claims  int
	issued  map[[2]int64]string
	ids     int
	backs   int
	workers int64 // the number of worker IDs
	often   int   // how often the store is put back, and operators act
	high    int64 // by how much the floor was ahead of the clock, unless an operator has raised it
	raised  bool
}

func (w *world) clock() int64   { return w.t + w.off }
func (w *world) server() string { return fmt.Sprint("life ", w.life) }

func (w *world) state() driver.State {
	s := driver.State{
		Now: w.clock(), Server: w.server(), Namespace: w.now.ns, Missing: w.now.missing, New: !w.now.everNS,
		Count: int64(len(w.now.records)), Records: slices.Clone(w.now.records),
	}
	if s.Missing {
		s.Namespace = driver.Namespace{Name: "n"}
	}
	if w.rules["index"] {
		s.Index = &driver.State{Now: s.Now, Server: s.Server, Namespace: w.now.index, Missing: w.now.indexMissing, New: !w.now.everIndex, Count: 1}
		if !s.Missing {
			s.Index.Count++
		}
		if s.Index.Missing {
			s.Index.Namespace = driver.Namespace{}
		}
		s.New = false
	}
	w.r.Shuffle(len(s.Records), func(i, j int) { s.Records[i], s.Records[j] = s.Records[j], s.Records[i] })
	return s
}

// decide is the rule, or a mutant.
func (w *world) decide(c *simCall, s driver.State) (driver.Change, error) {
	m := w.rules
	seen := s // what the mutant sees
	seen.Records = slices.Clone(s.Records)
	for i := range seen.Records {
		rec := &seen.Records[i]
		late := rec.Status == driver.Held || rec.Status == driver.Freed
		switch {
		case c.kind != "claim":
		case m["nograce"] && late && rec.Fence < s.Now, m["notstrict"] && late && rec.Fence+s.Namespace.MaxSkew == s.Now, m["freeatonce"] && rec.Status == driver.Freed:
			rec.Status = driver.Released
		}
		if m["ownclock"] && c.kind == "claim" && !rec.IsHeld(s.Now, s.Namespace.MaxSkew) {
			rec.Fence = 0
		}
	}
	if m["noseen"] {
		seen.Count = max(s.Count, s.Namespace.Seen)
	}
	if m["noindexseen"] && s.Index != nil {
		index := *s.Index
		index.Count = max(index.Count, index.Namespace.Seen)
		seen.Index = &index
	}
	if m["new"] {
		seen.New = true
	}
	var ch driver.Change
	var err error
	switch c.kind {
	case "claim":
		ch, err = c.claim.Decide(seen)
	case "renew":
		switch {
		case m["renewexpired"]:
			seen.Namespace.Since = -1
		case m["renewat"]:
			seen.Namespace.Since--
		case m["norecord"] && !s.Missing && s.Namespace.Incarnation != s.Server:
			seen.Namespace.Incarnation, seen.Namespace.Since = s.Server, max(s.Now, s.Namespace.Floor)
		case m["highexpired"] && s.Namespace.Incarnation != s.Server && s.Namespace.Floor > s.Now+simStep:
			seen.Namespace.Incarnation, seen.Namespace.Since = s.Server, -1
		}
		ch, err = c.renewal.Decide(seen)
	case "raise":
		ch, err = seen.Raise(0)
	}
	if err != nil {
		return ch, err
	}
	if ch.Namespace != nil && ch.Namespace.Floor > s.Namespace.Floor {
		switch {
		case m["nofloor"]:
			ch.Namespace.Floor = s.Namespace.Floor
		case m["nonested"]:
			ch.Namespace.Floor = s.Now + simStep
		case m["lowfloor"]:
			ch.Namespace.Floor -= simWindow - 1
		case m["floorskew"]:
			ch.Namespace.Floor -= simSkew
		case m["lowsince"]:
			ch.Namespace.Since = s.Now
		}
	}
	if rec := ch.Record; rec != nil {
		old := find(s, rec.Worker)
		switch {
		case m["unbounded"]:
			rec.Fence += 3 * simWindow
		case m["counttoken"] && c.kind == "claim":
			rec.FencingToken = old.FencingToken + 1
		case m["former"] && c.kind == "claim" && old.ClaimID == c.claim.Former.ClaimID:
			rec.Start = max(min(c.claim.Now, s.Now), s.Namespace.Floor)
		}
		ch.Lease.Fence, ch.Lease.FencingToken, ch.Lease.Start = rec.Fence, rec.FencingToken, rec.Start
	} else if m["replay"] && ch.Make == nil && ch.Namespace == nil && ch.Index == nil {
		ch.Lease.Start = ch.Lease.Fence - simWindow
	}
	return ch, nil
}

// fits is the condition of the write, or a mutant's.
func (w *world) fits(c *simCall, now driver.State) bool {
	m, read, ch := w.rules, c.read, c.change
	if m["noseencheck"] && ch.Record != nil {
		read.Namespace.Seen = now.Namespace.Seen
	}
	switch {
	case m["readserver"]:
		now.Server = read.Server
	case m["nofloorcheck"]:
		read.Namespace.Floor = now.Namespace.Floor
	case m["norecordcheck"] && ch.Record != nil && find(now, ch.Record.Worker).Status != "":
		read.Records = now.Records
	case m["highexpired"] && c.kind == "renew":
		now.Server, read.Server = now.Namespace.Incarnation, read.Namespace.Incarnation
	case m["noservercheck"]:
		now.Server = now.Namespace.Incarnation
	}
	if m["norecord"] && c.kind == "renew" && ch.Record != nil {
		rec := find(read, ch.Record.Worker)
		return find(now, rec.Worker) == rec && now.Namespace.Floor == read.Namespace.Floor && !now.Missing &&
			(now.Namespace.Incarnation == now.Server && rec.Fence > now.Namespace.Since || now.Namespace.Incarnation != now.Server && rec.Fence > max(now.Now, now.Namespace.Floor))
	}
	return fits(ch, read, now)
}

// write applies a change.
func (w *world) write(ch driver.Change) {
	n := &w.now
	if ch.Index != nil {
		n.index, n.indexMissing, n.everIndex = *ch.Index, false, true
	}
	switch {
	case ch.Namespace != nil:
		n.ns, n.missing, n.everNS = *ch.Namespace, false, true
		if !w.raised {
			w.high = max(w.high, n.ns.Floor-w.clock())
		}
	case ch.Make != nil:
		id := *ch.Make
		for i := int64(0); id == driver.MakeAny && i < w.workers; i++ { // one by one
			if find(driver.State{Records: n.records}, i).Status == "" {
				id = i
			}
		}
		if id != driver.MakeAny && find(driver.State{Records: n.records}, id).Status == "" {
			n.records = append(n.records, driver.Record{Worker: id, Status: driver.Unused})
			if !w.rules["makefirst"] {
				n.ns.Seen++
			}
		}
	case ch.Record == nil: // of the index only
	default:
		for i := range n.records {
			if n.records[i].Worker == ch.Record.Worker {
				n.records[i] = *ch.Record
			}
		}
	}
	w.commit()
}

func (w *world) commit() {
	w.history = append(w.history, w.now.clone())
	if len(w.history) > 60 {
		w.history = w.history[1:]
	}
}

// advance makes one step of a call: it reads, or writes. It is over with an answer or an error.
func (w *world) advance(c *simCall) (l driver.Lease, over bool, err error) {
	now := w.state()
	if c.kind == "release" {
		rec, err := c.release.Decide(find(now, c.release.Worker))
		if err == nil {
			w.write(driver.Change{Record: &rec})
		}
		return l, true, err
	}
	if c.wrote {
		c.wrote = false
		if w.fits(c, now) {
			w.write(c.change)
			return c.change.Lease, c.change.Record != nil, nil
		}
		return l, false, nil
	}
	c.read = now
	c.change, err = w.decide(c, now)
	if err != nil || c.change.Index == nil && c.change.Namespace == nil && c.change.Make == nil && c.change.Record == nil {
		return c.change.Lease, true, err
	}
	c.wrote = true
	return l, false, nil
}

// call makes the steps of a call, unless it stops on the way: then it continues later.
func (w *world) call(c simCall) (l driver.Lease, ok bool, err error) {
	if w.r.IntN(6) == 0 {
		w.calls = append(w.calls, c) // it is delivered twice
	}
	for range 12 {
		l, over, err := w.advance(&c)
		if over {
			return l, err == nil && w.r.IntN(6) > 0, err // or its answer is lost
		}
		if w.r.IntN(8) == 0 {
			break
		}
	}
	w.calls = append(w.calls, c)
	return l, false, nil
}

// back puts the store back to an earlier state, on another server.
func (w *world) back() {
	k := w.r.IntN(len(w.history))
	if w.r.IntN(2) == 0 {
		k = max(k, len(w.history)-6)
	}
	past := w.history[k:]
	to := past[0].clone()
	if !w.rules["whole"] && w.r.IntN(2) == 0 { // each record, the namespace, and the index separately
		pick := func() simState { return past[w.r.IntN(len(past))] }
		ns, index := pick(), pick()
		to.ns, to.missing = ns.ns, ns.missing
		to.index, to.indexMissing = index.index, index.indexMissing
		to.records = nil
		for id := range w.workers {
			if rec := find(driver.State{Records: pick().records}, id); rec.Status != "" {
				to.records = append(to.records, rec)
			}
		}
	}
	if !w.keepsFloor(&to) {
		return
	}
	to.everNS, to.everIndex = true, true
	w.backs++
	w.now, w.history = to, w.history[:k+1]
	w.commit()
	w.life++
	w.off = simSkew * w.r.Int64N(4) / 3
}

// keepsFloor makes a state one that has not lost a floor which is ahead of the clock, if it can.
func (w *world) keepsFloor(to *simState) bool {
	if !w.now.missing && w.now.ns.Floor > w.t {
		if to.missing {
			return false
		}
		if to.ns.Floor < w.now.ns.Floor {
			to.ns = w.now.ns
		}
	}
	if !w.now.indexMissing && w.now.index.Floor > w.t {
		if to.indexMissing {
			return false
		}
		if to.index.Floor < w.now.index.Floor {
			to.index = w.now.index
		}
	}
	return true
}

// operate is what an operator does.
func (w *world) operate() {
	if len(w.now.records) == 0 {
		return
	}
	i := w.r.IntN(len(w.now.records))
	to := w.now.clone()
	switch w.r.IntN(12) {
	case 0, 1, 2, 3:
		rec, err := to.records[i].Free(to.records[i].FencingToken)
		if err != nil {
			return
		}
		to.records[i] = rec
	case 4, 5:
		to.records = slices.Delete(to.records, i, i+1)
	case 6:
		to.records = nil
	case 7:
		to.missing = true
	case 8:
		to.missing, to.records = true, nil
	case 9:
		to.missing, to.records, to.indexMissing = true, nil, true
	case 10:
		to.indexMissing = true
	case 11:
		if w.rules["raises"] {
			w.raised = true
			_, _, _ = w.call(simCall{kind: "raise"})
		}
		return
	}
	if w.keepsFloor(&to) {
		w.now = to
		w.commit()
	}
}

func (w *world) step() (duplicate string) {
	r := w.r
	h := &w.holders[r.IntN(len(w.holders))]
	clock := func() int64 { return w.t + r.Int64N(9) - 4 }
	switch r.IntN(13) {
	case 0, 1:
		w.t++
		w.off = simSkew * r.Int64N(4) / 3 // mostly one of both ends
	case 2:
		switch n := len(w.now.records); {
		case n > 0 && r.IntN(3) == 0: // to where a worker ID can be claimed, or nearly
			w.t = max(w.t, w.now.records[r.IntN(n)].Fence-w.off+r.Int64N(simSkew+2))
		case r.IntN(6) == 0:
			w.t += r.Int64N(2 * simWindow)
		}
	case 3, 4: // it claims, perhaps the same again
		if h.live {
			return
		}
		if h.sent == nil {
			w.claims++
			h.sent = &driver.Claim{
				Namespace: "n", Layout: "l", WorkerIDs: w.workers, Preferred: -1, Exclude: -1, ClaimID: fmt.Sprint(w.claims),
				FenceWindow: simWindow, MaxSkew: simSkew,
			}
			if w.rules["smaller"] && r.IntN(2) == 0 {
				h.sent.FenceWindow -= 3
			}
			if r.IntN(4) == 0 {
				h.sent.Preferred = r.Int64N(w.workers)
			}
			if r.IntN(2) == 0 {
				h.sent.Former = h.former
			}
		}
		h.sent.Now = clock()
		claim := h.sent.ClaimID
		if l, ok, _ := w.call(simCall{kind: "claim", claim: *h.sent}); ok {
			*h = simHolder{live: true, claim: claim, worker: l.Worker, token: l.FencingToken, cursor: l.Start, fence: l.Fence}
			if r.IntN(30/w.often) == 0 {
				w.back()
			}
		}
	case 5, 6:
		if !h.live {
			return
		}
		window := simWindow - 3 + r.Int64N(5)
		q := driver.Renewal{Namespace: "n", Worker: h.worker, ClaimID: h.claim, FencingToken: h.token, FenceWindow: window, Keep: r.IntN(10) == 0}
		if l, ok, err := w.call(simCall{kind: "renew", renewal: q}); ok {
			h.fence = max(h.fence, l.Fence)
		} else if errors.Is(err, driver.ErrNotHeld) && r.IntN(2) == 0 {
			w.end(h)
		}
	case 7: // it closes, and releases
		if h.live && r.IntN(3) == 0 {
			w.end(h)
			q := driver.Release{Namespace: "n", Worker: h.former.Worker, ClaimID: h.former.ClaimID, FencingToken: h.former.FencingToken, Unused: h.former.Unused}
			if r.IntN(3) > 0 {
				_, _, _ = w.call(simCall{kind: "release", release: q})
			}
		}
	case 8, 9: // a call that is late continues
		if len(w.calls) > 0 {
			i := r.IntN(len(w.calls))
			c := w.calls[i]
			_, over, _ := w.advance(&c)
			if w.calls[i] = c; over && r.IntN(2) == 0 {
				w.calls = slices.Delete(w.calls, i, i+1)
			}
			if len(w.calls) > 12 {
				w.calls = w.calls[6:]
			}
		}
	case 10:
		switch {
		case r.IntN(24/w.often) == 0:
			w.back()
		case r.IntN(12/w.often) == 0:
			w.operate()
		}
	case 11, 12: // it issues an id, by a clock that shows anything
		if !h.live {
			return
		}
		at := max(h.cursor, clock())
		if at >= h.fence {
			return
		}
		by := fmt.Sprint(h.claim, "/", h.token)
		if other, ok := w.issued[[2]int64{h.worker, at}]; ok && other != by {
			return fmt.Sprintf("worker ID %d has issued an id of %d under the claims %s and %s; t=%d, floor %d, life %d", h.worker, at, other, by, w.t, w.now.ns.Floor, w.life)
		}
		w.issued[[2]int64{h.worker, at}] = by
		w.ids++
		h.cursor = at + 1
	}
	return ""
}

// end closes the grant of a holder.
func (w *world) end(h *simHolder) {
	*h = simHolder{former: driver.Former{Worker: h.worker, ClaimID: h.claim, FencingToken: h.token, Unused: h.cursor}}
}

// simulate runs one history.
func simulate(seed uint64, rules string) (duplicate string, w *world) {
	w = &world{
		r: rand.New(rand.NewPCG(seed, 7)), rules: map[string]bool{}, t: 100, holders: make([]simHolder, simHolders), issued: map[[2]int64]string{},
		now: simState{missing: true, indexMissing: true}, often: 1 + int(seed%6), workers: 1 + int64(seed/6%3),
	}
	for _, rule := range strings.Fields(rules) {
		w.rules[rule] = true
	}
	w.commit()
	for range simSteps {
		if duplicate = w.step(); duplicate != "" {
			break
		}
	}
	return duplicate, w
}

// The rules of package driver, over random histories of a store that forgets. Without any one of
// them, there are duplicates.
func TestSimulation(t *testing.T) {
	for _, rules := range []string{"", "raises", "index", "index raises", "whole", "norecord index raises", "noseencheck"} {
		t.Run("holds "+rules, func(t *testing.T) {
			t.Parallel()
			ids, backs, claims, high := 0, 0, 0, int64(0)
			for seed := range *histories {
				duplicate, w := simulate(uint64(seed), rules)
				if duplicate != "" {
					t.Fatalf("seed %d: %s", seed, duplicate)
				}
				ids, backs, claims, high = ids+w.ids, backs+w.backs, claims+w.claims, max(high, w.high)
			}
			t.Logf("%d ids of %d claims, put back %d times, floor at most %d ahead", ids, claims, backs, high)
		})
	}
	for mutant, first := range map[string]uint64{ // where to begin, for those that are rare
		"nofloor": 0, "nonested": 0, "lowfloor": 0, "floorskew": 0, "lowsince": 0, "noseen": 0, "new": 0, "makefirst": 0, "noindexseen index": 0,
		"nograce": 17175, "notstrict renewat": 53600, "freeatonce": 0, "ownclock": 0, "former": 0, "replay": 0, "counttoken": 53600,
		"renewexpired": 0, "highexpired": 4239, "unbounded": 0, "readserver": 0, "noservercheck": 0, "nofloorcheck noseencheck": 5513, "norecordcheck": 0,
	} {
		t.Run("mutant "+mutant, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(*histories) * 10 {
				if duplicate, _ := simulate(first+seed, mutant); duplicate != "" {
					t.Logf("history %d: %s", first+seed, duplicate)
					return
				}
			}
			t.Errorf("no duplicate in %d histories", *histories*10)
		})
	}
}

// fits reports whether a change that was decided on what was read can be written now: see
// driver.Change.
func fits(ch driver.Change, read, now driver.State) bool {
	ns := now.Namespace
	same := now.Missing == read.Missing && ns == read.Namespace
	index := read.Index == nil || now.Index != nil && now.Index.Missing == read.Index.Missing && now.Index.Namespace == read.Index.Namespace
	switch {
	case ch.Index != nil && ch.Namespace == nil:
		return index
	case ch.Index != nil:
		return same && index
	case ch.Namespace != nil, ch.Make != nil:
		return same
	}
	rec := find(read, ch.Record.Worker)
	if find(now, rec.Worker) != rec || ns.Floor != read.Namespace.Floor || ns.Seen != read.Namespace.Seen {
		return false
	}
	if ch.Record.ClaimID == rec.ClaimID && read.Namespace.Incarnation != read.Server { // a renewal when the floor may not rise
		return ns.Incarnation != now.Server && rec.Fence > ns.Floor
	}
	return ns.Incarnation == now.Server
}

// find returns the record of a worker ID, or none.
func find(s driver.State, worker int64) driver.Record {
	for _, rec := range s.Records {
		if rec.Worker == worker {
			return rec
		}
	}
	return driver.Record{}
}
