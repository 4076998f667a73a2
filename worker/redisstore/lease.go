package redisstore

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

//go:embed *.lua
var scripts embed.FS

const (
	all    = -1  // records
	enough = 250 // of them, for a claim
)

// A transaction is one call of the store. It keeps what it has read last.
type transaction struct {
	store     *Store
	name      string
	keys      []string
	namespace string           // in JSON
	records   map[int64]string // by worker ID
	count     string
	claimed   string // the worker ID that the claim has or had
	age       int64  // of a server that a crash lets forget all that it has done, in milliseconds; -1: of another
}

func (s *Store) open(name, claimID string) (*transaction, error) {
	if err := s.check(name); err != nil {
		return nil, err
	}
	return &transaction{store: s, name: name, keys: []string{s.key("lease", name), s.key("claim", name) + ":" + claimID, s.key("worker", name)}}, nil
}

// encode returns a driver.Namespace or driver.Record as it is kept. The scripts rely on the order of
// its fields.
func encode(value any) string {
	text, _ := json.Marshal(value) //nolint:errchkjson // it has numbers and strings only
	return string(text)
}

func (t *transaction) run(ctx context.Context, script string, args ...any) (reply, error) {
	return t.store.run(ctx, script, []string{"server", script}, t.keys, args...)
}

// read returns the namespace with n of its records, at random, those of the worker IDs, and that of
// the claim.
func (t *transaction) read(ctx context.Context, n int64, ids ...any) (st driver.State, err error) {
	answer, err := t.run(ctx, "read", append([]any{n}, ids...)...)
	if err != nil {
		return st, err
	}
	if answer.is("old", 0) {
		return st, driver.Permanent(fmt.Errorf("redisstore: the key %q is of an unreleased version of snowkey: delete it when no program uses it", t.keys[2]))
	}
	const fixed = 7
	v := answer.values
	if len(v) < fixed || (len(v)-fixed)%2 != 0 {
		return st, answer.unexpected()
	}
	numbers, err := reply{answer.what, v[:4]}.integers("ok", 3)
	if err != nil {
		return st, err
	}
	st.Now, st.Count, st.Server, st.Missing = numbers[0], numbers[2], v[4], v[6] == ""
	t.age, t.count, t.claimed, t.namespace, t.records = numbers[1], v[3], v[5], v[6], make(map[int64]string)
	if !st.Missing {
		err = json.Unmarshal([]byte(v[6]), &st.Namespace)
	}
	st.Namespace.Name = t.name
	for pair := range slices.Chunk(v[fixed:], 2) {
		if pair[1] == "" || pair[0] == "namespace" {
			continue
		}
		var rec driver.Record
		if bad := json.Unmarshal([]byte(pair[1]), &rec); bad != nil || rec.Status == "" || strconv.FormatInt(rec.Worker, 10) != pair[0] {
			err = fmt.Errorf("the field %.100q holds %.300q, which is not the record of a worker ID", pair[0], pair[1])
		} else if t.records[rec.Worker] == "" {
			t.records[rec.Worker], st.Records = pair[1], append(st.Records, rec)
		}
	}
	if err != nil {
		err = driver.Permanent(fmt.Errorf("%s: %w", answer.what, err))
	}
	return st, err
}

// sample reads what a claim needs: of a large namespace some records, unless none of them can be
// claimed.
func (t *transaction) sample(ctx context.Context, c driver.Claim) (driver.State, error) {
	st, err := t.read(ctx, enough, c.Preferred, c.Former.Worker)
	if err != nil || int64(len(st.Records)) == st.Count || c.RequirePreferred {
		return st, err
	}
	if ch, err := c.Decide(st); errors.Is(err, driver.ErrNoWorkerID) || ch.Make != nil && *ch.Make == driver.Any {
		return t.read(ctx, all)
	}
	return st, nil
}

// decide is c.Decide, but a server that could forget the floor must have lived for as long as that
// is ahead: then all ids of its life before are in the past of the new floor. Otherwise one that
// crashes again and again would repeat them.
func (t *transaction) decide(c driver.Claim) func(driver.State) (driver.Change, error) {
	return func(st driver.State) (driver.Change, error) {
		ch, err := c.Decide(st)
		if ns := ch.Namespace; err == nil && ns != nil && ns.Floor > st.Namespace.Floor && t.age >= 0 {
			if wait := ns.FenceWindow + ns.MaxSkew - t.age; wait > 0 {
				return driver.Change{}, &driver.FloorError{Namespace: t.name, Wait: wait}
			}
		}
		return ch, err
	}
}

// write writes a change: of a claim, or c is nil.
func (t *transaction) write(ctx context.Context, ch driver.Change, c *driver.Claim) (written bool, err error) {
	script, args := "write", []any{"change", t.namespace, t.claimed}
	switch {
	case ch.Make != nil:
		script, args = "make", []any{*ch.Make, c.WorkerIDs, int64(driver.MakeAtOnce), t.namespace, t.count}
	case ch.Namespace != nil:
		args = []any{"namespace", t.namespace, "", "namespace", "", encode(ch.Namespace)}
	default:
		id := ch.Record.Worker
		if c != nil {
			f := c.Former
			args[0] = "claim"
			if f.ClaimID != "" && strings.HasPrefix(t.records[id], begin(id, f.ClaimID, f.FencingToken)) {
				args[0] = "own"
			}
		}
		args = append(args, id, t.records[id], encode(ch.Record))
	}
	answer, err := t.run(ctx, script, args...)
	if err == nil && !answer.is("ok", 0) && !answer.is("changed", 0) {
		err = answer.unexpected()
	}
	return err == nil && answer.is("ok", 0), err
}

// begin is how the record of a claim begins.
func begin(workerID int64, claimID string, fencingToken int64) string {
	text, _, _ := strings.Cut(encode(driver.Record{Worker: workerID, ClaimID: claimID, FencingToken: fencingToken}), `"start":`)
	return text
}

// renew renews a lease, unless the script refuses it.
func (t *transaction) renew(ctx context.Context, r driver.Renewal) (l driver.Lease, renewed bool, err error) {
	answer, err := t.run(ctx, "renew", r.Worker, begin(r.Worker, r.ClaimID, r.FencingToken), r.FenceWindow, r.Keep)
	if err != nil || answer.is("refused", 0) {
		return l, false, err
	}
	n, err := answer.integers("ok", 2)
	if err != nil {
		return l, false, err
	}
	return driver.Lease{Worker: r.Worker, FencingToken: r.FencingToken, Start: n[0], Fence: n[1]}, true, nil
}

// change makes a change that is no claim and no renewal.
func (s *Store) change(ctx context.Context, name string, n, workerID int64, decide func(driver.State) (driver.Change, error)) error {
	t, err := s.open(name, "")
	if err != nil {
		return err
	}
	return driver.Retry(ctx, func() (bool, error) {
		st, err := t.read(ctx, n, workerID)
		if err == nil && n != all && len(st.Records) == 0 {
			err = driver.ErrNotHeld
		}
		if err != nil {
			return false, err
		}
		ch, err := decide(st)
		if err != nil {
			return false, err
		}
		return t.write(ctx, ch, nil)
	})
}
