package etcdstore

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

// encode returns a driver.Namespace or driver.Record as it is written.
func encode(value any) string {
	text, _ := json.Marshal(value) //nolint:errchkjson // it has numbers and strings only
	return string(text)
}

// decodeRecord reads the value of a key that begins with the prefix.
func decodeRecord(kv *mvccpb.KeyValue, prefix string) (driver.Record, error) {
	var rec driver.Record
	err := json.Unmarshal(kv.Value, &rec)
	if err == nil && (rec.Status == "" || prefix+strconv.FormatInt(rec.Worker, 10) != string(kv.Key)) {
		err = fmt.Errorf("it has state %q and worker_id %d", rec.Status, rec.Worker)
	}
	if err != nil {
		return driver.Record{}, driver.Permanent(fmt.Errorf("etcdstore: key %q holds %.300q, which is not the record of a worker ID: %w", kv.Key, kv.Value, err))
	}
	return rec, nil
}

func decodeNamespace(kv *mvccpb.KeyValue) (ns driver.Namespace, err error) {
	if err = json.Unmarshal(kv.Value, &ns); err != nil || ns.Version < 1 {
		return ns, driver.Permanent(fmt.Errorf("etcdstore: key %q holds %.300q, which is not a namespace", kv.Key, kv.Value))
	}
	return ns, nil
}
