package etcd

import (
	"bytes"
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

func (s *Store) layoutKey(namespace string) string { return s.prefix + "#layout#" + namespace }

func (s *Store) recordKeys(namespace string) string {
	return s.prefix + "#worker#" + namespace + separator
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

func (s *Store) counterKey(name string) string { return s.prefix + "#counter#" + name }

func validPrefix(prefix string) bool {
	return len(prefix) <= 255 && !strings.ContainsFunc(prefix, func(c rune) bool { return c <= ' ' || c > '~' || c == '#' })
}

// record is the value of a worker ID's key: a driver.Record as it is written. One with a field more
// is of a newer version, and refused.
type record struct {
	FencingToken int64  `json:"epoch"`
	ClaimID      string `json:"token"`
	Owner        string `json:"owner"`
	Fence        int64  `json:"until"`
}

func encode(rec driver.Record) string {
	text, _ := json.Marshal(record{rec.FencingToken, rec.ClaimID, rec.Owner, rec.Fence}) //nolint:errchkjson // it has numbers and strings only
	return string(text)
}

func decode(kv *mvccpb.KeyValue) (driver.Record, error) {
	var r record
	strict := json.NewDecoder(bytes.NewReader(kv.Value))
	strict.DisallowUnknownFields()
	err := strict.Decode(&r)
	if err == nil && r.FencingToken < 1 {
		err = fmt.Errorf("its epoch is %d, and must be at least 1", r.FencingToken)
	}
	if err != nil {
		return driver.Record{}, fmt.Errorf("etcd: key %q holds %.300q, which is not a record of a worker ID: %w", kv.Key, kv.Value, err)
	}
	return driver.Record{FencingToken: r.FencingToken, ClaimID: r.ClaimID, Owner: r.Owner, Fence: r.Fence}, nil
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
