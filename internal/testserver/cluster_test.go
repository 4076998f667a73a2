//go:build unix

package testserver

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestEtcdCluster checks that members share what is written, do without one of them, and
// take it back.
func TestEtcdCluster(t *testing.T) {
	members := NewEtcdCluster(t, 3)
	if err := put(members[0], patience, "before"); err != nil {
		t.Fatal(err)
	}
	for i, s := range members {
		if s.External() || !strings.Contains(s.DSN, s.Addr) {
			t.Errorf("member %d: %q, DSN %q", i, s, s.DSN)
		}
		if err := get(s, patience, "before"); err != nil {
			t.Fatalf("member %d: %v", i, err)
		}
	}
	if err := members[1].Kill(); err != nil {
		t.Fatal(err)
	}
	// The leader may have to change.
	eventually(t, patience, func() error { return put(members[2], patience, "without") })
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
	eventually(t, patience, func() error { return put(members[1], patience, "again") })
	for _, s := range members {
		eventually(t, patience, func() error { return get(s, patience, "again") })
	}
}

// TestClusterWithoutPrograms checks that what is missing is told, as for a single server.
func TestClusterWithoutPrograms(t *testing.T) {
	for name, e := range map[string]*engine{"etcd": etcdEngine(), "galera": galeraEngine()} {
		t.Setenv(e.binVar, t.TempDir())
		members, err := bootCluster(e, 2, 2)
		if err == nil || members != nil || !strings.Contains(err.Error(), e.binVar) {
			t.Errorf("%s: %v, %v", name, members, err)
		}
	}
	home, err := this.home()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []Kind{KindEtcd, KindMariaDB} {
		left, err := filepath.Glob(filepath.Join(home, string(kind)+"-*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range left {
			if s := this.servers[kind]; s == nil || s.server == nil || s.server.dir != dir {
				t.Errorf("%s is left", dir)
			}
		}
	}
}
