package browser

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// openShop starts the example's service and opens its page. No ID is changed on its way from the
// database to the page and back: place returns the ID of an order that another client places.
func openShop(t *testing.T) (s *tab, place func() string) {
	t.Helper()
	url := start(t, "examples/jsonapi", "-addr", "127.0.0.1:0", "-db", filepath.Join(t.TempDir(), "orders.sqlite"))
	s = open(t, url+"/")
	s.wait("!document.querySelector('#none').hidden")
	return s, func() string {
		response, err := http.Post(url+"/orders", "application/json", strings.NewReader(`{"customer":"Ada","lines":[{"sku":"tea","quantity":2,"priceCents":450}]}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusCreated {
			t.Fatalf("status %s", response.Status)
		}
		return strings.TrimPrefix(response.Header.Get("Location"), "/orders/")
	}
}

// add places an order by keyboard: from field to field with Tab, then Enter.
func (tb *tab) add(customer, sku, quantity, price string) {
	tb.t.Helper()
	tb.do(chromedp.Focus(chromedp.CSS("#customer")))
	tb.press(strings.Join([]string{customer, "by hand", sku, quantity, price}, kb.Tab) + kb.Enter)
}

// The page of the example adds, lists, opens, repeats and deletes the orders that the service has.
// JavaScript's numbers would round their ids.
func TestOrdersKeepTheirIDs(t *testing.T) {
	t.Parallel()
	s, place := openShop(t)
	var ids []string // the newest first
	for range 12 {
		ids = append([]string{place()}, ids...)
	}
	const name = `<img src=x onerror="throw 1"> & Söhne` // is shown as text
	s.add(name, "cup", "3", "12.50")
	s.wait("document.querySelector('#added a')")
	ids = append([]string{s.text("#added a")}, ids...)
	first := func(id string) {
		t.Helper()
		s.wait("document.querySelector('#orders a')?.textContent === '" + id + "'")
	}
	first(ids[0])
	s.has("#orders tr", name, "37.50")
	const shown = "Array.from(document.querySelectorAll('#orders a'), a => new URL(a.href).hash.replace('#/orders/', ''))"
	if got := eval[[]string](s, shown); !slices.Equal(got, ids[:10]) {
		t.Errorf("the page shows\n%q\nwant\n%q", got, ids)
	}
	s.click("#next")
	first(ids[10])
	s.is(shown, strings.Join(ids[10:], ","))
	s.is("document.querySelector('#next').disabled", "true")
	s.click("#newest")
	first(ids[0])

	opened := func(id string) {
		t.Helper()
		s.wait("document.querySelector('#one-title').textContent === 'Order " + id + "'")
	}
	s.click(`#orders a[data-id="` + ids[4] + `"]`)
	opened(ids[4])
	s.is("document.activeElement.id", "one-title")
	s.do(chromedp.Reload())
	opened(ids[4])
	s.click("#again")
	s.wait("document.querySelector('#added a')")
	again := s.text("#added a")
	s.click("#added a")
	opened(again)
	s.is("document.querySelector('#facts a').textContent", ids[4])
	for _, width := range []int64{1280, 390, 320} {
		s.do(chromedp.EmulateViewport(width, 844))
		s.is("document.documentElement.scrollWidth <= innerWidth", "true")
	}
	s.run("window.confirm = () => true")
	s.click("#delete")
	first(ids[0])
	s.is("document.querySelector('#one').hidden", "true")
	s.is(shown, strings.Join(ids[:10], ","))
}

// Wrong input is reported at its field, nothing is written, and the input stays.
func TestOrdersRefuseWrongInput(t *testing.T) {
	t.Parallel()
	s, _ := openShop(t)
	for _, status := range []string{"422", "400", "404"} {
		s.allow(status) // the browser logs what a server refuses
	}
	s.add("Ada", "tea", "-1", "4,5")
	s.wait("!document.querySelector('#faults').hidden")
	s.has("#faults", "Line 1, Quantity “-1”: want a whole number from 1 to 10000", "Line 1, Price “4,5”: want an amount")
	s.is("Array.from(document.querySelectorAll('[aria-invalid]'), e => e.name).join() + ' ' + document.activeElement.name", "quantity,price quantity")
	s.is("document.querySelector('#customer').value", "Ada")
	s.is("document.getElementById('none').hidden", "false")
	s.fill("[name=quantity]", "1")
	s.fill("[name=price]", "4,50")
	s.press(kb.Enter)
	s.wait("document.querySelector('#added a')")
	s.is("document.querySelector('#faults').hidden && !document.querySelector('[aria-invalid], [aria-describedby]')", "true")
	for hash, want := range map[string]string{
		"#/orders/%zz": `id "%zz": not a key of this type`, "#/orders/cus_1qda147xjq4ad": `id "cus_1qda147xjq4ad": not a key of this type`, "#/orders/ord_0000000000007": "there is no such order",
	} {
		t.Run(hash, func(t *testing.T) {
			s.visit(hash, "document.querySelector('#failure').textContent.includes('"+want+"')")
			s.is("document.querySelector('#one').hidden", "true")
		})
	}
}
