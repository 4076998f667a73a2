//go:build unix && mixed

package torture

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// strange is the fingerprint of an unknown layout.
const strange = "epoch=1 tick=1 time=41 shard=7 worker=3 sequence=12 order=shard,worker,sequence signed"

// claimIn claims worker ID 0 of the space and releases it.
func claimIn(t *testing.T, s *service, layout string) {
	t.Helper()
	store, err := openStore(s.name, s.dsn)
	if err != nil {
		t.Fatal(err)
	}
	c, err := store.Claim(t.Context(), driver.Request{
		Namespace: space, Layout: layout, WorkerIDs: 8, Preferred: 0, Exclude: -1, ClaimID: "claimIn", Now: time.Now().UnixMilli(),
		FenceWindow: window.Milliseconds(), TTL: ttl.Milliseconds(), MaxSkew: 60_000, MaxLead: 60_000,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Release(t.Context(), driver.Return{Namespace: space, Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: "claimIn", Fence: c.From}); err != nil {
		t.Fatal(err)
	}
}

// unreadable writes a record of worker ID 0 that no version can read.
var unreadable = map[string]func(t *testing.T, s *service) error{
	"sqlite": func(_ *testing.T, s *service) error {
		db, err := sql.Open("sqlite", s.dsn)
		if err != nil {
			return err
		}
		defer db.Close()
		_, err = db.Exec("UPDATE snow_worker SET until_ts = 'soon'")
		return err
	},
	"redis": func(t *testing.T, s *service) error {
		client := redis.NewClient(&redis.Options{Addr: s.dsn})
		defer client.Close()
		return client.HSet(t.Context(), "snowkey:worker:{"+space+"}", "0", "2\n\n").Err()
	},
	"etcd": func(t *testing.T, s *service) error {
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.dsn}})
		if err != nil {
			return err
		}
		defer client.Close()
		_, err = client.Put(t.Context(), "snowkey#worker#"+space+"#0", `{"version":2,"until":"soon"}`)
		return err
	},
	"filestore": func(_ *testing.T, s *service) error {
		name := filepath.Join(s.dsn, space, "0.json")
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(name, bytes.Replace(content, []byte("{"), []byte(`{"shard":7,`), 1), 0o600)
	},
}

// A version refuses a layout or a record that it does not know. It claims nothing and issues
// nothing.
func TestMixedRefuses(t *testing.T) {
	own, err := present()
	if err != nil {
		t.Fatal(err)
	}
	versions := []version{own, older(t)}
	for _, name := range stores() {
		t.Run(name+"/another layout", func(t *testing.T) {
			s := startService(t, name, t.TempDir(), versions[:1])
			claimIn(t, s, strange)
			for _, v := range versions {
				h := startHolder(t, s, v)
				select {
				case <-h.done:
				case <-time.After(patience):
					t.Fatalf("%s: it does not end", v.name)
				}
				if h.cmd.ProcessState.Success() || !strings.Contains(h.said(), strange) {
					t.Errorf("%s: ended with %v, and said: %s", v.name, h.cmd.ProcessState, h.said())
				}
				if n := h.tally(t); n[claimed]+n[issued] > 0 {
					t.Errorf("%s: %d claims, %d ids", v.name, n[claimed], n[issued])
				}
			}
		})
		write := unreadable[name]
		if write == nil {
			continue
		}
		t.Run(name+"/a record that cannot be read", func(t *testing.T) {
			s := startService(t, name, t.TempDir(), versions[:1])
			claimIn(t, s, driver.Fingerprint(layout()))
			if err := write(t, s); err != nil {
				t.Fatal(err)
			}
			for _, v := range versions {
				h := startHolder(t, s, v)
				for deadline := time.Now().Add(patience); h.tally(t)[failed] == 0; time.Sleep(20 * time.Millisecond) {
					if n := h.tally(t); n[claimed]+n[issued] > 0 || h.ended() || time.Now().After(deadline) {
						t.Fatalf("%s: %d claims, %d ids; ended: %v; it said: %s", v.name, n[claimed], n[issued], h.ended(), h.said())
					}
				}
				h.kill()
				if n := h.tally(t); n[claimed]+n[issued] > 0 {
					t.Errorf("%s: %d claims, %d ids", v.name, n[claimed], n[issued])
				}
			}
		})
	}
}

// A holder of TestMixedRefuses.
type refusing struct {
	*process
	book string
}

func startHolder(t *testing.T, s *service, v version) *refusing {
	t.Helper()
	dir := t.TempDir()
	book := filepath.Join(dir, "book")
	p, err := startProcess(v, task{Role: holderRole, Store: s.name, DSN: s.dsn, Errors: filepath.Join(dir, "errors"), Book: book, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return &refusing{p, book}
}

func (h *refusing) tally(t *testing.T) (n tally) {
	t.Helper()
	if _, err := readLogbook(h.book, 0, func(r record) { n[r.kind]++ }); err != nil && !isNotYet(err) {
		t.Fatal(err)
	}
	return n
}

// The server of either version refuses a request with a field that it does not know, because
// it would ignore a part of the request.
func TestMixedRefusesARequest(t *testing.T) {
	own, err := present()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []version{own, older(t)} {
		s := startService(t, "httpstore", t.TempDir(), []version{v})
		for field, want := range map[string]int{"": http.StatusOK, "shard": http.StatusBadRequest} {
			request := map[string]any{
				"space": space, "layout": driver.Fingerprint(layout()), "numbers": 8, "preferred": -1, "only": false, "avoid": -1, "token": "t" + field,
				"owner": "", "now": time.Now().UnixMilli(), "window": 1000, "ttl": 1000, "max_skew": 60_000, "max_lead": 60_000,
			}
			if field != "" {
				request[field] = 7
			}
			if status, answer := post(t, s.dsn+"/v1/claim", map[string]any{"id": "1", "request": request}); status != want {
				t.Errorf("%s: with the field %q: %d, want %d: %s", v.name, field, status, want, answer)
			}
		}
	}
}

func post(t *testing.T, url string, body any) (status int, answer string) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+httpToken)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	var parsed any
	if err := json.NewDecoder(got.Body).Decode(&parsed); err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, fmt.Sprint(parsed)
}
