package describe

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

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

// An ID that was not parsed has no fields, and one of them has every field.
func TestJSON(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	parse := func(l core.Layout, text string, zone *time.Location) ID {
		id, format, err := Parse(text, Auto, l.Unsigned)
		if err != nil {
			t.Fatal(err)
		}
		d, err := New(l, id, text, format, now, zone)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	parsed := parse(core.Twitter(), "0x1bb54121fb2b914d", nil)
	negative := parse(core.Layout{TimeBits: 64, Unsigned: true}, "18446744073709551615", time.UTC)
	prefixed := parse(core.Twitter(), "ORD_0000000000007", nil)
	for want, d := range map[string]any{
		`{"id":"7","prefixed":"ord_0000000000007"}`: Text(7, "ord_"),
		`{"id":"7","hex":"0x0000000000000007","base32":"0000000000007","base58":"11111111118","base62":"00000000007","prefixed":"ord_0000000000007",` +
			`"input":"ORD_0000000000007","format":"ord_","prefix":"ord","time":"2010-11-04T01:42:54.657Z","unix_ms":1288834974657,"relative":"16 years ago","tick":"0",` +
			`"rollback":0,"datacenter":0,"worker":0,"worker_id":0,"sequence":7,"javascript":{"safe":true,"exact":true,"value":"7"},` +
			`"bits":"0000000000000000000000000000000000000000000000000000000000000111"}`: prefixed,
		`{"id":"7"}`:                        Text(7, Decimal),
		`{"id":"7","base58":"11111111118"}`: Text(7, Base58),
		`{"id":"-1","unsigned":"18446744073709551615","hex":"0xffffffffffffffff"}`: Text(-1, Hex, Base32),
		`{"id":"1996573624012345677","hex":"0x1bb54121fb2b914d","base32":"1QDA147XJQ4AD","base58":"5doYnWboBWc","base62":"2NUKMIAa421",` +
			`"input":"0x1bb54121fb2b914d","format":"hex","time":"2025-12-04T13:33:41.165Z","unix_ms":1764855221165,"relative":"11 months ago","tick":"476020246508",` +
			`"rollback":0,"datacenter":21,"worker":25,"worker_id":697,"sequence":333,"javascript":{"safe":false,"exact":false,"value":"1996573624012345600"},` +
			`"bits":"0001101110110101010000010010000111111011001010111001000101001101"}`: parsed,
	} {
		if got, err := json.Marshal(d); err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	if negative.ID != "-1" || negative.Unsigned != "18446744073709551615" || negative.Base58 != "" || negative.Local == "" || negative.Tick != negative.Unsigned {
		t.Errorf("%+v %+v", negative, negative.Fields)
	}
}

// randomLayout is a valid layout of more than 53 bits.
func randomLayout(r *rand.Rand) core.Layout {
	for {
		l := core.Layout{
			Epoch: time.UnixMilli(r.Int64N(1_700_000_000_000)), Tick: time.Duration(1+r.Int64N(20)) * time.Millisecond,
			TimeBits: uint8(1 + r.IntN(50)), RollbackBits: uint8(r.IntN(4)), DatacenterBits: uint8(r.IntN(8)), WorkerBits: uint8(r.IntN(12)), SequenceBits: uint8(r.IntN(24)),
			Unsigned: r.IntN(4) == 0,
		}
		if l.Validate() == nil && NewLayout(l, time.Now()).Bits > 53 {
			return l
		}
	}
}

// From unsafe on, and not before, there are IDs above 2^53-1.
func TestUnsafeFrom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		l := randomLayout(r)
		from := unsafeFrom(l)
		greatest := func(at time.Time) int64 {
			id, err := l.FirstAt(at)
			if err != nil {
				t.Fatalf("%v: %v", l, err)
			}
			return id | int64(1)<<lowBits(l) - 1
		}
		if id := greatest(from); id >= 0 && id <= 1<<53-1 {
			t.Errorf("%v: at %v the greatest id is %d", l, from, id)
		}
		if from.After(l.Epoch) {
			if id := greatest(from.Add(-l.Tick)); id > 1<<53-1 || id < 0 {
				t.Errorf("%v: before %v the greatest id is %d already", l, from, id)
			}
		}
	}
}
