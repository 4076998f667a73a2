package binding

import (
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

const (
	query = ""
	body  = "application/x-www-form-urlencoded"
	js    = "application/json"
)

const cus7 = "cus_0000000000007"

// send asks a framework, and returns its reply and what it bound.
func send(t *testing.T, f framework, kind, path, values string) (reply *httptest.ResponseRecorder, bound request, err error) {
	t.Helper()
	calls := 0
	handler := f.serve(func(r request, e error) {
		calls++
		bound, err = r, e
	})
	if !strings.Contains(path, "/") {
		path = cus7 + "/" + path
	}
	target, method, content := "/orders/"+path, http.MethodPost, values
	if kind == query {
		target, method, content = target+"?"+values, http.MethodGet, ""
	}
	req := httptest.NewRequest(method, target, strings.NewReader(content))
	if kind != query {
		req.Header.Set("Content-Type", kind)
	}
	reply = httptest.NewRecorder()
	handler.ServeHTTP(reply, req)
	if calls != 1 {
		t.Fatalf("%s: the handler of %s %s ran %d times", f.name, method, target, calls)
	}
	return reply, bound, err
}

func TestBinding(t *testing.T) {
	id := func(n sqltype.ID) *sqltype.ID { return &n }
	k := func(n key) *key { return &n }
	valid := func(n sqltype.ID) sqltype.NullID { return sqltype.NullID{ID: n, Valid: true} }
	for _, f := range frameworks() {
		t.Run(f.name, func(t *testing.T) {
			for _, tt := range []struct {
				kind, path, values string
				want               request
			}{
				{query, "7", "", request{ID: 7}},
				{query, "9223372036854775807", "", request{ID: math.MaxInt64}},
				{query, "7", "after=9223372036854775807", request{ID: 7, After: math.MaxInt64}},
				{query, "7", "parent=8", request{ID: 7, Parent: valid(8)}},
				{query, "7", "parent=", request{ID: 7}},
				{query, "7", "ids=1996573624012345677&ids=2", request{ID: 7, IDs: []sqltype.ID{1996573624012345677, 2}}},
				{query, "cus_7zzzzzzzzzzzz/7", "", request{Customer: math.MaxInt64, ID: 7}},
				{query, "7", "owner=cus_1qda147xjq4ad", request{ID: 7, Owner: 1996573624012345677}},
				{query, "7", "payer=" + cus7, request{ID: 7, Payer: nullKey{Key: 7, Valid: true}}},
				{query, "7", "guest=" + cus7, request{ID: 7, Guest: k(7)}},
				{query, "7", "others=" + cus7 + "&others=cus_0000000000008", request{ID: 7, Others: []key{7, 8}}},
				{body, "7", "after=8&parent=9&ptr=10&ids=11&ids=12",
					request{ID: 7, After: 8, Parent: valid(9), Ptr: id(10), IDs: []sqltype.ID{11, 12}}},
				{body, "7", "owner=" + cus7 + "&payer=" + cus7 + "&guest=" + cus7 + "&others=" + cus7,
					request{ID: 7, Owner: 7, Payer: nullKey{Key: 7, Valid: true}, Guest: k(7), Others: []key{7}}},
				{js, "7", `{"after":"8","parent":9,"ptr":"10","ids":["11",9007199254740991]}`,
					request{ID: 7, After: 8, Parent: valid(9), Ptr: id(10), IDs: []sqltype.ID{11, 1<<53 - 1}}},
				{js, "7", `{"owner":"` + cus7 + `","payer":"` + cus7 + `","guest":"` + cus7 + `","others":["` + cus7 + `"]}`,
					request{ID: 7, Owner: 7, Payer: nullKey{Key: 7, Valid: true}, Guest: k(7), Others: []key{7}}},
				{js, "7", `{"after":null,"parent":null,"ptr":null,"ids":null,"owner":null,"payer":null,"guest":null,"others":null}`,
					request{ID: 7}},
			} {
				if f.name == "oapi-codegen" && tt.kind == body {
					continue
				}
				if !strings.Contains(tt.path, "/") {
					tt.want.Customer = 7
				}
				reply, bound, err := send(t, f, tt.kind, tt.path, tt.values)
				if reply.Code != http.StatusOK || err != nil || !reflect.DeepEqual(bound, tt.want) {
					t.Errorf("%s %s: %d %s %+v, %v; want %+v", tt.path, tt.values, reply.Code, reply.Body, bound, err, tt.want)
				}
			}
		})
	}
}

func TestBindingRefuses(t *testing.T) {
	for _, f := range frameworks() {
		t.Run(f.name, func(t *testing.T) {
			for _, tt := range []struct {
				kind, path, values string
				shown              string // the input, as the reason quotes it
				want               error
			}{
				{query, "x", "", "x", sqltype.ErrSyntax},
				{query, "007", "", "007", sqltype.ErrSyntax},
				{query, "9223372036854775808", "", "9223372036854775808", sqltype.ErrRange},
				{query, "7", "after=-7", "-7", sqltype.ErrNegative},
				{query, "7", "after=%2B7", "+7", sqltype.ErrSyntax},
				{query, "7", "parent=x", "x", sqltype.ErrSyntax},
				{query, "7", "ptr=1e3", "1e3", sqltype.ErrSyntax},
				{query, "7", "ids=1&ids=0x2", "0x2", sqltype.ErrSyntax},
				{query, "7", "ids=1,2", "1,2", sqltype.ErrSyntax},
				{query, "7", "after=", "", sqltype.ErrSyntax}, // what is to be left empty is a NullID or a NullKey
				{query, "7", "guest=", "", sqltype.ErrPrefix},
				{query, "7/7", "", "7", sqltype.ErrPrefix},
				{query, "ord_0000000000007/7", "", "ord_0000000000007", sqltype.ErrPrefix},
				{query, "7", "owner=ord_0000000000007", "ord_0000000000007", sqltype.ErrPrefix},
				{query, "7", "payer=7", "7", sqltype.ErrPrefix},
				{query, "7", "guest=cus_7", "cus_7", sqltype.ErrSyntax},
				{query, "7", "others=" + cus7 + "&others=cus", "cus", sqltype.ErrPrefix},
				{body, "7", "owner=0000000000007", "0000000000007", sqltype.ErrPrefix},
				{js, "7", `{"owner":"ord_0000000000007"}`, `"ord_0000000000007"`, sqltype.ErrPrefix},
				{js, "7", `{"payer":7}`, `7`, sqltype.ErrSyntax},
				{js, "7", `{"others":["` + cus7 + `","7"]}`, `"7"`, sqltype.ErrPrefix},
				{body, "7", "after=1_000", "1_000", sqltype.ErrSyntax},
				{js, "7", `{"after":"007"}`, `"007"`, sqltype.ErrSyntax},
				{js, "7", `{"after":1996573624012345600}`, `1996573624012345600`, sqltype.ErrRounded},
				{js, "7", `{"parent":-1}`, `-1`, sqltype.ErrNegative},
				{js, "7", `{"ids":["1",9223372036854775808]}`, `9223372036854775808`, sqltype.ErrRange},
			} {
				if f.name == "oapi-codegen" && tt.kind == body {
					continue
				}
				reply, bound, err := send(t, f, tt.kind, tt.path, tt.values)
				if reply.Code != http.StatusBadRequest || !strings.Contains(unquoted(reply.Body.String()), unquoted(tt.shown)) {
					t.Errorf("%s %s: %d %s, bound %+v", tt.path, tt.values, reply.Code, reply.Body, bound)
				}
				if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), strconv.Quote(tt.shown)) {
					t.Errorf("%s %s: %v, want %v", tt.path, tt.values, err, tt.want)
				}
			}
		})
	}
}

// unquoted drops what quoting once or twice adds.
func unquoted(s string) string { return strings.NewReplacer(`\`, "", `"`, "").Replace(s) }
