package web

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestPresets(t *testing.T) {
	body := get[layoutsBody](t, handler(t, Config{}), "/api/layouts")
	presets := core.Presets()
	if len(body.Layouts) != len(presets) {
		t.Fatalf("%d layouts", len(body.Layouts))
	}
	for i, got := range body.Layouts {
		l := presets[i].Layout
		if got.Preset != presets[i].Name || got.End != formatTime(l.End()) || got.Workers != strconv.FormatInt(l.WorkerIDs(), 10) || got.PerTick != strconv.FormatInt(l.IDsPerTick(), 10) {
			t.Errorf("%+v", got)
		}
		if (got.UnsafeFrom == nil) != (got.Preset == "javascript-safe") {
			t.Errorf("%s: unsafe from %v", got.Preset, got.UnsafeFrom)
		}
	}
}

func TestFigures(t *testing.T) {
	h := handler(t, Config{})
	for query, want := range map[string][4]string{ // per second, of all, end, unsafe from
		"preset=twitter":                           {"4096000", "4194304000", "2080-07-10T17:30:30.209Z", "2010-11-28T22:14:18.305Z"},
		"preset=sonyflake":                         {"25600", "1677721600", "2188-11-16T03:28:58.880Z", "2014-11-02T03:18:29.120Z"},
		"preset=seconds":                           {"2097152", "2147483648", "2156-02-07T06:28:16.000Z", "2020-02-18T13:05:04.000Z"},
		"time_bits=41&tick=7ms":                    {"142.857142", "142.857142", "2498-08-18T16:16:03.521Z", ""},
		"time_bits=20&tick=1h":                     {"0.000277", "0.000277", "2130-06-18T17:42:54.657Z", ""},
		"epoch=1970-01-01&time_bits=63":            {"1000", "1000", "292278994-08-17T07:12:55.808Z", "287396-10-12T08:59:00.992Z"},
		"preset=twitter&epoch=2020-01-01":          {"4096000", "4194304000", "2089-09-06T15:47:35.552Z", "2020-01-25T20:31:23.648Z"},
		"time_bits=1&sequence_bits=62":             {"4611686018427387904000", "4611686018427387904000", "2010-11-04T01:42:54.659Z", "2010-11-04T01:42:54.657Z"},
		"time_bits=10&sequence_bits=53":            {"9007199254740992000", "9007199254740992000", "2010-11-04T01:42:55.681Z", "2010-11-04T01:42:54.658Z"},
		"time_bits=1&worker_bits=63&unsigned=true": {"1000", "9223372036854775807000", "2010-11-04T01:42:54.659Z", "2010-11-04T01:42:54.657Z"},
	} {
		got := get[layoutsBody](t, h, "/api/layouts?"+query).Layouts[0]
		unsafe := ""
		if got.UnsafeFrom != nil {
			unsafe = *got.UnsafeFrom
		}
		if have := [4]string{got.PerSecond, got.AllPerSecond, got.End, unsafe}; have != want {
			t.Errorf("%s: %q, want %q", query, have, want)
		}
	}
}

// From unsafe on, and not before, there are ids above 2^53-1.
func TestUnsafeFrom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		l := randomLayout(r)
		if lowBits(l)+int(l.TimeBits) <= 53 {
			continue
		}
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

// What the API says of an id is what core says, and every spelling of it is read back.
func TestParsed(t *testing.T) {
	h := handler(t, Config{})
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		l := randomLayout(r)
		id := int64(r.Uint64() >> (64 - lowBits(l) - int(l.TimeBits)))
		parts, err := l.Decode(id)
		if err != nil {
			t.Fatalf("%v: %v", l, err)
		}
		q := queryOf(l)
		q.Set("id", strconv.FormatInt(id, 10))
		got := get[parseBody](t, h, "/api/parse?"+q.Encode()).IDs[0]
		if got.ID != q.Get("id") || got.Time != formatTime(parts.Time) || got.Datacenter != strconv.FormatInt(parts.Datacenter, 10) || got.Worker != strconv.FormatInt(parts.Worker, 10) ||
			got.Sequence != strconv.FormatInt(parts.Sequence, 10) || got.Rollback != strconv.FormatInt(parts.Rollback, 10) {
			t.Errorf("%v: %d is %+v, and %+v", l, id, parts, got)
		}
		spellings := map[string]string{got.ID: formDecimal, got.Hex: formHex, "0x" + got.Hex: formAuto, ` "` + got.ID + `", `: formAuto, got.Base32: form32, got.Base58: form58, got.Base62: form62}
		for text, form := range spellings {
			if text == "" && id < 0 {
				continue
			}
			q.Set("id", text)
			q.Set("form", form)
			if again := get[parseBody](t, h, "/api/parse?"+q.Encode()).IDs[0]; again.ID != got.ID {
				t.Errorf("%q as %s is %s, want %s", text, form, again.ID, got.ID)
			}
		}
	}
}

