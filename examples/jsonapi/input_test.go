package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
)

// checkProblem holds an answer to RFC 9457.
func checkProblem(t *testing.T, a answer) (p problem) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(a.body))
	dec.DisallowUnknownFields()
	err := dec.Decode(&p)
	if err != nil || p.Status != a.status || p.Title == "" || p.Detail == "" || a.header.Get("Content-Type") != "application/problem+json" || a.header.Get("ETag") != "" {
		t.Errorf("no problem by RFC 9457: %v, %+v", err, a)
	}
	return p
}

// body is an order with one thing changed.
func body(old, by string) string {
	const good = `{"reorderOf":null,"customer":"Ada","note":"n","lines":[{"sku":"tea","quantity":2,"priceCents":450}]}`
	if !strings.Contains(good, old) {
		panic(old)
	}
	return strings.Replace(good, old, by, 1)
}

// Every wrong input has the status that fits, names the field and quotes the value;
// and nothing is written.
func TestBadInput(t *testing.T) {
	t.Parallel()
	onEvery(t, func(t *testing.T, dsn string) {
		c := serve(t, dsn)
		at := "/orders/" + c.send("POST", "/orders", tea).order(t, http.StatusCreated).ID
		match := "If-Match: *"
		for _, r := range []struct {
			method, target, body, header string
			status                       int
			field, value                 string // of one of the faults
		}{
			{"GET", "/orders/abc", "", "", 400, "id", "abc"},
			{"GET", "/orders/-7", "", "", 400, "id", "-7"},
			{"GET", "/orders/007", "", "", 400, "id", "007"},
			{"GET", "/orders/1.0", "", "", 400, "id", "1.0"},
			{"GET", "/orders/1e18", "", "", 400, "id", "1e18"},
			{"GET", "/orders/9223372036854775808", "", "", 400, "id", "9223372036854775808"},
			{"GET", "/orders/%00", "", "", 400, "id", "\x00"},
			{"GET", "/orders/%ff", "", "", 400, "id", "\ufffd"},
			{"GET", "/orders/" + strings.Repeat("9", 500), "", "", 400, "id", strings.Repeat("9", 60) + "…"},
			{"GET", "/orders/cus_1qda147xjq4ad", "", "", 400, "id", "cus_1qda147xjq4ad"},
			{"GET", "/orders/line_1qda147xjq4ad", "", "", 400, "id", "line_1qda147xjq4ad"},
			{"GET", "/orders/1qda147xjq4ad", "", "", 400, "id", "1qda147xjq4ad"},
			{"GET", "/orders/ord_1qda147xjq4a", "", "", 400, "id", "ord_1qda147xjq4a"},
			{"GET", "/orders/ord_1qda147xjq4au", "", "", 400, "id", "ord_1qda147xjq4au"},
			{"GET", "/orders/ord_zzzzzzzzzzzzz", "", "", 400, "id", "ord_zzzzzzzzzzzzz"},
			{"GET", "/orders/ord_7zzzzzzzzzzzz", "", "", 404, "", ""},
			{"GET", "/orders/9223372036854775807", "", "", 404, "", ""},
			{"GET", "/orders/0", "", "", 404, "", ""},
			{"PATCH", "/orders/x", `{"note":""}`, match, 400, "id", "x"},
			{"DELETE", "/orders/x", "", match, 400, "id", "x"},

			{"GET", "/customers/ord_1qda147xjq4ad", "", "", 400, "id", "ord_1qda147xjq4ad"},
			{"GET", "/customers/1996573624012345677", "", "", 400, "id", "1996573624012345677"},
			{"GET", "/customers/cus_1qda147xjq4ad", "", "", 404, "", ""},
			{"POST", "/customers", "{}", "", 422, "name", ""},
			{"POST", "/customers", `{"name":" Ada"}`, "", 422, "name", " Ada"},
			{"POST", "/customers", `{"id":"cus_1qda147xjq4ad","name":"Ada"}`, "", 422, "id", ""},

			{"GET", "/orders?after=abc", "", "", 400, "after", "abc"},
			{"GET", "/orders?after=cus_1qda147xjq4ad", "", "", 400, "after", "cus_1qda147xjq4ad"},
			{"GET", "/orders?after=", "", "", 400, "after", ""},
			{"GET", "/orders?after=1&after=2", "", "", 400, "after", "1, 2"},
			{"GET", "/orders?limit=0", "", "", 400, "limit", "0"},
			{"GET", "/orders?limit=101", "", "", 400, "limit", "101"},
			{"GET", "/orders?limit=-1", "", "", 400, "limit", "-1"},
			{"GET", "/orders?limit=%2B5", "", "", 400, "limit", "+5"},
			{"GET", "/orders?limit=05", "", "", 400, "limit", "05"},
			{"GET", "/orders?limit=%D9%A1", "", "", 400, "limit", "١"},
			{"GET", "/orders?limit=ten", "", "", 400, "limit", "ten"},
			{"GET", "/orders?limit=", "", "", 400, "limit", ""},
			{"GET", "/orders?from=yesterday", "", "", 400, "from", "yesterday"},
			{"GET", "/orders?from=2026-11-21", "", "", 400, "from", "2026-11-21"},
			{"GET", "/orders?to=2026-11-21T15:04:05+01:00", "", "", 400, "to", "2026-11-21T15:04:05 01:00"},
			{"GET", "/orders?from=1999-01-01T00:00:00Z", "", "", 400, "from", "1999-01-01T00:00:00Z"},
			{"GET", "/orders?to=2999-01-01T00:00:00Z", "", "", 400, "to", "2999-01-01T00:00:00Z"},
			{"GET", "/orders?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "", "", 400, "from", "2026-01-02T00:00:00Z"},
			{"GET", "/orders?offset=7", "", "", 400, "offset", "7"},
			{"GET", "/orders?limit=%zz", "", "", 400, "query", "limit=%zz"},

			{"POST", "/orders", tea, "Content-Type: text/plain", 415, "Content-Type", "text/plain"},
			{"POST", "/orders", tea, "Content-Type: application/x-www-form-urlencoded", 415, "Content-Type", "application/x-www-form-urlencoded"},
			{"POST", "/orders", tea, "Content-Type: ", 415, "Content-Type", ""},
			{"POST", "/orders", tea, "Content-Type: application/json; charset=latin1", 415, "Content-Type", "application/json; charset=latin1"},
			{"POST", "/orders", tea, "Content-Encoding: gzip", 415, "Content-Encoding", "gzip"},
			{"POST", "/orders", "", "Content-Type: application/json", 400, "body", ""},
			{"POST", "/orders", "{", "", 400, "body", "{"},
			{"POST", "/orders", "nonsense", "", 400, "body", "onsense"},
			{"POST", "/orders", tea + "x", "", 400, "body", "x"},
			{"POST", "/orders", tea + tea, "", 400, "body", tea[:60] + "…"},
			{"POST", "/orders", body("Ada", "Ad\xff"), "", 400, "body", ""},
			{"POST", "/orders", "null", "", 422, "body", "null"},
			{"POST", "/orders", "[]", "", 422, "body", "array"},
			{"POST", "/orders", "7", "", 422, "body", "7"},
			{"POST", "/orders", body(`"note"`, `"id":"7","note"`), "", 422, "id", ""},
			{"POST", "/orders", body(`"sku"`, `"a\"b":1,"sku"`), "", 422, `a"b`, ""},
			{"POST", "/orders", `{"note":"` + strings.Repeat("x", maxBody) + `"}`, "", 413, "", ""},

			{"POST", "/orders", body(`"Ada"`, `5`), "", 422, "customer", "5"},
			{"POST", "/orders", body(`"Ada"`, `[1]`), "", 422, "customer", "array"},
			{"POST", "/orders", body(`"tea"`, `true`), "", 422, "lines.sku", "true"},
			{"POST", "/orders", body(`[{`, `{"x":[{`) + "}", "", 422, "lines", "object"},
			{"POST", "/orders", body(`"lines":[{"sku":"tea","quantity":2,"priceCents":450}]`, `"lines":"tea: \"2\""`), "", 422, "lines", `tea: "2"`},
			{"POST", "/orders", body("Ada", ""), "", 422, "customer", ""},
			{"POST", "/orders", body("Ada", " Ada"), "", 422, "customer", " Ada"},
			{"POST", "/orders", body("Ada", `A\u0000`), "", 422, "customer", "A\x00"},
			{"POST", "/orders", body("Ada", `A\ud800`), "", 422, "customer", "A\ufffd"},
			{"POST", "/orders", body("Ada", `A\u001b[31m`), "", 422, "customer", "A\x1b[31m"},
			{"POST", "/orders", body("Ada", strings.Repeat("ä", 191)), "", 422, "customer", strings.Repeat("ä", 60) + "…"},
			{"POST", "/orders", body(`"n"`, `"`+strings.Repeat("n", 1001)+`"`), "", 422, "note", strings.Repeat("n", 60) + "…"},
			{"POST", "/orders", body(`{"sku":"tea","quantity":2,"priceCents":450}`, ""), "", 422, "lines", "0 lines"},
			{"POST", "/orders", `{"customer":"Ada"}`, "", 422, "lines", "0 lines"},
			{"POST", "/orders", body(`[{`, `[`+strings.Repeat("{},", 100)+`{`), "", 422, "lines", "101 lines"},
			{"POST", "/orders", body("tea", ""), "", 422, "lines[0].sku", ""},
			{"POST", "/orders", body("2,", "-1,"), "", 422, "lines[0].quantity", "-1"},
			{"POST", "/orders", body("2,", "0,"), "", 422, "lines[0].quantity", "0"},
			{"POST", "/orders", body("2,", "1.5,"), "", 422, "lines[0].quantity", "1.5"},
			{"POST", "/orders", body("2,", "1e2,"), "", 422, "lines[0].quantity", "1e2"},
			{"POST", "/orders", body("2,", `"2",`), "", 422, "lines[0].quantity", "2"},
			{"POST", "/orders", body("2,", "null,"), "", 422, "lines[0].quantity", "null"},
			{"POST", "/orders", body(`"quantity":2,`, ""), "", 422, "lines[0].quantity", ""},
			{"POST", "/orders", body("2,", "99999999999999999999,"), "", 422, "lines[0].quantity", "99999999999999999999"},
			{"POST", "/orders", body("2,", "10001,"), "", 422, "lines[0].quantity", "10001"},
			{"POST", "/orders", body("450", "-1"), "", 422, "lines[0].priceCents", "-1"},
			{"POST", "/orders", body("450", "100000000"), "", 422, "lines[0].priceCents", "100000000"},
			{"POST", "/orders", body("}]", `},{"sku":"x","quantity":1,"priceCents":-5}]`), "", 422, "lines[1].priceCents", "-5"},

			{"POST", "/orders", body("null", `"abc"`), "", 422, "reorderOf", "abc"},
			{"POST", "/orders", body("null", `-1`), "", 422, "reorderOf", "-1"},
			{"POST", "/orders", body("null", `1996573624012345677`), "", 422, "reorderOf", "1996573624012345677"},
			{"POST", "/orders", body("null", `1.996573624012345677e18`), "", 422, "reorderOf", "1.996573624012345677e18"},
			{"POST", "/orders", body("null", `9223372036854775808`), "", 422, "reorderOf", "9223372036854775808"},
			{"POST", "/orders", body("null", `"7"`), "", 422, "reorderOf", "ord_0000000000007"},
			{"POST", "/orders", body("null", `"cus_1qda147xjq4ad"`), "", 422, "reorderOf", "cus_1qda147xjq4ad"},
			{"POST", "/orders", body("reorderOf\":null", `customerId":"ord_1qda147xjq4ad"`), "", 422, "customerId", "ord_1qda147xjq4ad"},
			{"POST", "/orders", body("reorderOf\":null", `customerId":"cus_1qda147xjq4ad"`), "", 422, "customerId", "cus_1qda147xjq4ad"},
			{"POST", "/orders", body("reorderOf\":null", `customerId":1996573624012345677`), "", 422, "customerId", "1996573624012345677"},
			{"POST", "/orders", tea, "Idempotency-Key: ", 400, "Idempotency-Key", ""},
			{"POST", "/orders", tea, "Idempotency-Key: " + strings.Repeat("k", 256), 400, "Idempotency-Key", strings.Repeat("k", 60) + "…"},
			{"POST", "/orders", tea, "Idempotency-Key: schlüssel", 400, "Idempotency-Key", "schlüssel"},

			{"PATCH", at, "{}", match, 422, "note", ""},
			{"PATCH", at, `{"note":null}`, match, 422, "note", ""},
			{"PATCH", at, `{"note":7}`, match, 422, "note", "7"},
			{"PATCH", at, `{"customer":"Eve"}`, match, 422, "customer", ""},
			{"PATCH", at, `{"note":"` + strings.Repeat("n", 1001) + `"}`, match, 422, "note", strings.Repeat("n", 60) + "…"},
			{"PATCH", at, `{"note":"x"} `, "Content-Type: text/plain", 428, "", ""},

			{"PUT", "/orders", tea, "", 405, "", ""},
			{"POST", at, tea, "", 405, "", ""},
			{"POST", "/", tea, "", 405, "", ""},
			{"DELETE", "/healthz", "", "", 405, "", ""},
			{"PATCH", "/app.js", "", "", 405, "", ""},
			{"GET", "/nothing", "", "", 404, "", ""},
			{"GET", "/orders/", "", "", 404, "", ""},
			{"GET", at + "/lines", "", "", 404, "", ""},
			{"POST", "/orders", tea, "Sec-Fetch-Site: cross-site", 403, "", ""},
			{"DELETE", at, "", "Origin: https://elsewhere.example", 403, "", ""},
		} {
			t.Run(r.method+" "+r.target+" "+r.body, func(t *testing.T) {
				var headers []string
				if r.header != "" {
					headers = []string{r.header}
				}
				a := c.send(r.method, r.target, r.body, headers...)
				p := checkProblem(t, a)
				found := r.field == ""
				for _, f := range p.Errors {
					found = found || f.Field == r.field && (f.Value == r.value || r.value == "") && f.Reason != "" && strings.Contains(p.Detail, f.Field)
				}
				if a.status != r.status || !found {
					t.Errorf("%s %.80s %.120q %q: %d %s\nwant %d, %s %q", r.method, r.target, r.body, r.header, a.status, a.body, r.status, r.field, r.value)
				}
				if a.status == 405 && a.header.Get("Allow") == "" {
					t.Errorf("%s %s: 405 without Allow", r.method, r.target)
				}
			})
		}
		if n := len(stored(t, c.svc)); n != 3 {
			t.Errorf("%d rows, want the 3 of the first order", n)
		}
		if o := c.send("GET", at, "").order(t, http.StatusOK); o.Note != "" {
			t.Errorf("changed: %+v", o)
		}
	})
}

// All faults of one order are reported together.
func TestAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	c := serve(t, ":memory:")
	a := c.send("POST", "/orders", `{"reorderOf":"x","customer":"","note":" ","lines":[{"sku":"","quantity":0,"priceCents":-1},{"sku":"a","quantity":"b"}]}`)
	var fields []string
	for _, f := range checkProblem(t, a).Errors {
		fields = append(fields, f.Field)
	}
	const want = "reorderOf customer note lines[0].sku lines[0].quantity lines[0].priceCents lines[1].quantity lines[1].priceCents"
	if got := strings.Join(fields, " "); got != want || a.status != 422 {
		t.Errorf("%d %q, want %q", a.status, got, want)
	}
}

