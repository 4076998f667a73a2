package web

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
)

func TestFigures(t *testing.T) {
	h := handler(t, Config{})
	for query, want := range map[string][4]string{ // per second, of all, end, unsafe from
		"preset=twitter":                           {"4096000", "4194304000", "2080-07-10T17:30:30.209Z", "2010-11-28T22:14:18.305Z"},
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

// The API decodes an id as core does, and reads back all its formats.
func TestParsed(t *testing.T) {
	h := handler(t, Config{})
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		l := randomLayout(r)
		id := int64(r.Uint64() >> (64 - describe.NewLayout(l, time.Now()).Bits))
		parts, err := l.Decode(id)
		if err != nil {
			t.Fatalf("%v: %v", l, err)
		}
		q := queryOf(l)
		q.Set("id", strconv.FormatInt(id, 10))
		got := get[parseBody](t, h, "/api/parse?"+q.Encode()).IDs[0]
		if got.ID != q.Get("id") || got.Time != timetext.Format(parts.Time) || got.Datacenter != parts.Datacenter || got.Machine != parts.Worker ||
			got.Sequence != parts.Sequence || got.Rollback != parts.Rollback || got.WorkerID != parts.Datacenter<<l.WorkerBits|parts.Worker {
			t.Errorf("%v: %d is %+v, and %+v", l, id, parts, got)
		}
		spellings := map[string]describe.Format{got.ID: describe.Decimal, got.Hex: describe.Hex, got.Hex[2:]: describe.Hex, strings.ToUpper(got.Hex): describe.Auto, ` "` + got.ID + `", `: describe.Auto, got.Base32: describe.Base32, got.Base58: describe.Base58, got.Base62: describe.Base62}
		for text, format := range spellings {
			if text == "" && id < 0 {
				continue
			}
			q.Set("id", text)
			q.Set("format", string(format))
			if again := get[parseBody](t, h, "/api/parse?"+q.Encode()).IDs[0]; again.ID != got.ID {
				t.Errorf("%q as %s is %s, want %s", text, format, again.ID, got.ID)
			}
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
		w := ask(h, http.MethodGet, "/api/range?"+q.Encode())
		if err != nil {
			if w.Code != http.StatusBadRequest {
				t.Errorf("%v from %v to %v: %d %s, and core says %v", l, from, to, w.Code, w.Body, err)
			}
			continue
		}
		var got describe.Range
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Min != strconv.FormatInt(least, 10) || got.Before != strconv.FormatInt(behind, 10) {
			t.Errorf("%v from %v to %v: %s, want %d to %d", l, from, to, w.Body, least, behind)
		}
	}
	got := get[describe.Range](t, h, "/api/range?from=2026-01-01&to=1769860800000&column=o.id")
	if got.Where != "o.id >= 2006515713438646272 AND o.id < 2017568543339446272" || got.To != "2026-01-31T12:00:00Z" {
		t.Errorf("%+v", got)
	}
	if got := get[describe.Range](t, h, "/api/range?from=2026-01-01T01:00%2B01:00"); got.Where != "id >= 2006515713438646272" || got.Before != "" {
		t.Errorf("%+v", got)
	}
}
