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
	odd := serial.Config{Layout: core.Layout{TimeBits: 30, Tick: 7 * time.Millisecond, DatacenterBits: 1, RollbackBits: 1, SequenceBits: 3}, Separator: "."}
	for _, c := range []struct {
		cfg               serial.Config
		text, part, value string
		reason            string
	}{
		{cfg: plain, text: "", part: "prefix", value: "", reason: `must be "PAY"`},
		{cfg: plain, text: "pay-20261121153045123-0817-0042", part: "prefix", value: "pay", reason: `must be "PAY"`},
		{cfg: plain, text: "PAY-20261121153045123-0817-004", part: "length", value: "30", reason: "must be 31"},
		{cfg: plain, text: "PAY-20261121153045123-0817-0042\n", part: "length", value: "32", reason: "must be 31"},
		{cfg: plain, text: "PAY_20261121153045123-0817-0042", part: "separator", value: "_", reason: `must be "-"`},
		{cfg: plain, text: "PAY-2026112115304512--0817-0042", part: "time", value: "2026112115304512-", reason: "must have digits only"},
		{cfg: plain, text: "PAY-20261121153045123-08１7-0042", part: "length"},
		{cfg: plain, text: "PAY-20261121153045123- 817-0042", part: "worker", value: " 817", reason: "must have digits only"},
		{cfg: plain, text: "PAY-20261121153045123-0817-0x42", part: "sequence", value: "0x42", reason: "must have digits only"},
		{cfg: plain, text: "PAY-20261121153045123-1024-0042", part: "worker", value: "1024", reason: "must be at most 1023"},
		{cfg: plain, text: "PAY-20261121153045123-1023-4096", part: "sequence", value: "4096", reason: "must be at most 4095"},
		{cfg: plain, text: "PAY-20261321153045123-0817-0042", part: "time", value: "20261321153045123", reason: "there is no such date"},
		{cfg: plain, text: "PAY-20260229153045123-0817-0042", part: "time", reason: "there is no such date"},
		{cfg: plain, text: "PAY-20261121243045123-0817-0042", part: "time", reason: "there is no such time of day"},
		{cfg: plain, text: "PAY-20261121156045123-0817-0042", part: "time", reason: "there is no such time of day"},
		{cfg: plain, text: "PAY-20101104014254656-0817-0042", part: "time", reason: "is before the layout's first tick, 20101104014254657"},
		{cfg: plain, text: "PAY-00000101000000000-0817-0042", part: "time", reason: "is before the layout's first tick"},
		{cfg: plain, text: "PAY-20800710173030209-0817-0042", part: "time", reason: "is after the layout's last tick, 20800710173030208"},
		{cfg: coarse, text: "2030010100000001500700001", part: "time", value: "20300101000000015", reason: "no tick of 10ms begins then"},
		{cfg: odd, text: "20101104014254660.0.0.0", part: "time", reason: "no tick of 7ms begins then"},
		{cfg: odd, text: "20101104014254664.2.0.0", part: "rollback", value: "2", reason: "must be at most 1"},
		{cfg: odd, text: "20101104014254664.1.3.0", part: "worker", value: "3", reason: "must be at most 1"},
		{cfg: odd, text: "20101104014254664.1.1.8", part: "sequence", value: "8", reason: "must be at most 7"},
		{cfg: checked, text: "PAY-20261121073045123-0817-0042-43", part: "check", value: "43", reason: "does not match the digits before it: at least one is wrong or misplaced"},
		{cfg: checked, text: "PAY-20261121073045123-0817-0042-x9", part: "check", value: "x9", reason: "does not match"},
		{cfg: checked, text: "PAY-20261321073045123-0817-0042-29", part: "check", reason: "does not match"},
		{cfg: mod11, text: "2026112115304512308170042x", part: "check", value: "x", reason: "does not match"},
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

// Each text one character off a serial is an error, where there is a check; without
// one it is an error or another id's serial, to the letter. So is each swap.
func TestOneCharacterOff(t *testing.T) {
	ids := []int64{0, 1<<63 - 1, 2124042817363972138, 1999999999999999999}
	for _, scheme := range []serial.Scheme{serial.NoCheck, serial.Mod97, serial.Mod11, serial.Mod1110, serial.Luhn} {
		t.Run(scheme.String(), func(t *testing.T) {
			c, check := codec(t, serial.Config{Prefix: "P2", Separator: "-", Check: scheme}), scheme != serial.NoCheck
			passed := 0
			try := func(was, text string, must bool) {
				t.Helper()
				if text == was {
					return
				}
				id, err := c.Decode(text)
				if err != nil {
					return
				}
				passed++
				if again, err := c.Encode(id); err != nil || again != text {
					t.Errorf("%q decodes to %d, which is %q, %v", text, id, again, err)
				}
				if must {
					t.Errorf("%q is accepted, one character off %q", text, was)
				}
			}
			for _, id := range ids {
				s, err := c.Encode(id)
				if err != nil {
					t.Fatal(err)
				}
				for i := range s {
					for _, ch := range "0123456789X-_ Px\x00" {
						try(s, s[:i]+string(ch)+s[i+1:], check)
						try(s, s[:i]+string(ch)+s[i:], true)
					}
					try(s, s[:i]+s[i+1:], true)
					if i > 0 {
						try(s, s[:i-1]+s[i:i+1]+s[i-1:i]+s[i+1:], check && (scheme == serial.Mod97 || scheme == serial.Mod11))
					}
				}
			}
			if !check && passed == 0 {
				t.Error("nothing passes without a check: the test shows nothing")
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
