package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// checkProblem holds an answer to RFC 9457.
func checkProblem(t *testing.T, a answer) (p problem) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(a.body))
	dec.DisallowUnknownFields()
	err := dec.Decode(&p)
	if err != nil || p.Status != a.status || p.Title == "" || p.Detail == "" || a.header.Get("Content-Type") != "application/problem+json" {
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
		for _, r := range []struct {
			method, target, body, header string
			status                       int
			field, value                 string // of one of the faults
		}{
			{"GET", "/orders/line_1qda147xjq4ad", "", "", 400, "id", "line_1qda147xjq4ad"},
			{"POST", "/orders", body("null", `1996573624012345677`), "", 422, "reorderOf", "number"},
			{"POST", "/orders", body("2,", "1.5,"), "", 422, "lines.quantity", "number 1.5"},
			{"GET", "/orders/abc", "", "", 400, "id", "abc"},
			{"GET", "/orders/ord_7zzzzzzzzzzzz", "", "", 404, "", ""},
			{"GET", "/orders?limit=101", "", "", 400, "limit", "101"},
			{"GET", "/orders?from=yesterday", "", "", 400, "from", "yesterday"},
			{"GET", "/orders?from=1999-01-01T00:00:00Z", "", "", 400, "from", "1999-01-01T00:00:00Z"},
			{"POST", "/orders", tea, "Content-Type: text/plain", 415, "Content-Type", "text/plain"},
			{"POST", "/orders", "{", "", 400, "body", "{"},
			{"POST", "/orders", tea + "x", "", 400, "body", "x"},
			{"POST", "/orders", "null", "", 422, "lines", "0 lines"},
			{"POST", "/orders", body(`"note"`, `"id":"7","note"`), "", 422, "id", ""},
			{"POST", "/orders", `{"note":"` + strings.Repeat("x", maxBody) + `"}`, "", 413, "", ""},
			{"POST", "/orders", body(`"Ada"`, `5`), "", 422, "customer", "number"},
			{"POST", "/orders", body("Ada", ""), "", 422, "customer", ""},
			{"POST", "/orders", body("Ada", strings.Repeat("ä", 191)), "", 422, "customer", strings.Repeat("ä", 60) + "…"},
			{"POST", "/orders", `{"customer":"Ada"}`, "", 422, "lines", "0 lines"},
			{"POST", "/orders", body(`[{`, `[`+strings.Repeat("{},", 100)+`{`), "", 422, "lines", "101 lines"},
			{"POST", "/orders", body("2,", "-1,"), "", 422, "lines[0].quantity", "-1"},
			{"POST", "/orders", body("}]", `},{"sku":"x","quantity":1,"priceCents":-5}]`), "", 422, "lines[1].priceCents", "-5"},
			{"POST", "/orders", body("null", `"ord_0000000000007"`), "", 422, "reorderOf", "ord_0000000000007"},
			{"POST", "/orders", tea, "Idempotency-Key: " + strings.Repeat("k", 256), 400, "Idempotency-Key", strings.Repeat("k", 60) + "…"},
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
					field := strings.Replace(f.Field, ".0.", ".", 1) // encoding/json names the element from Go 1.27 on
					found = found || field == r.field && (f.Value == r.value || r.value == "") && f.Reason != "" && strings.Contains(p.Detail, f.Field)
				}
				if a.status != r.status || !found {
					t.Errorf("%s %.80s %.120q %q: %d %s\nwant %d, %s %q", r.method, r.target, r.body, r.header, a.status, a.body, r.status, r.field, r.value)
				}
			})
		}
		if n := len(stored(t, c.svc)); n != 3 {
			t.Errorf("%d rows, want the 3 of the first order", n)
		}
		if c.send("GET", at, "").status != http.StatusOK {
			t.Error("deleted")
		}
	})
}

// All faults of one order are reported together.
func TestAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	c := serve(t, sqliteDSN(t))
	a := c.send("POST", "/orders", `{"reorderOf":"x","customer":"","note":" ","lines":[{"sku":"","quantity":0,"priceCents":-1},{"sku":"a","quantity":-7}]}`)
	var fields []string
	for _, f := range checkProblem(t, a).Errors {
		fields = append(fields, f.Field)
	}
	const want = "reorderOf customer note lines[0].sku lines[0].quantity lines[0].priceCents lines[1].quantity"
	if got := strings.Join(fields, " "); got != want || a.status != 422 {
		t.Errorf("%d %q, want %q", a.status, got, want)
	}
}
