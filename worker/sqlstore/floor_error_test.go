package sqlstore

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A FloorError names the claim's namespace, also if the floor of the index is what keeps it from beginning.
func TestFloorErrorOfTheIndex(t *testing.T) {
	db := openFile(t, "file:"+filepath.Join(t.TempDir(), "shop.sqlite")+modes["wal"])
	s := mustNew(New(db, Config{}))
	if _, err := s.Claim(t.Context(), request("first", "a")); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE snow_namespace SET incarnation = 'another', floor = ? WHERE namespace = '*'", time.Now().UnixMilli()+60_000); err != nil {
		t.Fatal(err)
	}
	_, err := s.Claim(t.Context(), request("second", "b"))
	var ahead *driver.FloorError
	if !errors.As(err, &ahead) || ahead.Namespace != "second" {
		t.Errorf("%v", err)
	}
}
