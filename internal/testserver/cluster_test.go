//go:build unix

package testserver

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestEtcdCluster checks that members share what is written, do without one of them, and
// take it back.
func TestEtcdCluster(t *testing.T) {
	Slow(t)
	// A request fails where the leader changes, which it may do on a busy machine at any
	// time: so each is made again, and none waits long for an answer that is lost.
	const answer = 10 * time.Second
	members := NewEtcdCluster(t, 3)
	eventually(t, patience, func() error { return put(members[0], answer, "before") })
	for i, s := range members {
		if s.External() || !strings.Contains(s.DSN, s.Addr) {
			t.Errorf("member %d: %q, DSN %q", i, s, s.DSN)
		}
		eventually(t, patience, func() error { return get(s, answer, "before") })
	}
	if err := members[1].Kill(); err != nil {
		t.Fatal(err)
	}
	// The leader may have to change.
	eventually(t, patience, func() error { return put(members[2], answer, "without") })
	if err := members[0].Pause(); err != nil {
		t.Fatal(err)
	}
	if err := put(members[2], impatience, "alone"); err == nil {
		t.Error("a write without a quorum")
	}
	if err := members[0].Resume(); err != nil {
		t.Fatal(err)
	}
	if err := members[1].Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, patience, func() error { // what was sent without a quorum may come late
		if err := put(members[1], answer, "again"); err != nil {
			return err
		}
		for _, s := range members {
			if err := get(s, answer, "again"); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestClusterWithoutPrograms checks that an error names what is missing, as for a single server.
func TestClusterWithoutPrograms(t *testing.T) {
	for name, e := range map[string]*engine{"etcd": etcdEngine(), "galera": galeraEngine()} {
		t.Setenv(e.binVar, t.TempDir())
		members, err := bootCluster(e, 2)
		if err == nil || members != nil || !strings.Contains(err.Error(), e.binVar) {
			t.Errorf("%s: %v, %v", name, members, err)
		}
	}
	home, err := home()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []Kind{KindEtcd, KindMariaDB} {
		left, err := filepath.Glob(filepath.Join(home, string(kind)+"-*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range left {
			if start, ok := shared.Load(kind); ok {
				if s, _ := start.(func() (*Server, error))(); s != nil && s.dir == dir {
					continue
				}
			}
			t.Errorf("%s is left", dir)
		}
	}
}
