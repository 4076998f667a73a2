package worker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// small has 2 datacenters of 8 workers.
var small = core.Layout{TimeBits: 41, DatacenterBits: 1, WorkerBits: 3, SequenceBits: 10}

func TestFromEnvAndFile(t *testing.T) {
	const unset = "(not set)"
	for _, c := range []struct {
		worker, datacenter string
		alone              bool // no second variable
		want               int64
		fault              string // part of the message
	}{
		{worker: "5", datacenter: "1", want: 13},
		{worker: "007", datacenter: "1", want: 15},
		{worker: "15", alone: true, want: 15},
		{worker: "16", alone: true, fault: `W "16": must be 0 to 15 in this layout`},
		{worker: "8", datacenter: "0", fault: `W "8": must be 0 to 7 in this layout`},
		{worker: "7", datacenter: "2", fault: `D "2": must be 0 to 1 in this layout`},
		{worker: unset, datacenter: "0", fault: `W "": `},
		{worker: "", datacenter: "0", fault: `W "": is empty`},
		{worker: "x", datacenter: unset, fault: `W "x": must be a decimal number`},
		{worker: "-1", alone: true, fault: `W "-1": must be a decimal number`},
		{worker: "٣", alone: true, fault: `must be a decimal number`},
		{worker: "99999999999999999999", alone: true, fault: `W "99999999999999999999": must be 0 to 15`},
	} {
		t.Run(fmt.Sprintf("%q %q", c.worker, c.datacenter), func(t *testing.T) {
			check := func(kind string, n int64, err error) {
				t.Helper()
				var config *core.ConfigError
				if c.fault != "" {
					c.want = -1
				}
				if n != c.want || (err == nil) != (c.fault == "") || err != nil && (!errors.As(err, &config) || !strings.Contains(err.Error(), c.fault)) {
					t.Errorf("%s: %d, %v; want %d, %s", kind, n, err, c.want, c.fault)
				}
			}
			dir := t.TempDir()
			names := map[string]string{"W": c.worker, "D": c.datacenter}
			for name, text := range names {
				t.Setenv(name, text)
				if text == unset {
					_ = os.Unsetenv(name)
				} else if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			second, secondFile := "D", filepath.Join(dir, "D")
			if c.alone {
				second, secondFile = "", ""
			}
			w, err := FromEnv(small, "W", second)
			check("variable", w, err)
			w, err = FromFile(small, filepath.Join(dir, "W"), secondFile)
			check("file", w, err)
		})
	}
	t.Setenv("W", "9")
	t.Setenv("D", "9")
	if _, err := FromEnv(small, "W", "D"); err == nil || strings.Count(err.Error(), "must be 0 to") != 2 {
		t.Errorf("two faults: %v", err)
	}
	if _, err := FromEnv(core.Layout{Tick: 1}, "W", "D"); err == nil {
		t.Error("a layout that is not valid")
	}
	if w, err := FromEnv(core.Layout{TimeBits: 1, WorkerBits: 63, Unsigned: true}, "W", ""); err != nil || w != 9 {
		t.Errorf("63 bits: %v, %v", w, err)
	}
}

// A file is read as a whole, or it is an error: a part of it is never a worker ID.
func TestFromFileReadsAll(t *testing.T) {
	file := filepath.Join(t.TempDir(), "number")
	for content, want := range map[string]int64{
		strings.Repeat("\n", 4094) + "15": 15, strings.Repeat("0", 99) + "15": 15, // the first has the most bytes
		strings.Repeat("\n", 4095) + "15": -1, "15" + strings.Repeat("\n", 5000): -1, "1" + strings.Repeat("\n", 99) + "2\n": -1, "": -1,
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var config *core.ConfigError
		if n, err := FromFile(core.Layout{}, file, ""); n != want || want < 0 && (!errors.As(err, &config) || len(err.Error()) > 500) {
			t.Errorf("%.20q of %d bytes: %d, %v", content, len(content), n, err)
		}
	}
	if n, err := FromFile(core.Layout{}, t.TempDir(), ""); err == nil {
		t.Errorf("a directory: %v", n)
	}
}

func TestFromAddress(t *testing.T) {
	addrs := func(texts ...string) (all []netip.Addr) {
		for _, text := range texts {
			all = append(all, netip.MustParseAddr(text))
		}
		return all
	}
	mine := addrs("127.0.0.1", "10.4.2.201", "::1", "fd00:4::2c9")
	for _, c := range []struct {
		layout core.Layout
		prefix string
		addrs  []netip.Addr
		want   int64
		fault  string
	}{
		{core.Layout{}, "10.4.0.0/22", mine, 2<<8 | 201, ""},
		{core.Layout{}, "10.4.2.0/24", mine, 201, ""},
		{core.Layout{}, "10.4.2.201/32", mine, 0, ""},
		{core.Layout{}, "fd00:4::/118", mine, 0x2c9, ""},
		{core.Sonyflake(), "10.4.0.0/16", mine, 2<<8 | 201, ""},
		{core.Layout{}, "10.4.0.0/21", mine, 0, "leaves 11 bits for addresses, and the layout has only 10"},
		{core.Layout{}, "0.0.0.0/0", mine, 0, "leaves 32 bits"},
		{core.Layout{}, "fd00:4::/64", mine, 0, "leaves 64 bits"},
		{core.Layout{}, "10.5.0.0/24", mine, 0, "has 0 addresses of this machine, and must have exactly one; the addresses are 127.0.0.1 10.4.2.201"},
		{core.Layout{}, "10.4.2.0/24", append(mine, netip.MustParseAddr("10.4.2.7")), 0, "has 2 addresses"},
		{core.Layout{}, "10.4.2.1/24", mine, 0, "the network is 10.4.2.0/24"},
		{core.Layout{}, "10.4.2.0", mine, 0, "must be a network such as"},
		{core.Layout{}, "", mine, 0, `prefix "": must be a network`},
		{core.Layout{Tick: 1}, "10.4.2.0/24", mine, 0, "Tick"},
	} {
		t.Run(fmt.Sprintf("%s of %d addresses", c.prefix, len(c.addrs)), func(t *testing.T) {
			w, err := fromAddress(c.layout, c.prefix, c.addrs)
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("%s: %v, want %s", c.prefix, err, c.fault)
				}
			} else if err != nil || w != c.want {
				t.Errorf("%s: %v, %v, want %d", c.prefix, w, err, c.want)
			}
		})
	}
	if w, err := FromPodIP(core.Layout{}, "127.0.0.0/24"); err != nil || w != 1 {
		t.Errorf("%v, %v", w, err)
	}
}

