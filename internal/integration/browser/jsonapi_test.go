package browser

import (
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	_ "github.com/glebarez/go-sqlite" // reads what the service has written

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// shop is the example's service, its page in a browser, and its database.
type shop struct {
	*tab
	url string
	db  *sql.DB
}

func openShop(t *testing.T) *shop {
	t.Helper()
	file := filepath.Join(t.TempDir(), "orders.sqlite")
	url := start(t, "examples/jsonapi", "-addr", "127.0.0.1:0", "-db", file)
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := &shop{open(t, url+"/"), url, db}
	s.wait("!document.querySelector('#none').hidden")
	return s
}

// keys returns the ids that a query finds, as the keys of orders and lines are written.
func (s *shop) keys(prefix, query string, args ...any) (keys []string) {
	s.t.Helper()
	for _, n := range s.numbers(query, args...) {
		keys = append(keys, prefix+"_"+strings.ToLower(sqltype.ID(n).Base32()))
	}
	return keys
}

// column returns what the database has for the key of an order.
func (s *shop) column(key string) int64 {
	s.t.Helper()
	id, err := sqltype.ParseBase32(strings.TrimPrefix(key, "ord_"))
	if err != nil {
		s.t.Fatal(err)
	}
	return id.Int64()
}

func (s *shop) numbers(query string, args ...any) (numbers []int64) {
	s.t.Helper()
	rows, err := s.db.Query(query, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			s.t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return numbers
}

const allOrders = "SELECT id FROM jsonapi_orders ORDER BY id DESC"

// shown returns the ids of the list in the page, in the text of the links and in their
// addresses.
func (s *shop) shown() []string {
	s.t.Helper()
	texts := eval[[]string](s.tab, "Array.from(document.querySelectorAll('#orders a'), a => a.textContent)")
	addresses := eval[[]string](s.tab, "Array.from(document.querySelectorAll('#orders a'), a => new URL(a.href).hash.replace('#/orders/', ''))")
	if !slices.Equal(texts, addresses) {
		s.t.Errorf("the links %q lead to %q", texts, addresses)
	}
	return texts
}

// same fails the test if the ids differ.
func (s *shop) same(what string, got, want []string) {
	s.t.Helper()
	if !slices.Equal(got, want) {
		s.t.Errorf("%s: the page shows\n%q\nand the database has\n%q", what, got, want)
	}
}

// post places orders as another client would.
func (s *shop) post(n int) {
	s.t.Helper()
	for i := range n {
		s.place("/orders", fmt.Sprintf(`{"customer":"Customer %d","lines":[{"sku":"tea","quantity":%d,"priceCents":450}]}`, i, i+1))
	}
}

// place posts a row, and returns its address.
func (s *shop) place(target, body string) string {
	s.t.Helper()
	response, err := http.Post(s.url+target, "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		s.t.Fatalf("status %s", response.Status)
	}
	return response.Header.Get("Location")
}

// add places an order by keyboard: from field to field with Tab, then Enter.
func (s *shop) add(customer, sku, quantity, price string) {
	s.t.Helper()
	s.do(chromedp.Focus(chromedp.CSS("#customer")))
	for _, keys := range []string{customer, kb.Tab, "by hand", kb.Tab, sku, kb.Tab, quantity, kb.Tab, price, kb.Enter} {
		s.press(keys)
	}
}

// No id is changed on its way from the database to the page and back. JavaScript's numbers would
// round these ids; added, listed, opened, ordered again and deleted, they are those of the
// database.
func TestOrdersKeepTheirIDs(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.post(12)
	// A customer's name is shown as text, whatever it looks like.
	const name = `<img src=x onerror="throw 1"> & Söhne`
	s.add(name, "cup", "3", "12.50")
	s.wait("document.querySelector('#added a')")
	want := s.keys("ord", allOrders)
	if len(want) != 13 || s.text("#added a") != want[0] {
		t.Fatalf("added %s, the database has %q", s.text("#added a"), want)
	}
	s.wait("document.querySelector('#orders a')?.textContent === '" + want[0] + "'")
	if row := s.text("#orders tr"); !strings.Contains(row, name) || !strings.Contains(row, "37.50") {
		t.Errorf("the row says %q", row)
	}
	s.same("the first page", s.shown(), want[:10])
	if !slices.ContainsFunc(s.numbers(allOrders), func(id int64) bool {
		return strconv.FormatFloat(float64(id), 'f', -1, 64) != strconv.FormatInt(id, 10)
	}) {
		t.Errorf("a number of JavaScript holds all of %q: the test shows nothing", s.shown())
	}

	// The next page, and back.
	s.click("#next")
	s.wait("document.querySelector('#orders a')?.textContent === '" + want[10] + "'")
	s.same("the second page", s.shown(), want[10:])
	if !eval[bool](s.tab, "document.querySelector('#next').disabled") {
		t.Error("a page is said to be behind the last")
	}
	s.click("#newest")
	s.wait("document.querySelector('#orders a')?.textContent === '" + want[0] + "'")

	// A link by id opens that order and its lines.
	id := want[4]
	s.click(`#orders a[data-id="` + id + `"]`)
	s.wait("!document.querySelector('#one').hidden")
	s.wait("document.activeElement.id === 'one-title'")
	if title := s.text("#one-title"); title != "Order "+id {
		t.Errorf("the link of %s opens %q", id, title)
	}
	lines := eval[[]string](s.tab, "Array.from(document.querySelectorAll('#one-lines .id'), e => e.textContent)")
	s.same("the lines", lines, s.keys("line", "SELECT id FROM jsonapi_lines WHERE order_id = ? ORDER BY id", s.column(id)))
	// So does the address itself, as in a bookmark, and one from when ids were decimal.
	s.do(chromedp.Reload())
	s.wait("document.querySelector('#one-title').textContent === 'Order " + id + "'")
	eval[string](s.tab, "location.hash = '#/orders/"+strconv.FormatInt(s.column(want[5]), 10)+"'")
	s.wait("document.querySelector('#one-title').textContent === 'Order " + want[5] + "'")
	s.click(`#orders a[data-id="` + id + `"]`)
	s.wait("document.querySelector('#one-title').textContent === 'Order " + id + "'")

	// The id goes back to the server inside of another order.
	s.click("#again")
	s.wait("document.querySelector('#added a')")
	again := s.text("#added a")
	s.same("ordered again", s.keys("ord", "SELECT reorder_of FROM jsonapi_orders WHERE id = ?", s.column(again)), []string{id})
	s.click("#added a")
	s.wait("document.querySelector('#one-title').textContent === 'Order " + again + "'")
	if link := s.text("#facts a"); link != id {
		t.Errorf("ordered again from %s, the page says %s", id, link)
	}

	// And it deletes the row that it names, and no other.
	eval[bool](s.tab, "window.confirm = () => true, true")
	s.click("#delete")
	s.wait("document.querySelector('#one').hidden && document.querySelector('#orders a')?.textContent === '" + want[0] + "'")
	s.same("after deleting", s.keys("ord", allOrders), want)
}

// A customer's id is shown, and sent along when the order is placed again.
func TestOrdersOfACustomer(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	customer := strings.TrimPrefix(s.place("/customers", `{"name":"Ada"}`), "/customers/")
	s.place("/orders", `{"customerId":"`+customer+`","customer":"Ada","lines":[{"sku":"tea","quantity":1,"priceCents":450}]}`)
	s.click("#newest")
	s.wait("document.querySelector('#orders a')")
	s.click("#orders a")
	s.wait("!document.querySelector('#one').hidden")
	if facts := s.text("#facts"); !strings.Contains(facts, customer) {
		t.Errorf("the page says %q", facts)
	}
	s.click("#again")
	s.wait("document.querySelector('#added a')")
	s.same("ordered again", s.keys("cus", "SELECT customer_id FROM jsonapi_orders"), []string{customer, customer})
}

// Wrong input is reported at its field, nothing is written, and the input stays.
func TestOrdersRefuseWrongInput(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.allow("422") // the browser logs what a server refuses
	s.allow("400")
	s.allow("404")
	s.click("#save")
	s.wait("!document.querySelector('#faults').hidden")
	for _, want := range []string{"Customer: ", "Line 1, SKU: ", "Line 1, Quantity: ", "Line 1, Price: "} {
		if faults := s.text("#faults"); !strings.Contains(faults, want) {
			t.Errorf("%q does not name %s", faults, want)
		}
	}
	s.add("Ada", "tea", "-1", "4,5")
	s.wait("document.querySelector('#faults').textContent.includes('“-1”')")
	if faults := s.text("#faults"); !strings.Contains(faults, "Line 1, Quantity “-1”: want a whole number from 1 to 10000") || !strings.Contains(faults, "Line 1, Price “4,5”: want an amount") || strings.Contains(faults, "Customer") {
		t.Errorf("%q", faults)
	}
	if at := eval[string](s.tab, "Array.from(document.querySelectorAll('[aria-invalid]'), e => e.name).join() + ' ' + document.activeElement.name"); at != "quantity,price quantity" {
		t.Errorf("marked and focused: %s", at)
	}
	// A screen reader announces with each field its line, and what is wrong.
	if said := eval[string](s.tab, "Array.from(document.querySelectorAll('[aria-invalid]'), e => e.closest('[role=group]').ariaLabel + ': ' + document.getElementById(e.getAttribute('aria-describedby')).textContent).join(' ')"); said != "Line 1: Line 1, Quantity “-1”: want a whole number from 1 to 10000 Line 1: Line 1, Price “4,5”: want an amount like 12.50, at most 999999.99" {
		t.Errorf("announced: %q", said)
	}
	s.click("#add-line")
	s.click("[aria-label='Remove line 2']")
	if got := eval[string](s.tab, "document.activeElement.id + document.querySelectorAll('#lines > *').length"); got != "add-line1" {
		t.Errorf("after removing a line: %s", got)
	}
	if typed := eval[string](s.tab, "document.querySelector('#customer').value"); typed != "Ada" {
		t.Errorf("what was typed is %q", typed)
	}
	if ids := s.numbers(allOrders); len(ids) != 0 {
		t.Errorf("written: %d", ids)
	}
	s.screenshot("jsonapi-faults")

	// Corrected, it is accepted.
	s.fill("[name=quantity]", "1")
	s.fill("[name=price]", "4,50")
	s.press(kb.Enter)
	s.wait("document.querySelector('#added a')")
	if eval[bool](s.tab, "!document.querySelector('#faults').hidden || Boolean(document.querySelector('[aria-invalid], [aria-describedby]'))") {
		t.Error("the errors are still shown")
	}
	if cents := s.numbers("SELECT price_cents FROM jsonapi_lines"); !slices.Equal(cents, []int64{450}) {
		t.Errorf("4,50 became %d", cents)
	}

	// Addresses without an id, with one of another kind, and with one of no order.
	const wantOrder = `not a key of this type, want "ord_" and 13 digits of base 32`
	for hash, want := range map[string]string{
		"#/orders/12x":               `id "12x": ` + wantOrder,
		"#/orders/%zz":               `id "%zz": ` + wantOrder,
		"#/orders/cus_1qda147xjq4ad": `id "cus_1qda147xjq4ad": ` + wantOrder,
		"#/orders/ord_0000000000007": "there is no such order",
	} {
		t.Run(hash, func(t *testing.T) {
			eval[string](s.tab, "location.hash = '"+hash+"'")
			s.wait(fmt.Sprintf("document.querySelector('#failure').textContent.includes(%q)", want))
			if !eval[bool](s.tab, "document.querySelector('#one').hidden && !document.querySelector('#failure').hidden") {
				t.Errorf("%s shows an order, or no failure", hash)
			}
		})
	}
}

// The page in light and dark colours, and on a phone.
func TestOrdersOnEveryScreen(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.post(7)
	s.add("Ada", "cup", "3", "12.50")
	s.wait("document.querySelector('#added a')")
	s.click("#added a")
	s.wait("!document.querySelector('#one').hidden")
	for _, name := range []string{"jsonapi-light", "jsonapi-dark"} {
		s.scheme(name == "jsonapi-dark")
		if seen, low := s.contrast(); seen < 50 || len(low) > 0 {
			t.Errorf("%s: of %d these are too low: %q", name, seen, low)
		}
		s.screenshot(name)
	}
	s.scheme(false)
	for _, width := range []int64{1280, 768, 390, 320} {
		s.do(chromedp.EmulateViewport(width, 844))
		if over := eval[int64](s.tab, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
			t.Errorf("%d pixels wide, the page is %d wider", width, over)
		}
		cut := eval[[]string](s.tab, "Array.from(document.querySelectorAll('.id')).filter(e => e.getBoundingClientRect().right > innerWidth || e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline').map(e => e.textContent)")
		if len(cut) > 0 {
			t.Errorf("%d pixels wide, ids are cut off: %q", width, cut)
		}
	}
	s.do(chromedp.EmulateViewport(390, 844))
	s.screenshot("jsonapi-390")
}
