package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// customer is one as a browser has it.
type customer struct{ ID, Name string }

func (c *client) addCustomer(name string) (made customer) {
	c.t.Helper()
	a := c.send("POST", "/customers", `{"name":"`+name+`"}`)
	a.into(c.t, http.StatusCreated, &made)
	if a.header.Get("Location") != "/customers/"+made.ID {
		c.t.Errorf("headers %v", a.header)
	}
	return made
}

// ordered is an order of a customer.
func (c *client) ordered(customer string) order {
	c.t.Helper()
	return c.send("POST", "/orders", strings.Replace(tea, "{", `{"customerId":"`+customer+`",`, 1)).order(c.t, http.StatusCreated)
}

func TestCustomers(t *testing.T) {
	t.Parallel()
	onEvery(t, func(t *testing.T, dsn string) {
		c := serve(t, dsn)
		ada := c.addCustomer("Ada")
		if !strings.HasPrefix(ada.ID, "cus_") || ada.Name != "Ada" {
			t.Errorf("%+v", ada)
		}
		var back customer
		if c.send("GET", "/customers/"+ada.ID, "").into(t, http.StatusOK, &back); back != ada {
			t.Errorf("%+v", back)
		}
		o := c.ordered(ada.ID)
		if got := c.send("GET", "/orders/"+o.ID, "").order(t, http.StatusOK); got.CustomerID != ada.ID {
			t.Errorf("%+v", got)
		}
		var column int64
		if err := c.svc.rows.QueryRow("SELECT customer_id FROM jsonapi_orders").Scan(&column); err != nil || sqltype.Key[Customer](column).String() != ada.ID {
			t.Errorf("the column has %d, %v", column, err)
		}
	})
}

// An id of another kind is refused with the form that is expected, even where a row has its number.
func TestWrongKind(t *testing.T) {
	t.Parallel()
	c := serve(t, ":memory:")
	o := c.ordered(c.addCustomer("Ada").ID)
	number := strings.TrimPrefix(o.ID, "ord_")
	const wantOrder = `not a key of this type, want "ord_" and 13 digits of base 32`
	for _, r := range []struct {
		method, target, body string
		status               int
		wrong                fault
	}{
		{"GET", "/orders/cus_" + number, "", 400, fault{"id", "cus_" + number, wantOrder}},
		{"GET", "/orders/" + o.Lines[0].ID, "", 400, fault{"id", o.Lines[0].ID, wantOrder}},
		{"DELETE", "/orders/cus_" + number, "", 400, fault{"id", "cus_" + number, wantOrder}},
		{"GET", "/orders?after=" + o.CustomerID, "", 400, fault{"after", o.CustomerID, wantOrder}},
		{"GET", "/customers/" + o.ID, "", 400, fault{"id", o.ID, `not a key of this type, want "cus_" and 13 digits of base 32`}},
		{"GET", "/orders/ord_7", "", 400, fault{"id", "ord_7", `want "ord_" and 13 digits of base 32`}},
		{"POST", "/orders", strings.Replace(tea, "{", `{"reorderOf":"`+o.CustomerID+`",`, 1), 422, fault{"reorderOf", o.CustomerID, wantOrder}},
	} {
		t.Run(r.method+" "+r.target+" "+r.body, func(t *testing.T) {
			a := c.send(r.method, r.target, r.body, "If-Match: *")
			p := checkProblem(t, a)
			if a.status != r.status || len(p.Errors) != 1 || p.Errors[0] != r.wrong || p.Detail != reasons(r.wrong) {
				t.Errorf("%d %s\nwant %d %+v", a.status, a.body, r.status, r.wrong)
			}
		})
	}
}

// Links that were stored while keys were decimal, and texts whose case was changed on the way, lead
// to the same order. Answers have one form only.
func TestOldLinks(t *testing.T) {
	t.Parallel()
	c := serve(t, ":memory:")
	older := c.send("POST", "/orders", tea).order(t, http.StatusCreated)
	o := c.send("POST", "/orders", tea).order(t, http.StatusCreated)
	key, err := sqltype.ParseKey[Order](o.ID)
	if err != nil {
		t.Fatal(err)
	}
	decimal := key.ID().String()
	for name, id := range map[string]string{"decimal": decimal, "upper case": strings.ToUpper(o.ID), "O for 0": strings.ReplaceAll(o.ID[:4]+strings.ToUpper(o.ID[4:]), "0", "O")} {
		t.Run(name, func(t *testing.T) {
			if got := c.send("GET", "/orders/"+id, "").order(t, http.StatusOK); got.ID != o.ID {
				t.Errorf("%s leads to %s, want %s", id, got.ID, o.ID)
			}
			if page, _ := c.list("/orders?after=" + id); len(page) != 1 || page[0].ID != older.ID {
				t.Errorf("after %s: %+v", id, page)
			}
		})
	}
	// All texts of an id are one order to an Idempotency-Key, also one from before.
	var first order
	for i, text := range []string{`"` + o.ID + `"`, `"` + strings.ToUpper(o.ID) + `"`, `"` + decimal + `"`, decimal} {
		again := c.send("POST", "/orders", strings.Replace(tea, "{", `{"reorderOf":`+text+`,`, 1), "Idempotency-Key: k").order(t, http.StatusCreated)
		if i == 0 {
			first = again
		}
		if again.ReorderOf != o.ID || again.ID != first.ID {
			t.Errorf("%s: %+v", text, again)
		}
	}
}
