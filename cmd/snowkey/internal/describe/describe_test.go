package describe

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/core"
)

func TestJavaScript(t *testing.T) {
	for id, want := range map[int64]JavaScript{
		1996573624012345677: {false, false, "1996573624012345600"},
		1<<53 - 1:           {true, true, "9007199254740991"},
		1 << 53:             {false, true, "9007199254740992"},
		1<<53 + 1:           {false, false, "9007199254740992"},
		math.MaxInt64:       {false, false, "9223372036854776000"},
		math.MinInt64:       {false, true, "-9223372036854776000"},
		0:                   {true, true, "0"},
		-1:                  {true, true, "-1"},
	} {
		if got := NewJavaScript(strconv.FormatInt(id, 10)); got != want {
			t.Errorf("%d: %+v, want %+v", id, got, want)
		}
	}
	if got, want := NewJavaScript("18446744073709551615"), (JavaScript{false, false, "18446744073709552000"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The parts of a worker ID, and the sequence numbers of a tick, are checked by the layout.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		datacenter, worker int64
		want               string // the worker ID, or the field that is wrong
	}{{-1, 1023, "1023"}, {-1, 1024, "Worker"}, {31, 31, "1023"}, {1, 3, "35"}, {0, 32, "Worker"}, {32, 0, "Datacenter"}} {
		id, err := WorkerID(core.Twitter(), c.datacenter, c.worker)
		if got := fmt.Sprint(id); got != c.want && (err == nil || !strings.Contains(err.Error(), c.want+" ")) {
			t.Errorf("%d, %d: %d, %v, want %s", c.datacenter, c.worker, id, err, c.want)
		}
	}
	for field, c := range map[string][2]int64{"": {4000, 96}, "Count": {4000, 97}, "Sequence": {4096, 1}} {
		if err := CheckTick(core.Twitter(), c[0], c[1]); (err == nil) != (field == "") || err != nil && !strings.Contains(err.Error(), field+" ") {
			t.Errorf("%d: %v, want %s", c, err, field)
		}
	}
}

// An id that is composed in a preset is described by the same parts, and not in a layout without it.
func TestPresets(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, p := range flagval.Presets() {
		l := p.Layout.WithDefaults()
		var ids [2]int64
		if d := NewLayout(l, now); d.Preset != p.Name || d.WorkerIDs != strconv.FormatInt(l.WorkerIDs(), 10) || (d.UnsafeFrom == nil) != (d.Bits <= 53) {
			t.Errorf("%+v", d)
		}
		if err := Compose(l, 0, now, 0, ids[:]); err != nil {
			t.Fatal(err)
		}
		d, err := New(l, ids[1], "ord_", "ord_", View{Now: now, Zone: time.UTC})
		if err != nil || d.Sequence != 1 || d.WorkerID != 0 || d.Time != "2026-11-21T12:00:00.000Z" || d.ZoneTime != d.Time || d.Prefix != "ord" || d.Base62 == "" {
			t.Errorf("%s: %+v, %v", p.Name, d, err)
		}
	}
	if _, err := New(core.JavaScriptSafe(), 1<<60, "", Decimal, View{Now: now}); err == nil || !strings.HasPrefix(err.Error(), "is not an id of this layout: ") {
		t.Error(err)
	}
	if d := Text(-1, Formats()...); d.Unsigned != "18446744073709551615" || d.Hex != "0xffffffffffffffff" || d.Base32 != "" {
		t.Errorf("%+v", d)
	}
}
