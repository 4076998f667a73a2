package redisstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

const (
	all    = -1  // read all records
	enough = 250 // records to read for a claim
)

// A transaction is one call of the store.
type transaction struct {
	store   *Store
	name    string
	claim   driver.Claim // empty in other calls
	claimed string       // the worker ID that the claim has or had
	age     int64        // for how many milliseconds the server has run, if a crash makes it forget everything; otherwise -1
}

// encode returns a driver.Namespace or driver.Record as Redis keeps it. The scripts rely on the order
// of its fields.
func encode(value any) string {
	text, _ := json.Marshal(value) //nolint:errchkjson // it has only numbers and strings
	return string(text)
}

// kept returns the namespace as Redis keeps it, or "" if it is missing.
func kept(st driver.State) string {
	if st.Missing {
		return ""
	}
	return encode(st.Namespace)
}

func (t *transaction) run(ctx context.Context, script string, args ...any) (reply, error) {
	keys := []string{t.store.key("lease", t.name), t.store.key("claim", t.name) + ":" + t.claim.ClaimID, t.store.key("worker", t.name)}
	return t.store.run(ctx, script, []string{"server", script}, keys, args...)
}

// read returns the namespace with n random records, and the records of the worker IDs and of the
// claim.
func (t *transaction) read(ctx context.Context, n int64, ids ...any) (st driver.State, err error) {
	const fixed = 6
	r, err := t.run(ctx, "read", append([]any{n}, ids...)...)
	v := r.values
	if err == nil && (len(v) < fixed || (len(v)-fixed)%2 != 0) {
		err = r.unexpected()
	}
	if err != nil {
		return st, err
	}
	numbers, err := reply{what: r.what, values: v[:3]}.integers(3)
	if err != nil {
		return st, err
	}
	st.Now, st.Count, st.Server, st.Missing = numbers[0], numbers[2], v[3], v[5] == ""
	t.age, t.claimed = numbers[1], v[4]
	if !st.Missing {
		err = json.Unmarshal([]byte(v[5]), &st.Namespace)
	}
	st.Namespace.Name = t.name
	for pair := range slices.Chunk(v[fixed:], 2) {
		var rec driver.Record
		if pair[1] == "" || pair[0] == "namespace" {
			continue
		}
		if bad := json.Unmarshal([]byte(pair[1]), &rec); bad != nil || rec.Status == "" || strconv.FormatInt(rec.Worker, 10) != pair[0] {
			err = fmt.Errorf("the field %.100q holds %.300q, which is not the record of a worker ID", pair[0], pair[1])
		} else if !slices.Contains(st.Records, rec) {
			st.Records = append(st.Records, rec)
		}
	}
	if err != nil {
		err = driver.Permanent(fmt.Errorf("%s: %w", r.what, err))
	}
	return st, err
}

// decide is like Claim.Decide. But a server that could forget the floor must first have run for as long
// as the floor is ahead of the clock: then all ids from before its start are below the new floor.
// Otherwise a server that crashes again and again would repeat ids.
func (t *transaction) decide(st driver.State) (driver.Change, error) {
	ch, err := t.claim.Decide(st)
	if ns := ch.Namespace; err == nil && ns != nil && ns.Floor > st.Namespace.Floor && t.age >= 0 {
		if wait := ns.FenceWindow + ns.MaxSkew - t.age; wait > 0 {
			return driver.Change{}, &driver.FloorError{Namespace: t.name, Wait: wait}
		}
	}
	return ch, err
}

// write writes a change.
func (t *transaction) write(ctx context.Context, st driver.State, ch driver.Change) (written bool, err error) {
	script, args := "write", []any{"change", kept(st), t.claimed}
	switch {
	case ch.Make != nil:
		script, args = "make", []any{*ch.Make, t.claim.WorkerIDs, driver.MakeAtOnce, kept(st)}
	case ch.Namespace != nil:
		args = []any{"namespace", kept(st), "", "namespace", "", encode(ch.Namespace)}
	default:
		old := st.Records[slices.IndexFunc(st.Records, func(rec driver.Record) bool { return rec.Worker == ch.Record.Worker })]
		former := t.claim.Former
		switch {
		case former.ClaimID != "" && old.ClaimID == former.ClaimID && old.FencingToken == former.FencingToken:
			args[0] = "own"
		case t.claim.ClaimID != "":
			args[0] = "claim"
		}
		args = append(args, old.Worker, encode(old), encode(ch.Record))
	}
	r, err := t.run(ctx, script, args...)
	return r.ok && err == nil, err
}

// renew renews a lease, and reports whether the script has done so.
func (t *transaction) renew(ctx context.Context, q driver.Renewal) (l driver.Lease, renewed bool, err error) {
	begin, _, _ := strings.Cut(encode(driver.Record{Worker: q.Worker, ClaimID: q.ClaimID, FencingToken: q.FencingToken}), `"start":`)
	r, err := t.run(ctx, "renew", q.Worker, begin, q.FenceWindow, q.Keep)
	if err != nil || !r.ok {
		return l, false, err
	}
	n, err := r.integers(2)
	return driver.Lease{Worker: q.Worker, FencingToken: q.FencingToken, Start: n[0], Fence: n[1]}, err == nil, err
}

// change makes a change that is neither a claim nor a renewal.
func (s *Store) change(ctx context.Context, name string, n, workerID int64, decide func(driver.State) (driver.Change, error)) error {
	if err := s.check(name); err != nil {
		return err
	}
	t := transaction{store: s, name: name}
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
		return t.write(ctx, st, ch)
	})
}