type counter func() (int64, error)

func (c counter) Reserve(context.Context, string, int64) (int64, error) { return c() }

func TestFromCounter(t *testing.T) {
	next := int64(14)
	count := counter(func() (int64, error) { next++; return next, nil })
	for want := int64(14); want < 16; want++ {
		n, left, err := FromCounter(t.Context(), count, small, "starts")
		if err != nil || n != want || left != 15-want {
			t.Errorf("%d, %d left, %v", n, left, err)
		}
	}
	for range 20 { // it does not wrap
		var used *CounterExhaustedError
		if n, _, err := FromCounter(t.Context(), count, small, "starts"); n != -1 || !errors.As(err, &used) || used.WorkerIDs != 16 || used.Name != "starts" {
			t.Errorf("%v", err)
		}
	}
	boom := errors.New("boom")
	for i, c := range []driver.Counter{
		counter(func() (int64, error) { return 0, boom }), counter(func() (int64, error) { return 0, nil }), nil,
	} {
		if n, _, err := FromCounter(t.Context(), c, small, "starts"); n != -1 || err == nil || i == 0 && !errors.Is(err, boom) {
			t.Errorf("counter %d: %v", i, err)
		}
	}
	if n, _, err := FromCounter(t.Context(), count, small, "a b"); n != -1 || err == nil {
		t.Error("a bad name")
	}
	var config *core.ConfigError
	if _, _, err := FromCounter(t.Context(), nil, core.Layout{TimeBits: 99}, "a b"); !errors.As(err, &config) || len(config.Fields) < 3 || strings.Contains(err.Error(), "\n") {
		t.Errorf("one error must name the layout's field, the name and the counter: %v", err)
	}
}
