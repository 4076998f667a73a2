package humakey_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/seed-299c1d6b/snowkey/contrib/humakey"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Order has keys with a prefix.
type Order struct {
	ID       sqltype.Key[Order]     `json:"id"`
	ParentID sqltype.NullKey[Order] `json:"parent_id"`
	LineIDs  []sqltype.ID           `json:"line_ids"`
	Next     *sqltype.ID            `json:"next"`
	Last     sqltype.NullID         `json:"last"`
}

func (*Order) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ord"} }

type (
	orderParam struct {
		ID    humakey.Param[sqltype.Key[Order]]     `path:"id"`
		After humakey.Param[sqltype.ID]             `query:"after"`
		Owner humakey.Param[sqltype.NullKey[Order]] `header:"Owner"`
		Last  humakey.Param[sqltype.NullID]         `query:"last"`
	}
	plainParam struct {
		ID    sqltype.ID         `path:"id"`
		Order sqltype.Key[Order] `query:"order"`
	}
	orderBody struct{ Body Order }
	text      struct{ Body string }
)

func server(nullable bool) (http.Handler, huma.API) {
	mux := http.NewServeMux()
	api := humago.New(mux, huma.DefaultConfig("Orders", "1"))
	if nullable {
		humakey.Nullable[sqltype.NullID](api.OpenAPI().Components.Schemas)
		humakey.Nullable[sqltype.NullKey[Order]](api.OpenAPI().Components.Schemas)
	}
	huma.Get(api, "/orders/{id}", func(_ context.Context, in *orderParam) (*text, error) {
		return &text{fmt.Sprintf("%d %d %d %d", in.ID.Value, in.After.Value, in.Owner.Value, in.Last.Value)}, nil
	})
	huma.Get(api, "/plain/{id}", func(_ context.Context, in *plainParam) (*text, error) {
		return &text{fmt.Sprintf("%d %d", in.ID, in.Order)}, nil
	})
	huma.Post(api, "/orders", func(_ context.Context, in *orderBody) (*orderBody, error) { return in, nil })
	return mux, api
}

func send(h http.Handler, method, target, owner, body string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, target, strings.NewReader(body))
	if owner != "" {
		req.Header.Set("Owner", owner)
	}
	req.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

func TestParam(t *testing.T) {
	h, _ := server(true)
	const ord7 = "/orders/ord_0000000000007"
	for name, c := range map[string]struct {
		target, owner string
		status        int
		want          string
	}{
		"a key":             {ord7, "", 200, "7 0 NULL NULL"},
		"all":               {ord7 + "?after=9223372036854775807&last=9", "ord_0000000000008", 200, "7 9223372036854775807 8 9"},
		"another key":       {"/orders/cus_0000000000007", "", 422, "not a key of this type"},
		"a number":          {"/orders/7", "", 422, "not a key of this type"},
		"a leading zero":    {ord7 + "?after=007", "", 422, "not a decimal id"},
		"a negative id":     {ord7 + "?after=-7", "", 422, "never negative"},
		"a wrong header":    {ord7, "7", 422, "not a key of this type"},
		"too large":         {ord7 + "?last=9223372036854775808", "", 422, "above the largest id"},
		"huma's own":        {"/plain/7", "", 422, "expected string"}, // why there is a Param
		"huma's own prefix": {"/plain/7?order=ord_0000000000007", "", 422, "invalid integer"},
	} {
		t.Run(name, func(t *testing.T) {
			w := send(h, http.MethodGet, c.target, c.owner, "")
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%d %s, want %d with %s", w.Code, w.Body, c.status, c.want)
			}
		})
	}
}

func TestBody(t *testing.T) {
	const nulls = `{"id":"ord_0000000000007","parent_id":null,"line_ids":["8"],"next":null,"last":null}`
	const all = `{"id":"ord_0000000000007","parent_id":"ord_0000000000006","line_ids":["8","9"],"next":"10","last":"11"}`
	h, api := server(true)
	for _, body := range []string{nulls, all} {
		w := send(h, http.MethodPost, "/orders", "", body)
		var got, want any
		if err := errors.Join(json.Unmarshal(w.Body.Bytes(), &got), json.Unmarshal([]byte(body), &want)); err != nil || w.Code != 200 {
			t.Fatalf("%d %s, %v", w.Code, w.Body, err)
		}
		delete(got.(map[string]any), "$schema")
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s, want %s", w.Body, body)
		}
	}
	for _, bad := range []string{
		strings.Replace(all, `"ord_0000000000007"`, `7`, 1), strings.Replace(all, `"ord_0000000000007"`, `null`, 1),
		strings.Replace(all, `"ord_0000000000006"`, `"cus_0000000000006"`, 1), strings.Replace(all, `"11"`, `"-11"`, 1), strings.Replace(all, `"8"`, `8.5`, 1),
	} {
		if w := send(h, http.MethodPost, "/orders", "", bad); w.Code != 422 && w.Code != 400 {
			t.Errorf("%s: %d %s", bad, w.Code, w.Body)
		}
	}
	schema, err := json.Marshal(api.OpenAPI().Components.Schemas.Map()["Order"].Properties)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"id":{"type":"string"}`, `"parent_id":{"type":["string","null"]}`, `"next":{"type":["string","null"]}`, `"last":{"type":["string","null"]}`} {
		if !strings.Contains(string(schema), want) {
			t.Errorf("no %s in %s", want, schema)
		}
	}
	plain, _ := server(false)
	if w := send(plain, http.MethodPost, "/orders", "", nulls); w.Code != 422 {
		t.Errorf("without Nullable: %d %s; the documents say that null is refused", w.Code, w.Body)
	}
}

func TestWrongParam(t *testing.T) {
	var p humakey.Param[int]
	if err := p.UnmarshalText([]byte("7")); err == nil || !strings.Contains(err.Error(), "int is not a type") {
		t.Error(err)
	}
	var none *humakey.Param[sqltype.ID]
	if err := none.UnmarshalText([]byte("7")); !errors.Is(err, sqltype.ErrNil) {
		t.Error(err)
	}
}

func ExampleParam() {
	mux := http.NewServeMux()
	api := humago.New(mux, huma.DefaultConfig("Orders", "1"))
	huma.Get(api, "/orders/{id}", func(_ context.Context, in *struct {
		ID humakey.Param[sqltype.Key[Order]] `path:"id"`
	}) (*text, error) {
		return &text{fmt.Sprintf("order %d", in.ID.Value)}, nil
	})
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/orders/ord_000000000001a", nil))
	fmt.Print(w.Body)
	// Output: "order 42"
}

func ExampleNullable() {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	humakey.Nullable[sqltype.NullID](registry)
	fmt.Println(registry.Schema(reflect.TypeFor[sqltype.NullID](), true, "").Nullable)
	// Output: true
}
