package serial_test

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/serial"
)

// AppendEncode and Decode allocate nothing, Encode its string.
func TestAllocations(t *testing.T) {
	const paid = 2124042817363972138
	c := codec(t, serial.Config{Prefix: "PAY", Location: zone(t, "Europe/Berlin"), Fold: true, Separator: "-", Check: serial.Mod97})
	var buf [100]byte
	s, err := c.Encode(paid)
	must(t, err)
	for what, want := range map[string]struct {
		most float64
		call func() error
	}{
		"AppendEncode": {0, func() error { _, err := c.AppendEncode(buf[:0], paid); return err }},
		"Encode":       {1, func() error { _, err := c.Encode(paid); return err }},
		"Decode":       {0, func() error { _, err := c.Decode(s); return err }},
	} {
		t.Run(what, func(t *testing.T) {
			var err error
			if n := testing.AllocsPerRun(200, func() { err = want.call() }); n > want.most || err != nil {
				t.Errorf("%v allocations, %v", n, err)
			}
		})
	}
}
