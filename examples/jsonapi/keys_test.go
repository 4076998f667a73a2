package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/contrib/token"
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

// Links that were stored while keys were decimal, and texts whose case was changed on the way, lead
// to the same order. Answers have one form only.
func TestOldLinks(t *testing.T) {
	t.Parallel()
	c := serve(t, sqliteDSN(t))
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
	for i, text := range []string{`"` + o.ID + `"`, `"` + strings.ToUpper(o.ID) + `"`, `"` + decimal + `"`} {
		again := c.send("POST", "/orders", strings.Replace(tea, "{", `{"reorderOf":`+text+`,`, 1), "Idempotency-Key: k").order(t, http.StatusCreated)
		if i == 0 {
			first = again
		}
		if again.ReorderOf != o.ID || again.ID != first.ID {
			t.Errorf("%s: %+v", text, again)
		}
	}
}

// keyFile writes secrets, the newest first, and returns the file's name.
func keyFile(t *testing.T, secrets ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(name, []byte(strings.Join(secrets, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// With -keys a customer's key is a token everywhere, and a number in the database. Keys are rotated
// in front; a link opens as long as its key is in the file.
func TestSealedCustomers(t *testing.T) {
	t.Parallel()
	dsn := sqliteDSN(t)
	oldKey, newKey := token.GenerateSecret(), token.GenerateSecret()

	plain := start(t, "-db", dsn)
	before := plain.addCustomer("Ada")
	guess := "/customers/" + before.ID

	p := start(t, "-db", dsn, "-keys", keyFile(t, oldKey))
	ada := p.addCustomer("Ada")
	if !regexp.MustCompile(`^cus_[0-9A-Za-z]{22}$`).MatchString(ada.ID) {
		t.Errorf("%+v", ada)
	}
	if o := p.ordered(ada.ID); o.CustomerID != ada.ID || !strings.HasPrefix(o.ID, "ord_") {
		t.Errorf("%+v", o)
	}
	for name, target := range map[string]string{
		"base 32":     guess,
		"made up":     "/customers/cus_" + strings.Repeat("0", 22),
		"changed":     "/customers/" + ada.ID[:25] + string('a'+(ada.ID[25]+1)%26),
		"other case":  "/customers/cus_" + strings.ToUpper(ada.ID[4:]),
		"too short":   "/customers/" + ada.ID[:25],
		"no prefix":   "/customers/" + ada.ID[4:],
		"as an order": "/orders/" + ada.ID,
	} {
		t.Run(name, func(t *testing.T) {
			a := p.send("GET", target, "")
			wrong := checkProblem(t, a).Errors
			if a.status != 400 || len(wrong) != 1 || wrong[0].Field != "id" || !strings.HasSuffix(target, "/"+wrong[0].Value) {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}

	rotated := start(t, "-db", dsn, "-keys", keyFile(t, newKey, oldKey))
	var again customer
	rotated.send("GET", "/customers/"+ada.ID, "").into(t, 200, &again)
	if again.Name != "Ada" || again.ID == ada.ID {
		t.Errorf("%+v", again)
	}
	last := start(t, "-db", dsn, "-keys", keyFile(t, newKey))
	if a := last.send("GET", "/customers/"+again.ID, ""); a.status != 200 {
		t.Errorf("%+v", a)
	}
	if a := last.send("GET", "/customers/"+ada.ID, ""); a.status != 400 {
		t.Errorf("without its key: %+v", a)
	}
	// The rows are the same as ever.
	if a := plain.send("GET", guess, ""); a.status != 200 {
		t.Errorf("%+v", a)
	}
	if orders, _ := plain.list("/orders"); len(orders) != 1 || len(orders[0].CustomerID) != len(before.ID) {
		t.Errorf("%+v", orders)
	}
}

func TestKeyFile(t *testing.T) {
	t.Parallel()
	good := token.GenerateSecret()
	for name, c := range map[string]struct{ text, want string }{
		"empty":    {"", "keys:1: token: "},
		"short":    {good + "\n" + good[2:], "keys:2: token: "},
		"zero":     {strings.Repeat("0", 64), "keys:1: token: "},
		"twice":    {good + "\n" + good, "keys: token: "},
		"password": {"correct horse battery staple", "keys:1: token: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sealedForm(keyFile(t, c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), good[2:]) || strings.Contains(err.Error(), "horse") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := sealedForm(filepath.Join(t.TempDir(), "none")); err == nil || !strings.HasPrefix(err.Error(), "-keys: open ") {
		t.Error(err)
	}
	form, err := sealedForm(keyFile(t, good))
	if err != nil || form.Check() != nil {
		t.Errorf("%+v, %v", form, err)
	}
}
