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

// send asks a framework, and returns its reply and what it bound.
func send(t *testing.T, f framework, kind, path, values string) (reply *httptest.ResponseRecorder, bound request, err error) {
	t.Helper()
	calls := 0
	handler := f.serve(func(r request, e error) {
		calls++
		bound, err = r, e
	})
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
	valid := func(n sqltype.ID) sqltype.NullID { return sqltype.NullID{ID: n, Valid: true} }
	for _, f := range frameworks() {
		t.Run(f.name, func(t *testing.T) {
			for _, tt := range []struct {
				kind, path, values string
				want               request
			}{
				{query, "7", "", request{ID: 7}},
				{query, "0", "", request{}},
				{query, "9223372036854775807", "", request{ID: math.MaxInt64}},
				{query, "7", "after=9223372036854775807", request{ID: 7, After: math.MaxInt64}},
				{query, "7", "after=0", request{ID: 7}},
				{query, "7", "parent=8", request{ID: 7, Parent: valid(8)}},
				{query, "7", "parent=0", request{ID: 7, Parent: valid(0)}},
				{query, "7", "parent=", request{ID: 7}},
				{query, "7", "ptr=8", request{ID: 7, Ptr: id(8)}},
				{query, "7", "ids=1996573624012345677&ids=2", request{ID: 7, IDs: []sqltype.ID{1996573624012345677, 2}}},
				{body, "7", "after=8&parent=9&ptr=10&ids=11&ids=12", request{7, 8, valid(9), id(10), []sqltype.ID{11, 12}}},
				{js, "7", `{"after":"8","parent":9,"ptr":"10","ids":["11",1996573624012345677]}`,
					request{7, 8, valid(9), id(10), []sqltype.ID{11, 1996573624012345677}}},
				{js, "7", `{"after":null,"parent":null,"ptr":null,"ids":null}`, request{ID: 7}},
			} {
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
				{query, "-7", "", "-7", sqltype.ErrNegative},
				{query, "%207", "", " 7", sqltype.ErrSyntax},
				{query, "7.0", "", "7.0", sqltype.ErrSyntax},
				{query, "9223372036854775808", "", "9223372036854775808", sqltype.ErrRange},
				{query, "18446744073709551623", "", "18446744073709551623", sqltype.ErrRange},
				{query, "7", "after=007", "007", sqltype.ErrSyntax},
				{query, "7", "after=-7", "-7", sqltype.ErrNegative},
				{query, "7", "after=%2B7", "+7", sqltype.ErrSyntax},
				{query, "7", "after=+7", " 7", sqltype.ErrSyntax},
				{query, "7", "after=9223372036854775808", "9223372036854775808", sqltype.ErrRange},
				{query, "7", "parent=x", "x", sqltype.ErrSyntax},
				{query, "7", "ptr=1e3", "1e3", sqltype.ErrSyntax},
				{query, "7", "ids=1&ids=0x2", "0x2", sqltype.ErrSyntax},
				{query, "7", "ids=1,2", "1,2", sqltype.ErrSyntax},
				{body, "7", "after=1_000", "1_000", sqltype.ErrSyntax},
				{body, "7", "parent=-1", "-1", sqltype.ErrNegative},
				{js, "7", `{"after":"007"}`, `"007"`, sqltype.ErrSyntax},
				{js, "7", `{"after":1e3}`, `1e3`, sqltype.ErrSyntax},
				{js, "7", `{"parent":-1}`, `-1`, sqltype.ErrNegative},
				{js, "7", `{"ids":["1",9223372036854775808]}`, `9223372036854775808`, sqltype.ErrRange},
			} {
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

// An empty parameter is no id. What is to be left empty is a NullID.
func TestBindingEmpty(t *testing.T) {
	for _, f := range frameworks() {
		for _, values := range []string{"after=", "ptr="} {
			reply, bound, err := send(t, f, query, "7", values)
			if reply.Code != http.StatusBadRequest || !errors.Is(err, sqltype.ErrSyntax) {
				t.Errorf("%s: %s: %d, %v, bound %+v", f.name, values, reply.Code, err, bound)
			}
		}
	}
}
