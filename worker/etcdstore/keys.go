package etcdstore

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
)

// separator ends a prefix and the name of a space: neither can have it, so a key
// can be read in one way only, and a range holds one space.
const separator = "#"

func (s *Store) layoutKey(space string) string { return s.prefix + "#layout#" + space }

func (s *Store) rowsKey(space string) string { return s.prefix + "#worker#" + space + separator }

func (s *Store) rowKey(space string, number int64) string {
	return s.rowsKey(space) + strconv.FormatInt(number, 10)
}

func (s *Store) aliveKeys(space string) string { return s.prefix + "#alive#" + space + separator }

func (s *Store) aliveKey(space, token string) string { return s.aliveKeys(space) + token }

func (s *Store) counterKey(name string) string { return s.prefix + "#counter#" + name }

const maxPrefix = 255

func validPrefix(prefix string) bool {
	return len(prefix) <= maxPrefix && !strings.ContainsFunc(prefix, func(c rune) bool { return c <= ' ' || c > '~' || c == '#' })
}

// record is the value of a number's key.
type record struct {
	Epoch int64  `json:"epoch"`
	Token string `json:"token"`
	Owner string `json:"owner"`
	Until int64  `json:"until"`
}

func (r record) String() string {
	text, _ := json.Marshal(r) //nolint:errchkjson // it has numbers and strings only
	return string(text)
}

func parseRecord(kv *mvccpb.KeyValue) (record, error) {
	var r record
	if err := json.Unmarshal(kv.Value, &r); err != nil {
		return record{}, fmt.Errorf("etcdstore: key %q holds %.300q, which is no record of a number: %w", kv.Key, kv.Value, err)
	}
	if r.Epoch < 1 {
		return record{}, fmt.Errorf("etcdstore: key %q holds %.300q, which is no record of a number: an epoch is at least 1", kv.Key, kv.Value)
	}
	return r, nil
}

// parseNumber reads the number that a key ends with.
func parseNumber(key []byte, rows string) (int64, error) {
	text := strings.TrimPrefix(string(key), rows)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, fmt.Errorf("etcdstore: key %.300q is none of a number: it ends with %.300q", key, text)
	}
	return n, nil
}
