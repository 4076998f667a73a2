package peers

import (
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/sony/sonyflake"

	"github.com/seed-299c1d6b/snowkey/core"
)

// The layouts of other libraries in docs/migrate.md are right: their ids decode to the
// parts that the libraries report.
func TestLayoutsOfOthers(t *testing.T) {
	node, err := snowflake.NewNode(777)
	if err != nil {
		t.Fatal(err)
	}
	bwmarrin := core.Layout{Epoch: time.UnixMilli(snowflake.Epoch), TimeBits: 41, WorkerBits: 10, SequenceBits: 12}
	for range 10_000 {
		id := node.Generate()
		p, err := bwmarrin.Decode(id.Int64())
		if err != nil || p.Time.UnixMilli() != id.Time() || p.Worker != id.Node() || p.Sequence != id.Step() {
			t.Fatalf("%d: %+v, %v, and it says %d, %d, %d", id, p, err, id.Time(), id.Node(), id.Step())
		}
	}

	for _, start := range []time.Time{{}, time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)} {
		flake := sonyflake.NewSonyflake(sonyflake.Settings{StartTime: start, MachineID: func() (uint16, error) { return 4711, nil }})
		if flake == nil {
			t.Fatal("sonyflake gave no generator")
		}
		layout := core.Sonyflake()
		if !start.IsZero() {
			layout.Epoch = start
		}
		for range 300 {
			id, err := flake.NextID()
			if err != nil {
				t.Fatal(err)
			}
			said := sonyflake.Decompose(id)
			p, err := layout.Decode(int64(id))
			if err != nil || p.Time.Sub(layout.Epoch) != time.Duration(said["time"])*10*time.Millisecond || p.Worker != int64(said["machine-id"]) || p.Sequence != int64(said["sequence"]) {
				t.Fatalf("%d: %+v, %v, and it says %v", id, p, err, said)
			}
		}
	}
}
