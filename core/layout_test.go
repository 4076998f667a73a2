package core_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func TestValidateReportsAllFields(t *testing.T) {
	for _, c := range []struct {
		name   string
		layout core.Layout
		want   []string // field and value of each fault; none: valid
	}{
		{"zero", core.Layout{}, nil},
		{"signed full", core.Layout{TimeBits: 41, SequenceBits: 22}, nil},
		{"one too many", core.Layout{TimeBits: 42, SequenceBits: 22}, []string{"42+0+0+0+22 = 64"}},
		{"unsigned full", core.Layout{TimeBits: 42, SequenceBits: 22, Unsigned: true}, nil},
		{"unsigned, too many", core.Layout{TimeBits: 42, SequenceBits: 23, Unsigned: true}, []string{"= 65"}},
		{"sum past a byte", core.Layout{TimeBits: 255, WorkerBits: 255, SequenceBits: 255}, []string{"= 765"}},
		{"all time", core.Layout{TimeBits: 63}, nil},
		{"no time", core.Layout{SequenceBits: 12}, []string{"Layout.TimeBits 0"}},
		{"half tick", core.Layout{Tick: 1500 * time.Microsecond}, []string{"Layout.Tick 1.5ms"}},
		{"negative tick", core.Layout{Tick: -time.Second}, []string{"Layout.Tick -1s"}},
		{"epoch", core.Layout{Epoch: time.Unix(1, 5)}, []string{"Layout.Epoch 1970-01-01T00:00:01.000000005Z"}},
		{"beyond time", core.Layout{TimeBits: 63, Tick: time.Hour}, []string{"Layout.TimeBits 63"}},
		{"several", core.Layout{Tick: 1, TimeBits: 60, WorkerBits: 60, Epoch: time.Unix(1, 5)}, []string{"Layout.Epoch", "Layout.Tick 1ns", "= 120"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.layout.Validate()
			if len(c.want) == 0 {
				must(t, err)
				return
			}
			var ce *core.ConfigError
			if !errors.As(err, &ce) || len(ce.Fields) != len(c.want) {
				t.Fatalf("Validate() = %v; want %d faults", err, len(c.want))
			}
			for i, w := range c.want {
				if got := ce.Fields[i].String(); !strings.Contains(got, w) {
					t.Errorf("fault %q lacks %q", got, w)
				}
			}
			if c.layout.IDsPerTick() != 0 || c.layout.WorkerIDs() != 0 || !c.layout.End().IsZero() {
				t.Error("a layout that is not valid has a capacity")
			}
		})
	}
}
