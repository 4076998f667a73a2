package etcd

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// separator ends a prefix and the name of a namespace. Neither can contain it, so a key has one
// reading, and a range of keys one namespace.
const separator = "#"

func (s *Store) namespaceKey(namespace string) string { return s.prefix + "#namespace#" + namespace }

func (s *Store) recordKeys(namespace string) string {
	return s.prefix + "#lease#" + namespace + separator
}

func (s *Store) recordKey(namespace string, workerID int64) string {
	return s.recordKeys(namespace) + strconv.FormatInt(workerID, 10)
}

func (s *Store) presenceKeys(namespace string) string {
	return s.prefix + "#alive#" + namespace + separator
}

func (s *Store) presenceKey(namespace, claimID string) string {
	return s.presenceKeys(namespace) + claimID
}

func (s *Store) oldKey(namespace string) string { return s.prefix + "#layout#" + namespace }

func (s *Store) counterKey(name string) string { return s.prefix + "#counter#" + name }

func validPrefix(prefix string) bool {
	return len(prefix) <= 255 && !strings.ContainsFunc(prefix, func(c rune) bool { return c <= ' ' || c > '~' || c == '#' })
}

// record and space are the values of keys: a driver.Record and a driver.Namespace as they are written.
type (
	record struct {
		Version      int64         `json:"version"`
		ClaimID      string        `json:"claim_id"`
		FencingToken int64         `json:"fencing_token"`
		State        driver.Status `json:"state"`
		Start        int64         `json:"start"`
		Fence        int64         `json:"fence"`
		Owner        string        `json:"owner"`
	}
	space struct {
		Version     int64  `json:"version"`
		Layout      string `json:"layout"`
		FenceWindow int64  `json:"fence_window"`
		MaxSkew     int64  `json:"max_skew"`
		Incarnation string `json:"incarnation"`
		Since       int64  `json:"since"`
		Floor       int64  `json:"floor"`
		Seen        int64  `json:"seen"`
	}
)

func text(value any) string {
	text, _ := json.Marshal(value) //nolint:errchkjson // it has numbers and strings only
	return string(text)
}

func encode(rec driver.Record) string {
	return text(record{driver.Version, rec.ClaimID, rec.FencingToken, rec.Status, rec.Start, rec.Fence, rec.Owner})
}

func decode(kv *mvccpb.KeyValue) (driver.Record, error) {
	var r record
	err := json.Unmarshal(kv.Value, &r)
	if err == nil && (r.Version != driver.Version || r.State == "") {
		err = fmt.Errorf("it has version %d and state %q", r.Version, r.State)
	}
	if err != nil {
		return driver.Record{}, fmt.Errorf("etcd: key %q holds %.300q, which is not a record of a worker ID: %w", kv.Key, kv.Value, err)
	}
	return driver.Record{FencingToken: r.FencingToken, ClaimID: r.ClaimID, Status: r.State, Start: r.Start, Fence: r.Fence, Owner: r.Owner}, nil
}

func encodeNamespace(ns driver.Namespace) string {
	return text(space{ns.Version, ns.Layout, ns.FenceWindow, ns.MaxSkew, ns.Incarnation, ns.Since, ns.Floor, ns.Seen})
}

func decodeNamespace(kv *mvccpb.KeyValue, name string) (driver.Namespace, error) {
	var v space
	if err := json.Unmarshal(kv.Value, &v); err != nil || v.Version < 1 {
		return driver.Namespace{}, fmt.Errorf("etcd: key %q holds %.300q, which is not a namespace", kv.Key, kv.Value)
	}
	return driver.Namespace{Name: name, Version: v.Version, Layout: v.Layout, FenceWindow: v.FenceWindow, MaxSkew: v.MaxSkew, Incarnation: v.Incarnation, Since: v.Since, Floor: v.Floor, Seen: v.Seen}, nil
}

// parseWorkerID reads the worker ID at the end of a key.
func parseWorkerID(key []byte, prefix string) (int64, error) {
	text := strings.TrimPrefix(string(key), prefix)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, fmt.Errorf("etcd: key %.300q is not the key of a worker ID: it ends with %.300q", key, text)
	}
	return n, nil
}
