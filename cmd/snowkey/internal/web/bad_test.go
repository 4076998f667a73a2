package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// Every kind of bad input, the status of the response, and the field that it names. What is no id,
// no time and no tick is in the tests of describe, timetext and the command.
func TestBadInput(t *testing.T) {
	h := handler(t, Config{})
	for _, c := range []struct {
		target string
		status int
		field  string
		reason string // a part of it
	}{
		// The layout, the same on every path.
		{"/api/layouts?preset=myspace", 400, "preset", "must be twitter, discord"},
		{"/api/layouts?preset=twitter&preset=discord", 400, "preset", "once"},
		{"/api/layouts?epoch=1767225600", 400, "epoch", "may be Unix seconds (2026-01-01T00:00:00.000Z) or milliseconds"},
		{"/api/layouts?epoch=2026-01-01T00:00:00.0001Z", 400, "epoch", "whole millisecond"},
		{"/api/layouts?tick=1.5ms", 400, "tick", "must be whole milliseconds"},
		{"/api/layouts?time_bits=65", 400, "time_bits", "0 to 64"},
		{"/api/layouts?time_bits=0", 400, "time_bits", "at least 1"},
		{"/api/layouts?time_bits=41&worker_bits=10&sequence_bits=13", 400, "time_bits+rollback_bits+datacenter_bits+worker_bits+sequence_bits", "at most 63"},
		{"/api/layouts?time_bits=63&tick=1000000h", 400, "time_bits", "reach farther"},
		{"/api/layouts?time_bits=1&sequence_bits=63&unsigned=true", 400, "sequence_bits", "at most 62"},
		{"/api/layouts?sequence_first=yes", 400, "sequence_first", "true or false"},
		{"/api/layouts?unsigned=1", 400, "unsigned", "true or false"},
		{"/api/layouts?worker=1", 400, "worker", "not a parameter"},
		{"/api/layouts?a=%zz", 400, "query", "escape"},
		{"/api/layouts?x=" + strings.Repeat("y", maxQuery), 414, "query", "at most"},
		{"/api/openapi.json?v=1", 400, "v", "not a parameter"},
		{"/api/", 404, "path", "does not exist"},

		// Making ids.
		{"/api/ids", 400, "worker", "must be given"},
		{"/api/ids?worker=32&datacenter=0", 400, "worker", "at most 31"},
		{"/api/ids?worker=0&datacenter=32", 400, "datacenter", "at most 31"},
		{"/api/ids?preset=mastodon&worker=1", 400, "worker", "at most 0"},
		{"/api/ids?worker=1&n=10001", 400, "n", "1 to 10000"},
		{"/api/ids?worker=1&n=2&time_bits=41&worker_bits=10&tick=1s", 400, "n", "at most 1"},
		{"/api/ids?worker=1&format=base64", 400, "format", "decimal, hex"},
		{"/api/ids?worker=1&format=auto", 400, "format", "must be decimal, hex"},
		{"/api/ids?worker=1&sequence=5", 400, "sequence", "requires time"},
		{"/api/ids?worker=1&time=2090-01-01", 400, "time", "fit"},
		{"/api/ids?worker=1&time=2026-01-01&sequence=4096", 400, "sequence", "at most 4095"},
		{"/api/ids?worker=1&time=2026-01-01&sequence=4000&n=97", 400, "n", "at most 96"},
		{"/api/ids?worker=1&epoch=2999-01-01", 400, "epoch", ""},

		// Taking apart.
		{"/api/parse", 400, "id", "must be given"},
		{"/api/parse?id=", 400, "id[0]", "is empty"},
		{"/api/parse?id=" + strings.Repeat("7", 300), 400, "id[0]", "above"},
		{"/api/parse?id=1e10", 400, "id[0]", "a number with an exponent"},
		{"/api/parse?id=9223372036854775808", 400, "id[0]", "above the largest id, 9223372036854775807"},
		{"/api/parse?id=2NUKMiAa421", 400, "id[0]", "or base62 for 1996573647831799309 or bwmarrin58 for 779232457127370638: choose with format"},
		{"/api/parse?id=9007199254740992&preset=javascript-safe", 400, "id[0]", "lowest 53 bits"},
		{"/api/parse?id=1&id=x&id=2&id=y", 400, "id[1]", "is not an id"},
		{"/api/parse?id=1&format=octal", 400, "format", "auto, decimal"},
		{"/api/parse?id=cus_1qda147xjq4ad&format=ord_", 400, "id[0]", `is not "ord_" and 13 digits of base32`},
		{"/api/parse?id=1" + strings.Repeat("&id=1", maxParsed), 400, "id", "at most 1000"},
		{"/api/parse?id=1&ids=2", 400, "ids", "not a parameter"},

		// Spans of time.
		{"/api/range", 400, "from", "must be given"},
		{"/api/range?from=2026-01-02&to=2026-01-01", 400, "from", "after to"},
		{"/api/range?from=2026-01-01&to=2999-01-01", 400, "to", "fit"},
		{"/api/range?from=2026-01-01&column=id%3B--", 400, "column", "letters"},
		{"/api/range?from=1970-01-01&to=2600-01-01&epoch=1970-01-01&time_bits=45&sequence_bits=19&unsigned=true", 400, "to", "turn negative"},
		{"/api/range?from=1970-01-01&epoch=1970-01-01&time_bits=45&sequence_bits=19&unsigned=true", 400, "to", "must be given"},
	} {
		w := ask(h, http.MethodGet, c.target)
		f := check(t, c.target, w.Code, c.status, w.Body.Bytes(), c.field, c.reason)
		if r := httptest.NewRequest(http.MethodGet, c.target, nil); r.URL.Query().Has(c.field) && len(r.URL.Query()[c.field]) == 1 && !strings.HasPrefix(f.Value, shorten(r.URL.Query().Get(c.field))) { // a date gets its time
			t.Errorf("%.120s: %s quotes %q", c.target, c.field, f.Value)
		}
	}
}