func TestForms(t *testing.T) {
	for text, want := range map[string]int64{
		"1996573624012345677": 1996573624012345677, `"1996573624012345677",`: 1996573624012345677, "'7'": 7, "`7`": 7, "0": 0,
		"0x1bb5404d9b33914d": 0x1bb5404d9b33914d, "0X1BB5404D9B33914D": 0x1bb5404d9b33914d, "1bb5404d9b33914d": 0x1bb5404d9b33914d, "0xff": 255,
		sqltype.ID(1996573624012345677).Base32(): 1996573624012345677, "0000000000lol": sqltypeID("0000000000101"),
		"2NUKM0Aa421": must62("2NUKM0Aa421"), // a 0 is no digit of base 58
		"12345678901": 12345678901,           // digits alone are decimal
	} {
		if id, err := readID(text, formAuto, false); err != nil || id != want {
			t.Errorf("%q: %d, %v, want %d", text, id, err, want)
		}
	}
	if id, err := readID(" \t7\n", formAuto, false); err != nil || id != 7 {
		t.Errorf("%d, %v", id, err)
	}
	if id, err := readID("18446744073709551615", formAuto, true); err != nil || id != -1 {
		t.Errorf("%d, %v", id, err)
	}
	if id, err := readID("-1", formAuto, true); err != nil || id != -1 {
		t.Errorf("%d, %v", id, err)
	}
}

func sqltypeID(text string) int64 {
	id, err := sqltype.ParseBase32(text)
	if err != nil {
		panic(err)
	}
	return int64(id)
}

func must62(text string) int64 {
	id, err := sqltype.ParseBase62(text)
	if err != nil {
		panic(err)
	}
	return int64(id)
}

func TestJavaScript(t *testing.T) {
	for id, want := range map[int64]javaScriptBody{
		1996573624012345677: {false, false, "1996573624012345600"},
		1<<53 - 1:           {true, true, "9007199254740991"},
		1 << 53:             {false, true, "9007199254740992"},
		1<<53 + 1:           {false, false, "9007199254740992"},
		math.MaxInt64:       {false, false, "9223372036854776000"},
		math.MinInt64:       {false, true, "-9223372036854776000"},
		0:                   {true, true, "0"},
		-1:                  {true, true, "-1"},
	} {
		if got := javaScript(id); got != want {
			t.Errorf("%d: %+v, want %+v", id, got, want)
		}
	}
}

func TestDifference(t *testing.T) {
	h := handler(t, Config{})
	for query, want := range map[string]differenceBody{
		"id=175928847299117063&id=1312345678901234567": {"1136416831602117504", "270942886257", "270942886257", "3135d 21h 54m 46.257s"},
		"id=1312345678901234567&id=175928847299117063": {"-1136416831602117504", "-270942886257", "-270942886257", "-3135d 21h 54m 46.257s"},
		"id=5&id=5": {"0", "0", "0", "0s"},
		"id=0&id=18446744073709551615&time_bits=64&unsigned=true&tick=10ms": {"18446744073709551615", "18446744073709551615", "", ""},
	} {
		if got := get[parseBody](t, h, "/api/parse?"+query).Difference; got == nil || *got != want {
			t.Errorf("%s: %+v, want %+v", query, got, want)
		}
	}
	if body := get[parseBody](t, h, "/api/parse?id=1&id=2&id=3"); body.Difference != nil || len(body.IDs) != 3 {
		t.Errorf("%+v", body)
	}
}

