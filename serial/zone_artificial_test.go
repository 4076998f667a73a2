package serial_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/serial"
)

// artificial is a zone that no government has: at each time it takes the offset next to
// it; the first holds from the beginning. The rule is for the time after that.
func artificial(t *testing.T, offsets []int, times []int64, rule string) *time.Location {
	t.Helper()
	block := func(wide bool) []byte {
		b := append([]byte("TZif2"), make([]byte, 15)...)
		for _, n := range []int{0, 0, 0, len(times), len(offsets), 4} {
			b = binary.BigEndian.AppendUint32(b, uint32(n))
		}
		for _, at := range times {
			if wide {
				b = binary.BigEndian.AppendUint64(b, uint64(at))
			} else {
				b = binary.BigEndian.AppendUint32(b, uint32(at))
			}
		}
		for i := range times {
			b = append(b, byte(i+1))
		}
		for _, offset := range offsets {
			b = append(binary.BigEndian.AppendUint32(b, uint32(int32(offset))), 0, 0)
		}
		return append(b, "ODD\x00"...)
	}
	data := append(block(false), block(true)...)
	loc, err := time.LoadLocationFromTZData("made/up", append(data, "\n"+rule+"\n"...))
	must(t, err)
	return loc
}

func TestArtificialZones(t *testing.T) {
	const base = 1_800_000_000 // in January 2027
	at := func(after int64) int64 {
		return compose(t, core.Twitter(), core.Parts{Time: time.Unix(base+after, 0)})
	}
	// Two steps back within an hour show a time three times.
	thrice := codec(t, serial.Config{Location: artificial(t, []int{7200, 3600, 0}, []int64{base, base + 1800}, ""), Fold: true})
	for i, after := range []int64{-3200, 400, 4000} {
		checkInverse(t, thrice, at(after), "20270115090640000"+string(rune('0'+i))+"00000000")
	}
	for after := int64(-8000); after < 8000; after += 50 {
		checkInverse(t, thrice, at(after), "")
	}
	// An offset of two days, for an hour, is beyond all reason: an error, and no wrong serial.
	far := codec(t, serial.Config{Location: artificial(t, []int{0, 48 * 3600, 0}, []int64{base, base + 3600}, ""), Fold: true})
	checkInverse(t, far, at(-1), "")
	if s, err := far.Encode(at(0)); err == nil || s != "" || !strings.Contains(err.Error(), "made/up") {
		t.Errorf("%q, %v", s, err)
	}
	// A name that changes for ever, over an offset that does not.
	named := serial.Config{Location: artificial(t, []int{0, 0}, []int64{base}, "AAA0BBB0,M3.5.0,M10.5.0"), Layout: core.Layout{TimeBits: 63}}
	if err := validate(named); err == nil || !strings.Contains(err.Error(), "too often") {
		t.Error(err)
	}
}
