package binding

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/transport"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/internal/integration/binding/graphql"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// resolver answers from memory.
type resolver struct {
	gen    *core.Generator
	orders map[shop.OrderKey]*shop.Order
}

func (r resolver) Query() graphql.QueryResolver       { return r }
func (r resolver) Mutation() graphql.MutationResolver { return r }

func (r resolver) Create(ctx context.Context, in graphql.NewOrder) (*shop.Order, error) {
	one := []shop.Order{{Number: in.Number}}
	if in.Parent != nil {
		one[0].ParentID = shop.NullOrderKey{Key: *in.Parent, Valid: true}
	}
	for _, sku := range in.Skus {
		one[0].Lines = append(one[0].Lines, shop.Line{SKU: sku})
	}
	err := shop.Assign(ctx, r.gen, one)
	r.orders[one[0].ID] = &one[0]
	return &one[0], err
}

func (r resolver) Order(_ context.Context, id shop.OrderKey) (*shop.Order, error) {
	if id == 1 { // a wrong row
		return &shop.Order{ID: -5, ParentID: shop.NullOrderKey{Key: -5, Valid: true}}, nil
	}
	return r.orders[id], nil
}

func (r resolver) Sku(_ context.Context, line sqltype.ID) (string, error) {
	for _, o := range r.orders {
		if o.Lines[0].ID == line {
			return o.Lines[0].SKU, nil
		}
	}
	return "", errors.ErrUnsupported
}

type gqlReply struct {
	Data   map[string]any
	Errors []struct {
		Message string
		Path    []any
	}
}

// Ids are strings in replies. In requests, variables and literals are strings or integers below 2^53.
func TestGraphQL(t *testing.T) {
	server := handler.New(graphql.NewExecutableSchema(graphql.Config{
		Resolvers: resolver{databases.Generator(t, 1), map[shop.OrderKey]*shop.Order{}},
	}))
	server.AddTransport(transport.POST{})
	ask := func(query, variables string) (reply gqlReply) {
		t.Helper()
		body := `{"query": ` + quoted(query) + `, "variables": {` + variables + `}}`
		req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		req.Header.Set("Content-Type", js)
		w := httptest.NewRecorder()
		server.ServeHTTP(w, req)
		if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
			t.Fatalf("%v in %s", err, w.Body)
		}
		return reply
	}

	const create = `mutation($n: String!, $p: OrderID) { order: create(order: {number: $n, parent: $p, skus: ["tea"]}) { id parent lines { id } } }`
	first := ask(create, `"n": "A-1", "p": null`)
	if first.Errors != nil {
		t.Fatal(first.Errors)
	}
	id, _ := first.Data["order"].(map[string]any)["id"].(string)
	if _, err := sqltype.ParseKey[shop.Order](id); err != nil || first.Data["order"].(map[string]any)["parent"] != nil {
		t.Fatalf("%+v, %v", first, err)
	}
	line, _ := first.Data["order"].(map[string]any)["lines"].([]any)[0].(map[string]any)["id"].(string)
	if _, err := sqltype.Parse(line); err != nil {
		t.Fatalf("%+v, %v", first, err)
	}
	second := ask(create, `"n": "A-2", "p": `+quoted(id))
	if got := second.Data["order"].(map[string]any)["parent"]; got != id {
		t.Errorf("%+v, want the parent %s", second, id)
	}
	child := second.Data["order"].(map[string]any)["id"].(string)
	if got := ask(`query($id: OrderID!) { order(id: $id) { number parent } }`, `"id": `+quoted(child)); got.Errors != nil || got.Data["order"].(map[string]any)["parent"] != id {
		t.Errorf("%+v", got)
	}

	for name, c := range map[string]struct{ query, variables string }{
		"a string":         {`query($id: ID!) { sku(line: $id) }`, `"id": "` + line + `"`},
		"a literal string": {`{ sku(line: "` + line + `") }`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ask(c.query, c.variables); got.Errors != nil || got.Data["sku"] != "tea" {
				t.Errorf("%+v", got)
			}
		})
	}
	for name, c := range map[string]struct{ query, variables, want string }{
		"a large number":    {`query($id: ID!) { sku(line: $id) }`, `"id": 1996573624012345600`, "send the id as a string"},
		"a large literal":   {`{ sku(line: 1996573624012345600) }`, "", "send the id as a string"},
		"a fraction":        {`query($id: ID!) { sku(line: $id) }`, `"id": 7.0`, "7.0"},
		"too large":         {`{ sku(line: "9223372036854775808") }`, "", "above the largest id"},
		"another key":       {`{ order(id: "cus_0000000000007") { id } }`, "", "not a key of this type"},
		"null":              {`query($id: OrderID!) { order(id: $id) { id } }`, `"id": null`, "null"},
		"a negative row":    {`{ order(id: "ord_0000000000001") { id } }`, "", "never negative"},
		"a negative parent": {`{ order(id: "ord_0000000000001") { parent } }`, "", "never negative"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ask(c.query, c.variables)
			if len(got.Errors) == 0 || !strings.Contains(got.Errors[0].Message, c.want) {
				t.Errorf("%+v, want %s", got, c.want)
			}
		})
	}
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
