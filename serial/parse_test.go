package serial_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/serial"
)

func TestDecodeErrors(t *testing.T) {
	plain := serial.Config{Prefix: "PAY", Separator: "-"}
	checked := serial.Config{Prefix: "PAY", Separator: "-", Check: serial.Mod97}
	mod11 := serial.Config{Check: serial.Mod11}
	coarse := serial.Config{Layout: core.Sonyflake()}
	berlin := serial.Config{Location: zone(t, "Europe/Berlin"), Fold: true}
	odd := serial.Config{Layout: core.Layout{TimeBits: 30, Tick: 7 * time.Millisecond, DatacenterBits: 1, RollbackBits: 1, SequenceBits: 3}, Separator: "."}
	for _, c := range []struct {
		cfg               serial.Config
		text, part, value string
		reason            string
	}{
		{cfg: plain, text: "", part: "prefix", value: "", reason: `must be "PAY"`},
		{cfg: plain, text: "PAY-20261121153045123-0817-004", part: "length", value: "30", reason: "must be 31"},
		{cfg: plain, text: "PAY_20261121153045123-0817-0042", part: "separator", value: "_", reason: `must be "-"`},
		{cfg: plain, text: "PAY-2026112115304512--0817-0042", part: "time", value: "2026112115304512-", reason: "must have digits only"},
		{cfg: plain, text: "PAY-20261121153045123-08１7-0042", part: "length"},
		{cfg: plain, text: "PAY-20261121153045123-0817-0x42", part: "sequence", value: "0x42", reason: "must have digits only"},
		{cfg: plain, text: "PAY-20261121153045123-1024-0042", part: "worker", value: "1024", reason: "must be at most 1023"},
		{cfg: plain, text: "PAY-20261321153045123-0817-0042", part: "time", reason: "there is no such date"},
		{cfg: plain, text: "PAY-20260229153045123-0817-0042", part: "time", reason: "there is no such date"},
		{cfg: plain, text: "PAY-20261121243045123-0817-0042", part: "time", reason: "there is no such time of day"},
		{cfg: plain, text: "PAY-20261121156045123-0817-0042", part: "time", reason: "there is no such time of day"},
		{cfg: plain, text: "PAY-20101104014254656-0817-0042", part: "time", reason: "is before the layout's first tick, 20101104014254657"},
		{cfg: plain, text: "PAY-20800710173030209-0817-0042", part: "time", reason: "is after the layout's last tick, 20800710173030208"},
		{cfg: coarse, text: "2030010100000001500700001", part: "time", value: "20300101000000015", reason: "no tick of 10ms begins then"},
		{cfg: odd, text: "20101104014254664.2.0.0", part: "rollback", value: "2", reason: "must be at most 1"},
		{cfg: odd, text: "20101104014254664.1.3.0", part: "worker", value: "3", reason: "must be at most 1"},
		{cfg: checked, text: "PAY-20261121073045123-0817-0042-43", part: "check", value: "43", reason: "does not match the digits before it: at least one is wrong or misplaced"},
		{cfg: checked, text: "PAY-20261121073045123-0817-0042-x9", part: "check", value: "x9", reason: "does not match"},
		{cfg: mod11, text: "2026112115304512308170042x", part: "check", value: "x", reason: "does not match"},
		// TestEveryChange has the folds as they are written.
		{cfg: berlin, text: "20261025030000000100000000", part: "fold", value: "1", reason: "must be 0: this time occurs once"},
		{cfg: berlin, text: "20261025020000000200000000", part: "fold", value: "2", reason: "must be at most 1"},
		{cfg: berlin, text: "20260329020000000x00000000", part: "fold", value: "x"},
		{cfg: berlin, text: "20260329020000000000000000", part: "time", value: "20260329020000000", reason: "clocks in Europe/Berlin never show it"},
		{cfg: berlin, text: "2026032902000000000000000x", part: "sequence", value: "000x", reason: "must have digits only"},
	} {
		t.Run(c.text, func(t *testing.T) {
			id, err := codec(t, c.cfg).Decode(c.text)
			refused(t, id, err, serial.ParseError{Text: c.text, Part: c.part, Value: c.value, Reason: c.reason})
		})
	}
	long := strings.Repeat("9", 1<<20)
	if _, err := codec(t, plain).Decode(long); err == nil || len(err.Error()) > 300 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
	if _, err := codec(t, serial.Config{}).Decode(long); err == nil || len(err.Error()) > 300 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

// A string one character off a serial is an error, where there is a check; without one it is an error
// or another id's serial.
func TestOneCharacterOff(t *testing.T) {
	for scheme := serial.NoCheck; scheme <= serial.Luhn; scheme++ {
		t.Run(scheme.String(), func(t *testing.T) {
			c := codec(t, serial.Config{Prefix: "P2", Separator: "-", Check: scheme})
			s, err := c.Encode(1999999999999999999)
			must(t, err)
			for i := range s {
				for _, ch := range "0123456789X-_ Px\x00" {
					text := s[:i] + string(ch) + s[i+1:]
					id, err := c.Decode(text)
					if err != nil || text == s {
						continue
					}
					if again, err := c.Encode(id); scheme != serial.NoCheck || err != nil || again != text {
						t.Errorf("%q decodes to %d, which is %q, %v", text, id, again, err)
					}
				}
			}
		})
	}
}

// refused checks that an error is a ParseError like the wanted one. Its Reason contains the wanted
// one, and an empty Value stands for any.
func refused[ID comparable](t *testing.T, id ID, err error, want serial.ParseError) {
	t.Helper()
	var parse *serial.ParseError
	if !errors.As(err, &parse) || id != *new(ID) {
		t.Fatalf("%v, %v", id, err)
	}
	if parse.Part != want.Part || want.Value != "" && parse.Value != want.Value || !strings.Contains(parse.Reason, want.Reason) || parse.Text != want.Text {
		t.Errorf("%+v; want the %s %q: %s", parse, want.Part, want.Value, want.Reason)
	}
}
