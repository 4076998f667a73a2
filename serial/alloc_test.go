package serial_test

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/serial"
)

func configs(t testing.TB) map[string]serial.Config {
	return map[string]serial.Config{
		"utc":            {Prefix: "PAY"},
		"shanghai+check": {Prefix: "PAY", Location: zone(t, "Asia/Shanghai"), Separator: "-", Check: serial.Mod97},
		"berlin+fold":    {Prefix: "PAY", Location: zone(t, "Europe/Berlin"), Fold: true},
	}
}

const paid = 2124042817363972138

// AppendEncode and Decode allocate nothing, Encode its string.
func TestAllocations(t *testing.T) {
	for name, f := range configs(t) {
		c, err := serial.New(f)
		if err != nil {
			t.Fatal(err)
		}
		var buf [100]byte
		s, err := c.Encode(paid)
		if err != nil {
			t.Fatal(err)
		}
		for what, want := range map[string]struct {
			most float64
			call func() error
		}{
			"AppendEncode": {0, func() error { _, err := c.AppendEncode(buf[:0], paid); return err }},
			"Encode":       {1, func() error { _, err := c.Encode(paid); return err }},
			"Decode":       {0, func() error { _, err := c.Decode(s); return err }},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				var err error
				if n := testing.AllocsPerRun(200, func() { err = want.call() }); n > want.most || err != nil {
					t.Errorf("%v allocations, %v", n, err)
				}
			})
		}
	}
	if core.Twitter().Validate() != nil {
		t.Fatal("the layout")
	}
}
