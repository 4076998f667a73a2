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

// names are the fields of a namespace, in the order of the scripts.
var names = [...]string{"version", "layout", "fence_window", "max_skew", "incarnation", "since", "floor", "seen"}

const (
	all    = -1  // records
	enough = 250 // of them, for a claim
)

// record is a driver.Record as it is written. The scripts rely on the order of the fields.
type record struct {
	Version      int64         `json:"version"`
	ClaimID      string        `json:"claim_id"`
	FencingToken int64         `json:"fencing_token"`
	State        driver.Status `json:"state"`
	Start        int64         `json:"start"`
	Fence        int64         `json:"fence"`
	Owner        string        `json:"owner"`
}

func encode(rec driver.Record) string {
	text, _ := json.Marshal(record{driver.Version, rec.ClaimID, rec.FencingToken, rec.Status, rec.Start, rec.Fence, rec.Owner}) //nolint:errchkjson // it has numbers and strings only
	return string(text)
}

func decode(workerID, text string) (driver.Record, error) {
	var r record
	id, err := strconv.ParseInt(workerID, 10, 64)
	if err = errors.Join(err, json.Unmarshal([]byte(text), &r)); err != nil || r.Version != driver.Version {
		return driver.Record{}, driver.Permanent(fmt.Errorf("redisstore: the field %.100q holds %.300q, which is not a record of version %d", workerID, text, driver.Version))
	}
	return driver.Record{Worker: id, ClaimID: r.ClaimID, FencingToken: r.FencingToken, Status: r.State, Start: r.Start, Fence: r.Fence, Owner: r.Owner}, nil
}

// A transaction is one call of the store. It keeps what it has read last.
type transaction struct {
	store     *Store
	name      string
	keys      []string
	namespace []string         // its fields
	records   map[int64]string // by worker ID
	claimed   string           // the worker ID that the claim has or had
}

func (s *Store) open(name, claimID string) (*transaction, error) {
	if err := s.check(name); err != nil {
		return nil, err
	}
	return &transaction{store: s, name: name, keys: []string{s.key("lease", name), s.key("claim", name) + ":" + claimID, s.key("worker", name)}}, nil
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
	const fixed = 5 + len(names)
	v := answer.values
	if len(v) < fixed || v[0] != "ok" || len(v)%2 != fixed%2 {
		return st, answer.unexpected()
	}
	t.claimed, t.namespace, t.records = v[3], v[4:fixed-1], make(map[int64]string)
	st.Server, st.Missing = v[2], v[4] == ""
	st.Namespace = driver.Namespace{Name: t.name, Layout: v[5], Incarnation: v[8]}
	ns := &st.Namespace
	for i, to := range map[int]*int64{1: &st.Now, 4: &ns.Version, 6: &ns.FenceWindow, 7: &ns.MaxSkew, 9: &ns.Since, 10: &ns.Floor, 11: &ns.Seen, 12: &st.Count} {
		if *to, err = strconv.ParseInt(v[i], 10, 64); err != nil && (!st.Missing || v[i] != "") {
			return st, answer.unexpected()
		}
	}
	for pair := range slices.Chunk(v[fixed:], 2) {
		if pair[1] == "" || slices.Contains(names[:], pair[0]) {
			continue
		}
		rec, err := decode(pair[0], pair[1])
		if err != nil {
			return st, err
		}
		if t.records[rec.Worker] == "" {
			t.records[rec.Worker], st.Records = pair[1], append(st.Records, rec)
		}
	}
	return st, nil
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

// write writes a change: of a claim, or c is nil.
func (t *transaction) write(ctx context.Context, ch driver.Change, c *driver.Claim) (written bool, err error) {
	script, args := "write", []any{"change", t.claimed}
	for _, text := range t.namespace {
		args = append(args, text)
	}
	switch {
	case ch.Make != nil:
		script, args = "make", []any{*ch.Make, c.WorkerIDs, int64(driver.MakeAtOnce), encode(driver.Record{Status: driver.Unused})}
	case ch.Namespace != nil:
		ns := ch.Namespace
		args[0] = "namespace"
		args = append(args, ns.Version, ns.Layout, ns.FenceWindow, ns.MaxSkew, ns.Incarnation, ns.Since, ns.Floor, ns.Seen)
	default:
		was := t.records[ch.Record.Worker]
		args = append(args, ch.Record.Worker, was, encode(*ch.Record))
		if c != nil {
			args[0] = "claim"
			if f := c.Former; f.ClaimID != "" && strings.HasPrefix(was, begin(f.ClaimID, f.FencingToken)) {
				args[0] = "own"
			}
		}
	}
	answer, err := t.run(ctx, script, args...)
	if err == nil && !answer.is("ok", 0) && !answer.is("changed", 0) {
		err = answer.unexpected()
	}
	return err == nil && answer.is("ok", 0), err
}

// begin is how a record of a claim begins.
func begin(claimID string, fencingToken int64) string {
	text, _, _ := strings.Cut(encode(driver.Record{ClaimID: claimID, FencingToken: fencingToken}), `"state":`)
	return text
}

// renew renews a lease, unless the script refuses it.
func (t *transaction) renew(ctx context.Context, r driver.Renewal) (l driver.Lease, renewed bool, err error) {
	answer, err := t.run(ctx, "renew", r.Worker, begin(r.ClaimID, r.FencingToken), r.FenceWindow, r.Keep)
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