func check(t *testing.T, what string, status, want int, text []byte, field, reason string) (found fieldBody) {
	t.Helper()
	if len(what) > 120 {
		what = what[:120] + "…"
	}
	var body errorBody
	if err := json.Unmarshal(text, &body); err != nil {
		t.Errorf("%s: %d %.200s: %v", what, status, text, err)
		return found
	}
	if status != want || len(body.Error.Fields) == 0 || body.Error.Message == "" {
		t.Errorf("%s: %d, want %d; %.300s", what, status, want, text)
		return found
	}
	if strings.Contains(body.Error.Message, " :") { // if a value is missing
		t.Errorf("%s: %q", what, body.Error.Message)
	}
	for _, f := range body.Error.Fields {
		if len(f.Value) > longest+3 || len(f.Field) > longest+3 || f.Reason == "" {
			t.Errorf("%s: %+v", what, f)
		}
		if f.Field == field && strings.Contains(f.Reason, reason) {
			return f
		}
	}
	t.Errorf("%s: no error of %s with %q in %.400s", what, field, reason, text)
	return found
}

// All errors are reported at once.
func TestAllErrors(t *testing.T) {
	w := ask(handler(t, Config{}), http.MethodGet, "/api/ids?preset=x&epoch=y&tick=z&time_bits=99&n=0&format=q&sequence=1&bogus=1")
	var body errorBody
	must(t, json.Unmarshal(w.Body.Bytes(), &body))
	var fields []string
	for _, f := range body.Error.Fields {
		fields = append(fields, f.Field)
	}
	if got := strings.Join(fields, " "); got != "preset epoch tick time_bits n format worker sequence bogus" || !strings.Contains(body.Error.Message, "and 8 more") {
		t.Errorf("%s: %s", got, body.Error.Message)
	}
}

// Every response is JSON and none is an internal error.
func FuzzQuery(f *testing.F) {
	for _, path := range []string{"layouts", "ids", "parse", "range", "openapi.json"} {
		f.Add(path, "preset=discord&id=1&worker=1&from=2026-01-01&to=2027-01-01")
	}
	f.Add("ids", "worker=0&time_bits=1&unsigned=true&sequence_bits=62&tick=9223372036854ms&epoch=9999-12-31")
	f.Add("parse", "id=-1&unsigned=true&time_bits=64&tick=2562047h")
	h, err := New(Config{pairs: 1 << 20})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path, query string) {
		target := (&url.URL{Path: "/api/" + path, RawQuery: query}).String()
		if strings.ContainsAny(target, " \t\r\n\x00#") {
			return
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
		if err != nil {
			return
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 && w.Code != http.StatusServiceUnavailable || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	})
}