func TestPosted(t *testing.T) {
	h := handler(t, Config{})
	for _, c := range [][2]string{
		{"text/plain; charset=utf-8", "7, 8\n9"}, {"text/plain", `["7","8",'9']`}, {"text/plain", "(7,8,9)"}, {"text/plain", "| 7 |\n| 8 |\n| 9 |"}, {"text/plain", "{7,8,9};"},
		{"application/json", `{"ids":["7","8","9"]}`},
	} {
		media, text := c[0], c[1]
		w := ask(h, http.MethodPost, "/api/parse?preset=discord", text, "Content-Type", media)
		var body parseBody
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || len(body.IDs) != 3 || body.IDs[2].ID != "9" || body.IDs[0].Time != "2015-01-01T00:00:00.000Z" {
			t.Errorf("%s: %d %s, %v", media, w.Code, w.Body, err)
		}
	}
}

func TestRanges(t *testing.T) {
	h := handler(t, Config{})
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		l := randomLayout(r)
		span := min(l.End().Sub(l.Epoch), 200*365*24*time.Hour)
		from := l.Epoch.Add(time.Duration(r.Int64N(int64(span))))
		to := l.Epoch.Add(time.Duration(r.Int64N(int64(span))))
		q := queryOf(l)
		q.Set("from", from.Format(time.RFC3339Nano))
		q.Set("to", to.Format(time.RFC3339Nano))
		least, behind, err := l.Range(from, to)
		w := ask(h, http.MethodGet, "/api/range?"+q.Encode(), "")
		if err != nil {
			if w.Code != http.StatusBadRequest {
				t.Errorf("%v from %v to %v: %d %s, and core says %v", l, from, to, w.Code, w.Body, err)
			}
			continue
		}
		var got rangeBody
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Min != strconv.FormatInt(least, 10) || got.Max != strconv.FormatInt(behind, 10) {
			t.Errorf("%v from %v to %v: %s, want %d to %d", l, from, to, w.Body, least, behind)
		}
	}
	got := get[rangeBody](t, h, "/api/range?from=2026-01-01&to=1769860800000&column=o.id")
	if got.Where != "o.id >= 2006515713438646272 AND o.id < 2017568543339446272" || got.To != "2026-01-31T12:00:00Z" {
		t.Errorf("%+v", got)
	}
	if got := get[rangeBody](t, h, "/api/range?from=2026-01-01T01:00%2B01:00"); got.Where != "id >= 2006515713438646272" || got.Max != "" {
		t.Errorf("%+v", got)
	}
}

// A time that is read is written again, and what is no time is none.
func FuzzTime(f *testing.F) {
	for _, text := range []string{"2026-01-31", "2024-02-29T23:59:59.999999999+14:00", "1769860800000", "-62135596800000", "2026-01-31 12:00", "2026-13-01", "0000-01-01"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, ok := parseTime(text)
		if !ok {
			return
		}
		if again, ok := parseTime(at.Format("2006-01-02T15:04:05.999999999Z07:00")); at.Year() >= 0 && at.Year() <= 9999 && (!ok || !again.Equal(at)) {
			t.Errorf("%q is %v, and that is %v", text, at, again)
		}
		if text[0] >= '0' && text[0] <= '9' && len(text) > 18 {
			if std, err := time.Parse(time.RFC3339Nano, text); err == nil && !std.Equal(at) {
				t.Errorf("%q is %v, want %v", text, at, std)
			}
		}
	})
}

// What is read in a form is written the same in it; what is found out is what one form says.
func FuzzID(f *testing.F) {
	for _, text := range []string{"7", "0x1bb5404d9b33914d", "2NUKMIAa421", `"18446744073709551615",`, "-1", "0000000000lol", "dead"} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, unsigned bool) {
		found, err := readID(text, formAuto, unsigned)
		agree := 0
		for _, form := range []string{formDecimal, formHex, form32, form58, form62} {
			id, formErr := readID(text, form, unsigned)
			if formErr != nil {
				continue
			}
			if id < 0 && !unsigned {
				t.Errorf("%q as %s is %d", text, form, id)
			}
			if id >= 0 {
				if again, err := readID(writeID(id, form), form, unsigned); err != nil || again != id {
					t.Errorf("%q as %s is %d, and that is %d, %v", text, form, id, again, err)
				}
			}
			if err == nil && id == found {
				agree++
			}
		}
		if err == nil && agree == 0 {
			t.Errorf("%q is found to be %d, and no form says so", text, found)
		}
	})
}
