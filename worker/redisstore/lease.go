package redisstore

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

const (
	readAll    = -1  // records
	readEnough = 250 // records, for a claim
)

// A transaction is one call of the store.
type transaction struct {
	store   *Store
	name    string
	claim   driver.Claim // empty in other calls
	claimed string       // the worker ID that the claim has or had
	age     int64        // for how many milliseconds the server has run, if a crash may make it forget a floor; otherwise -1
	young   bool         // renew without raising the floor: see decideRenewal
}

// encode returns a driver.Namespace or driver.Record as Redis keeps it. The scripts rely on the order
// of its fields.
func encode(value any) string {
	text, _ := json.Marshal(value) //nolint:errchkjson // it has only numbers and strings
	return string(text)
}

func (t *transaction) run(ctx context.Context, script string, args ...any) (reply, error) {
	keys := []string{t.store.key("lease", t.name), t.store.key("claim", t.name) + ":" + t.claim.ClaimID}
	return t.store.run(ctx, script, []string{"server", script}, keys, args...)
}

// read returns the namespace with n random records, and the records of the worker IDs and of the
// claim.
func (t *transaction) read(ctx context.Context, n int64, ids ...any) (st driver.State, err error) {
	var answer struct {
		driver.State
		Age     int64  `json:"age"`
		Claimed string `json:"claimed"`
	}
	r, err := t.run(ctx, "read", append([]any{n}, ids...)...)
	if err != nil {
		return st, err
	}
	if len(r.values) != 1 {
		return st, r.unexpected()
	}
	if err := json.Unmarshal([]byte(r.values[0]), &answer); err != nil {
		return st, driver.Permanent(fmt.Errorf("%s: %w", r.what, err))
	}
	t.age, t.claimed, st = answer.Age, answer.Claimed, answer.State
	if st.Namespace.Name = t.name; st.Server == "" {
		err = r.unexpected()
	}
	return st, err
}

// tooYoung returns for how long a change must not raise the floor. A server that could forget the floor
// must first have run for as long as the floor is ahead of the clock: then all ids from before its start
// are below the new floor. Otherwise a server that crashes again and again would repeat ids.
func (t *transaction) tooYoung(st driver.State, ch driver.Change) (wait int64) {
	ns := ch.Namespace
	if ns == nil || ns.Floor <= st.Namespace.Floor || t.age < 0 {
		return 0
	}
	return max(ns.FenceWindow+ns.MaxSkew-t.age, 0)
}

// decideClaim is like Claim.Decide, but refuses the claim while the server is too young.
func (t *transaction) decideClaim(st driver.State) (driver.Change, error) {
	ch, err := t.claim.Decide(st)
	if wait := t.tooYoung(st, ch); wait > 0 {
		return driver.Change{}, &driver.FloorError{Namespace: t.name, Wait: wait}
	}
	return ch, err
}

// decideRenewal is like r.Decide. But while the server is too young, a lease is renewed without a new floor
// if its fence has not passed: then no forgotten claim had its worker ID.
func (t *transaction) decideRenewal(r driver.Renewal, st driver.State) (driver.Change, error) {
	ch, err := r.Decide(st)
	if t.young = t.tooYoung(st, ch) > 0; t.young {
		st.Namespace.Incarnation, st.Namespace.Since = st.Server, max(st.Namespace.Floor, st.Now)
		return r.Decide(st)
	}
	return ch, err
}

// write writes a change.
func (t *transaction) write(ctx context.Context, st driver.State, ch driver.Change) (written bool, err error) {
	namespace := "" // as Redis keeps it
	if !st.Missing {
		namespace = encode(st.Namespace)
	}
	script, args := "write", []any{"change", namespace, t.claimed}
	switch {
	case ch.Make != nil:
		script, args = "make", []any{*ch.Make, t.claim.WorkerIDs, driver.MakeAtOnce, namespace}
	case ch.Namespace != nil:
		args = []any{"namespace", namespace, "", "namespace", "", encode(ch.Namespace)}
	default:
		switch {
		case ch.Expired:
			args[0] = "expired"
		case t.claim.ClaimID != "":
			args[0] = "claim"
		}
		args = append(args, ch.Old.Worker, encode(ch.Old), encode(ch.Record))
	}
	r, err := t.run(ctx, script, args...)
	return r.ok && err == nil, err
}

// renew renews a lease, and reports whether the script has done so.
func (t *transaction) renew(ctx context.Context, q driver.Renewal) (l driver.Lease, renewed bool, err error) {
	begin, _, _ := strings.Cut(encode(driver.Record{Worker: q.Worker, ClaimID: q.ClaimID, FencingToken: q.FencingToken}), `"start":`)
	r, err := t.run(ctx, "renew", q.Worker, begin, q.FenceWindow, q.Keep, t.young)
	if err != nil || !r.ok {
		return l, false, err
	}
	l = driver.Lease{Worker: q.Worker, FencingToken: q.FencingToken}
	l.Fence, err = r.integer()
	return l, err == nil, err
}

// changeRecord changes one record, not for a claim or a renewal.
func (s *Store) changeRecord(ctx context.Context, name string, workerID int64, decide func(driver.Record) (driver.Record, error)) error {
	if err := s.check(name); err != nil {
		return err
	}
	t := transaction{store: s, name: name}
	return driver.Retry(ctx, func() (bool, error) {
		st, err := t.read(ctx, 0, workerID)
		if err == nil && len(st.Records) == 0 {
			err = driver.ErrNotHeld
		}
		if err != nil {
			return false, err
		}
		rec, err := decide(st.Records[0])
		if err != nil {
			return false, err
		}
		return t.write(ctx, st, driver.Change{Record: &rec, Old: st.Records[0]})
	})
}