// At the limits an order is taken as it is.
func TestLimits(t *testing.T) {
	t.Parallel()
	onEvery(t, func(t *testing.T, dsn string) {
		c := serve(t, dsn)
		line := `{"sku":"` + strings.Repeat("ß", maxSKU) + `","quantity":10000,"priceCents":99999999}`
		customer, note := strings.Repeat("🥛", maxName), strings.Repeat("ä", maxNote)
		text := `{"customer":"` + customer + `","note":"` + note + `","lines":[` + strings.Repeat(line+",", maxLines-1) + line + `]}`
		o := c.send("POST", "/orders", text, "Content-Type: Application/JSON; charset=UTF-8").order(t, http.StatusCreated)
		back := c.send("GET", "/orders/"+o.ID, "").order(t, http.StatusOK)
		const total = maxLines * maxQuantity * maxCents
		if back.Customer != customer || back.Note != note || len(back.Lines) != maxLines || back.TotalCents != total || total >= 1<<53 {
			t.Errorf("%+v", back)
		}
		ids := stored(t, c.svc)
		for _, l := range back.Lines {
			if !ids[l.ID] || l.OrderID != o.ID {
				t.Errorf("%+v", l)
			}
		}
	})
}

// Any text that is sent as an order is taken or refused as the client's fault.
func FuzzDraft(f *testing.F) {
	for _, text := range []string{tea, body("Ada", "Eve"), body("2,", "-1,"), `{"lines":[]}`, `[{}]`, `"`, `{"a":"\"`, "", "\xff", `{"lines":[{"sku":7}]}`, `{"reorderOf":"ORD_000000000000O","customerId":"cus_0000000000012"}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := httptest.NewRequest(http.MethodPost, "/orders", strings.NewReader(text))
		r.Header.Set("Content-Type", "application/json")
		var d draft
		err := readJSON(httptest.NewRecorder(), r, &d)
		if err == nil {
			err = d.check()
		}
		if err != nil {
			if p := problemOf(err); p.Status/100 != 4 || p.Detail == "" {
				t.Errorf("%q: %d %v", text, p.Status, err)
			}
			return
		}
		o := d.order()
		if o.Customer == "" || len(o.Lines) == 0 || o.Lines[0].Quantity < 1 || len(d.digest()) != 64 {
			t.Errorf("%q became %+v", text, o)
		}
	})
}

// A query is a span of ids or the client's fault.
func FuzzSpan(f *testing.F) {
	for _, text := range []string{"", "limit=7&after=ord_1qda147xjq4ad", "after=1996573624012345677", "from=2026-11-21T15:04:05Z&to=2027-01-01T00:00:00%2B01:00", "limit=0", "a=b", "%", "to=2010-11-04T01:42:54.657Z"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, values, err := readSpan(core.Twitter(), text)
		if err != nil {
			if problemOf(err).Status != 400 {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if _, errQuery := url.ParseQuery(text); p.limit < 1 || p.limit > 100 || p.min < 0 || p.max < 0 || values == nil || errQuery != nil {
			t.Errorf("%q: %+v", text, p)
		}
	})
}
