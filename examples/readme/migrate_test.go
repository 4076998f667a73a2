package readme

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func TestMigration(t *testing.T) {
	l := core.Layout{TimeBits: 41, WorkerBits: 10, SequenceBits: 12}
	at := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	made := append(slices.Repeat([]time.Time{at}, 10_000), at.Add(time.Second), at.Add(time.Second+time.Microsecond))
	keys, err := backfill(l, made)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(keys); i++ {
		if keys[i] <= keys[i-1] {
			t.Fatalf("%d after %d", keys[i], keys[i-1])
		}
	}
	if p, err := l.Decode(keys[9999].Int64()); err != nil || !p.Time.Equal(at) || p.Worker != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := backfill(l, []time.Time{at, at.Add(-time.Second)}); err == nil {
		t.Error("rows out of order were taken")
	}
	if p, err := bwmarrin().Decode(1996573624012345677); err != nil || p.Worker > 1023 {
		t.Errorf("%+v, %v", p, err)
	}
	if got := sonyflakeV1(time.UnixMilli(1409529600000).UTC()); got.Epoch.UnixMilli() != core.Sonyflake().Epoch.UnixMilli() {
		t.Errorf("%v", got)
	}
}
