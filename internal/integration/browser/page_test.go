package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

const some = "1996573624012345677"

func TestDecode(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#preset=twitter")
	tb.wait("document.activeElement.id === 'ids'") // one can paste at once
	tb.write("#ids", some)
	id, err := sqltype.Parse(some)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := core.Twitter().Decode(int64(id))
	if err != nil {
		t.Fatal(err)
	}
	tb.has("#decode-result", parts.Time.Format("2006-01-02 15:04:05.000 UTC"), fmt.Sprintf("Datacenter %d", parts.Datacenter), fmt.Sprintf("Worker %d", parts.Worker),
		fmt.Sprintf("Sequence %d", parts.Sequence), fmt.Sprintf("Unix seconds %d", parts.Time.Unix()), fmt.Sprintf("Unix milliseconds %d", parts.Time.UnixMilli()),
		id.Base32(), id.Base58(), id.Base62(), fmt.Sprintf("0x%016x", int64(id)), "ago", "Twitter as chosen")
	strip := eval[string](tb, "[...document.querySelectorAll('#decode-result .strip code')].map(c => c.textContent).join('')")
	if want := fmt.Sprintf("%064b", uint64(id)); strip != want {
		t.Errorf("bits %s, want %s", strip, want)
	}
	if got := eval[string](tb, "document.querySelector('#decode-result time').dateTime"); got != parts.Time.Format("2006-01-02T15:04:05.000Z") {
		t.Error(got)
	}

	// Many, in every format, with quotes and commas, as in the result of a query.
	tb.write("#ids", fmt.Sprintf("\"%s\",\n'%s';  0x%x\n%s", some, some, int64(id), id.Base32()))
	tb.has("#decode-result", "4 IDs", "Repeated 3")
	if got := eval[string](tb, "[...new Set([...document.querySelectorAll('tr[data-i] th')].map(c => c.textContent))].join() + document.querySelectorAll('tr[data-i]').length"); got != some+"4" {
		t.Errorf("the table has %s", got)
	}
	tb.choose("#format", "base62")
	tb.has("#ids-error", "4 of 4 cannot be read (“"+some+"”", "each is not base62, which has 11 digits.")
	tb.write("#ids", id.Base62())
	tb.has("#decode-result h3", some)
	tb.has("#decode-result", "Read as base62 from "+id.Base62())
	tb.choose("#format", "auto")

	// With a prefix, in any case; the answer has it as it is written.
	tb.write("#ids", "ORD_"+id.Base32())
	tb.has("#decode-result", some, "ORD_"+id.Base32(), "Prefix ord", "Prefixed ord_"+strings.ToLower(id.Base32()))
	tb.write("#ids", "ord_7")
	tb.has("#ids-error", `“ord_7” is not "ord_" and 13 digits of base32.`)

	tb.write("#ids", "")
	if eval[bool](tb, "document.querySelector('#decode-result, #decode-others').children.length > 0 || document.querySelector('[aria-invalid]') !== null") {
		t.Error("an empty field leaves something behind")
	}
	tb.has("#decode-intro", "the time when it was made")
}

// Texts that cannot be read have one line for each kind, and an ambiguous one a button for each
// format that it may have.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#preset=twitter")
	tb.write("#ids", "1 2 five 3 six seven 4 eight nine -5")
	if rows := eval[int](tb, "document.querySelectorAll('tr[data-i]').length"); rows != 4 {
		t.Errorf("%d rows", rows)
	}
	tb.has("#ids-error", "5 of 10 cannot be read (“five”, “six”, “seven”, …): each is not an ID in decimal", "“-5” must not be negative.")
	tb.write("#ids", "2NUKMiAa421")
	tb.has("#ids-error", "“2NUKMiAa421” is ambiguous: it may be base58 for 590283275746127358 or base62 for 1996573647831799309. Choose the format.")
	tb.settled(func() { tb.click("#ids-choices button:last-child") })
	tb.has("#decode-result h3", "1996573647831799309")
	if got := eval[string](tb, "document.getElementById('format').value + document.getElementById('ids-error').textContent + document.getElementById('ids-choices').textContent"); got != "base62" {
		t.Error(got)
	}
}

// choose chooses an option of a list, and waits until the page has updated.
func (tb *tab) choose(selector, value string) {
	tb.t.Helper()
	tb.settled(func() {
		eval[bool](tb, fmt.Sprintf("document.querySelector(%q).value = %q, true", selector, value))
		for _, event := range []string{"input", "change"} {
			eval[bool](tb, fmt.Sprintf("document.querySelector(%q).dispatchEvent(new Event(%q, { bubbles: true }))", selector, event))
		}
	})
}

// input notifies the page that a field has changed, if the browser does not.
func (tb *tab) input(selector string) {
	tb.t.Helper()
	eval[bool](tb, fmt.Sprintf("document.querySelector(%q).dispatchEvent(new Event('input', { bubbles: true }))", selector))
}

// The value that JSON.parse returns for an id is shown decoded.
func TestJavaScriptSafety(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#preset=twitter")
	for id, want := range map[string][]string{
		some:                  {"Not safe", "1996573624012345600", "off by −77", "sequence 256 instead of 333"},
		"4611686018427387904": {"Not safe", "4611686018427388000", "off by +96"}, // exact as a number, and written with other digits
		"4611686018427388000": {"Not safe", "exact by chance"},
		"9223372036854775807": {"Not safe", "9223372036854776000", "not an ID of this layout"},
		"9007199254740991":    {"Safe in JavaScript"},
		"9007199254740993":    {"Not safe", "9007199254740992", "off by −1"},
	} {
		t.Run(id, func(t *testing.T) {
			tb.write("#ids", id)
			tb.has("#decode-result article .note", want...)
			if rounded := eval[string](tb, "JSON.stringify(JSON.parse('"+id+"'))"); strings.Contains(strings.Join(want, " "), "off by") && !strings.Contains(strings.Join(want, " "), rounded) {
				t.Errorf("%s: this browser says %s", id, rounded)
			}
		})
	}
	tb.choose("#preset", "javascript-safe")
	tb.follow("layout")
	tb.has("#figures", "always: at most 53 bits")
}

// follow follows the link to a tool.
func (tb *tab) follow(tool string) {
	tb.t.Helper()
	tb.click("#to-" + tool)
	tb.wait("document.getElementById('tab-" + tool + "').checkVisibility()")
}

// made returns the field with the generated ids.
func made(tb *tab, l core.Layout) (ids []int64, parts []core.Parts) {
	tb.t.Helper()
	for _, text := range strings.Fields(eval[string](tb, "document.getElementById('generated').value")) {
		id, err := sqltype.Parse(text)
		if err != nil {
			tb.t.Fatal(err)
		}
		p, err := l.Decode(int64(id))
		if err != nil {
			tb.t.Fatal(err)
		}
		ids, parts = append(ids, int64(id)), append(parts, p)
	}
	return ids, parts
}

func TestGenerate(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#tab=generate")
	// One click makes an id. Its worker ID is marked as one for tests, and the page says where
	// real ones come from.
	tb.has("#worker-hint", "0 is for tests")
	tb.has("#tab-generate", "Layout: Twitter Change", "a worker ID that no other process uses: a lease from your database")
	tb.click("#generate-button")
	tb.wait("document.getElementById('generated')")
	tb.has("#generate-result", "One ID. Made in this page, for tests.")
	tb.write("#worker", "5")
	if hint := tb.text("#worker-hint"); strings.Contains(hint, "tests") {
		t.Error(hint)
	}
	// An empty field is named, and gets the focus.
	tb.write("#datacenter", "", "#worker", "")
	tb.click("#generate-button")
	tb.wait("document.activeElement.id === 'datacenter' && document.activeElement.getAttribute('aria-invalid') === 'true'")
	tb.has("#worker-error", "must be given")
	if eval[bool](tb, "document.getElementById('generated') !== null") {
		t.Error("ids were made without a number")
	}
	for _, c := range [][3]string{
		{"#worker", "32", "from 0 to 31"}, {"#worker", "-1", "from 0 to 31"}, {"#worker", "1.5", "from 0 to 31"}, {"#worker", "x", "from 0 to 31"}, {"#datacenter", "99999999999999999999", "from 0 to 31"},
		{"#count", "0", "from 1 to 10,000"}, {"#count", "10001", "from 1 to 10,000"}, {"#time", "soon", "must be a time"}, {"#time", "1767225600", "may be Unix seconds (2026-01-01T00:00:00.000Z) or milliseconds"}, {"#time", "2009-01-01", "outside the layout"},
	} {
		tb.write("#datacenter", "1", "#worker", "3", "#count", "2", "#time", "", c[0], c[1])
		tb.click("#generate-button")
		tb.wait("document.querySelector('" + c[0] + "').getAttribute('aria-invalid') === 'true'")
		tb.has(c[0]+"-error", c[2])
	}

	// Ids generated by the page, by the server, and for a given time: each has the given worker
	// ID, and none is issued twice.
	tb.write("#datacenter", "1", "#worker", "3", "#count", "5000", "#time", "")
	seen := map[int64]bool{}
	for round, by := range []string{"#by-page", "#by-page", "#by-page", "#by-server", "#by-server"} {
		if round == 3 {
			seen = map[int64]bool{} // the page and the server do not know of each other
		}
		tb.click(by)
		eval[bool](tb, "document.getElementById('generate-result').replaceChildren(), true")
		tb.click("#generate-button")
		tb.wait("document.getElementById('generated')")
		ids, parts := made(tb, core.Twitter())
		if len(ids) != 5000 {
			t.Fatalf("%d ids", len(ids))
		}
		for i, id := range ids {
			if seen[id] || i > 0 && ids[i-1] >= id {
				t.Fatalf("round %d: %d comes twice, or before %d", round, id, ids[max(0, i-1)])
			}
			seen[id] = true
			if parts[i].Datacenter != 1 || parts[i].Worker != 3 {
				t.Fatalf("%d is %+v", id, parts[i])
			}
		}
	}
	tb.has("#generate-result", "From this server’s generator")
	tb.click("#by-page")
	seen = map[int64]bool{}
	eval[bool](tb, "Date.now = () => 1796000000000, true")                                                                                                                // both begin in one tick
	for _, state := range []string{"#tab=generate&datacenter=1&worker=3&count=5000", "#tab=generate&time_bits=41&worker_bits=10&sequence_bits=12&worker=35&count=5000"} { // the same number
		eval[bool](tb, fmt.Sprintf("history.pushState(null, '', %q), dispatchEvent(new PopStateEvent('popstate')), true", state))
		tb.click("#generate-button")
		tb.wait("document.getElementById('generated')")
		ids, _ := made(tb, core.Twitter())
		for _, id := range ids {
			if seen[id] {
				t.Fatalf("%s: %d comes twice", state, id)
			}
			seen[id] = true
		}
	}
	tb.choose("#preset", "twitter")
	tb.write("#datacenter", "1", "#worker", "3")
	tb.write("#count", "2", "#time", "2026-01-31T12:00:00Z")
	tb.click("#generate-button")
	tb.wait("document.getElementById('generated')?.value.split('\\n').length === 2")
	ids, _ := made(tb, core.Twitter())
	for i, id := range ids {
		if want, _ := core.Twitter().Compose(core.Parts{Time: ptime(t, "2026-01-31T12:00:00Z"), Datacenter: 1, Worker: 3, Sequence: int64(i)}); id != want {
			t.Errorf("%d, want %d", id, want)
		}
	}
	tb.has("#generate-result", "bounds and test data")

	// A button decodes them.
	tb.settled(func() { tb.click("#decode-these") })
	tb.has("#decode-result", "2 IDs", "Twitter as chosen", fmt.Sprint(ids[1])+" 2026-01-31 12:00:00.000 1 3 1")
}

// A custom layout, wrong and right.
func TestOwnLayout(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	// Custom, in the list of presets, leads to the fields.
	eval[bool](tb, "document.getElementById('preset').value = 'custom', document.getElementById('preset').dispatchEvent(new Event('change', { bubbles: true }))")
	tb.wait("document.activeElement.id === 'time_bits' && document.getElementById('tab-layout').checkVisibility()")
	tb.write("#time_bits", "42")
	tb.has("#widths-error", "42+0+5+5+12 = 64", "at most 63")
	tb.has("#figures", "not valid yet")
	tb.follow("generate")
	tb.has("#tab-generate", "Layout: not valid yet")
	tb.click("#generate-button")
	tb.has("#generate-error", "not valid yet")
	tb.follow("layout")
	tb.write("#time_bits", "x")
	tb.has("#time_bits-error", "0 to 64")
	tb.write("#time_bits", "39", "#datacenter_bits", "0", "#worker_bits", "16", "#sequence_bits", "8", "#tick", "0")
	tb.has("#tick-error", "at least 1ms")
	tb.write("#tick", "10", "#epoch", "2014-09-31")
	tb.has("#epoch-error", "This must be a fixed time")
	tb.write("#epoch", "2014-09-01")
	if eval[string](tb, "document.getElementById('preset').value") != "custom" {
		t.Error("it is none of the presets")
	}
	tb.settled(func() { tb.click("#sequence_first") })
	if got := eval[string](tb, "document.getElementById('preset').value"); got != "sonyflake" {
		t.Errorf("it is Sonyflake's, and the page says %s", got)
	}
	tb.has("#figures", "65,536", "25,600", "2188-11-16")

	// Whether it is enough.
	for _, c := range [][3]string{
		{"5000", "2060", "Enough. One worker is enough. The layout lasts until 2188-11-16."},
		{"30,000", "", "Enough. That takes 2 of 65,536 workers."},
		{"5000", "2200", "Not enough. One worker is enough. The layout ends on 2188-11-16, before that."},
		{"9999999999", "2060", "Not enough. All workers together make 1,677,721,600 IDs a second. The layout lasts until 2188-11-16."},
	} {
		tb.write("#rate", c[0], "#until", c[1])
		if got := tb.text("#enough-result"); got != c[2] {
			t.Errorf("%q: %q, want %q", c[:2], got, c[2])
		}
	}
	tb.write("#rate", "many", "#until", "then")
	tb.has("#rate-error", "whole number")
	tb.has("#until-error", "must be a time")
	tb.follow("generate")
	if eval[bool](tb, "!document.getElementById('datacenter-field').hidden") {
		t.Error("there is no datacenter field in this layout")
	}
	// The fields have Sonyflake's names.
	tb.has("#tab-generate", "Layout: Sonyflake", "Machine")
}

func TestWhere(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#tab=range")
	tb.write("#from", "2026-01-01", "#to", "2026-02-01T00:00:00+01:00", "#column", "o.id")
	least, behind, err := core.Twitter().Range(ptime(t, "2026-01-01T00:00:00Z"), ptime(t, "2026-02-01T00:00:00+01:00"))
	if err != nil {
		t.Fatal(err)
	}
	tb.has("#where-result", fmt.Sprintf("WHERE o.id >= %d AND o.id < %d", least, behind))
	tb.write("#to", "")
	tb.has("#where-result", fmt.Sprintf("WHERE o.id >= %d", least))
	for _, c := range [][3]string{
		{"#from", "soon", "must be a time"}, {"#from", "2009-01-01", "outside the layout"}, {"#to", "2025-01-01", ""}, {"#to", "2999-01-01", "outside"}, {"#column", "id;drop", "letters"}, {"#column", "a.b.c.d", "letters"},
	} {
		t.Run(c[0]+" "+c[1], func(t *testing.T) {
			tb.write("#from", "2026-01-01", "#to", "2026-02-01", "#column", "", c[0], c[1])
			if c[2] != "" {
				tb.has(c[0]+"-error", c[2])
			}
			if eval[bool](tb, "document.getElementById('where-result').children.length > 0") {
				t.Errorf("%q gives a condition", c)
			}
		})
	}
	tb.has("#from-error", "")

	// A name is quoted if a database may need it, as that database quotes names.
	for _, c := range [][3]string{
		{"orders.id", "orders.id", "orders.id"}, {"order.id", `"order".id`, "`order`.id"}, {"Orders.ID", `"Orders"."ID"`, "`Orders`.`ID`"},
		{"order id", `"order id"`, "`order id`"}, {`"key"`, `"key"`, "`key`"}, {"id2", "id2", "id2"}, {"größe", `"größe"`, "`größe`"},
	} {
		for i, dialect := range []string{"postgres", "mysql"} {
			tb.choose("#dialect", dialect)
			tb.write("#from", "2026-01-01", "#to", "", "#column", c[0])
			tb.has("#where-result", fmt.Sprintf("WHERE %s >= %d", c[1+i], least))
		}
	}

	// Frequent ranges are a click away, and are words that every field of a time accepts.
	tb.settled(func() { tb.click("#spans button:nth-child(3)") })
	if got := eval[string](tb, "document.getElementById('from').value + ' ' + document.getElementById('to').value"); got != "yesterday today" {
		t.Error(got)
	}
	tb.has("#where-result", "WHERE", ":00.000 UTC")
	tb.write("#from", "-7d", "#to", "now")
	tb.has("#where-result", "WHERE", " AND ")
	// An epoch is a fixed time.
	tb.follow("layout")
	tb.write("#epoch", "yesterday")
	tb.has("#epoch-error", "must be a fixed time")
}

func TestCompare(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#tab=compare")
	tb.write("#a", "175928847299117063", "#b", "1312345678901234567")
	tb.has("#difference-result", "3135d 21h 54m 46.257s apart", "second is later", "270,942,886,257", "1,136,416,831,602,117,504", "2016-04-30")
	tb.has("#tab-compare", "Layout: Discord, auto-detected")
	tb.write("#b", "no id!")
	tb.has("#b-error", "This is not an ID")
	if eval[bool](tb, "document.getElementById('difference-result').children.length > 0") {
		t.Error("the old difference stays")
	}
	tb.write("#b", "175928847299117063")
	tb.has("#difference-result", "same ID")
}

// The address holds all input: a link restores it, and the browser's buttons go back and
// forward.
func TestLink(t *testing.T) {
	t.Parallel()
	url := serve(t)
	tb := page(t, url, "")
	tb.choose("#preset", "discord")
	tb.show()
	tb.write("#ids", "175928847299117063\n0x1bb5404d9b33914d", "#worker", "7", "#datacenter", "2", "#count", "3", "#time", "2026-01-01", "#from", "2026-01-01", "#to", "2026-02-01", "#column", "o.id", "#a", "1", "#b", "2", "#rate", "5000", "#until", "2060")
	tb.choose("#dialect", "mysql")
	tb.settled(func() { tb.click("#by-server") })
	values := "JSON.stringify([...document.querySelectorAll('input[type=text], select, textarea, input:checked')].filter(e => e.id !== 'generated').map(e => [e.id, e.value]))"
	shown := eval[string](tb, values)
	const results = "['decode-result', 'where-result', 'difference-result', 'enough-result'].map(id => document.getElementById(id).textContent).join()"
	text := eval[string](tb, results)
	link := eval[string](tb, "location.href")
	if strings.Contains(eval[string](tb, "location.search"), "=") {
		t.Errorf("the state goes to the server: %s", link)
	}
	other := open(t, link)
	other.wait("document.documentElement.dataset.ready")
	if again := eval[string](other, values); again != shown {
		t.Errorf("%s\nbecomes\n%s", shown, again)
	}
	if again := eval[string](other, results); again != text {
		t.Errorf("%s\nbecomes\n%s", text, again)
	}

	// A custom layout as well; an invalid one is shown with its errors.
	own := page(t, url, "#tab=layout&epoch=2020-01-01&tick=10ms&time_bits=39&worker_bits=16&sequence_bits=8&ids=4611686018427387904")
	own.has("#figures", "2020-01-01 00:00:00.000 UTC", "25,600")
	own.follow("decode")
	own.has("#decode-result", "4611686018427387904", "Custom layout as chosen")
	none := page(t, url, "#tab=layout&time_bits=60&worker_bits=16&ids=1")
	none.has("#widths-error", "at most 63")
	none.show()
	none.write("#ids", "2")
	none.do(chromedp.Reload())
	none.wait("document.documentElement.dataset.ready && document.getElementById('ids').value === '2'")
	none.has("#widths-error", "60+0+0+16+0", "at most 63")

	// Back and forward, from one id to another.
	own.show()
	own.write("#ids", "1")
	own.write("#a", "1")
	own.write("#ids", "2")
	for _, step := range []struct{ to, want string }{{"back", "1"}, {"back", "1"}, {"back", "4611686018427387904"}, {"forward", "1"}, {"forward", "1"}, {"forward", "2"}} {
		was := eval[string](own, "location.hash")
		eval[bool](own, "history."+step.to+"(), true")
		own.wait(fmt.Sprintf("location.hash !== %q && document.getElementById('ids').value === %q", was, step.want))
		own.has("#decode-result h3", step.want)
	}
}

// The whole page by keyboard: each tool's controls in their order, with a visible focus.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	for tool, least := range map[string]int{"decode": 15, "generate": 15, "range": 15, "compare": 11, "layout": 20, "tokens": 13} {
		t.Run(tool, func(t *testing.T) {
			eval[bool](tb, fmt.Sprintf("location.hash = 'tab=%s&ids=1', true", tool))
			tb.wait("document.getElementById('tab-" + tool + "').checkVisibility()")
			eval[bool](tb, "document.activeElement.blur(), document.getElementById('skip').focus(), true")
			order := eval[[]string](tb, "[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex=\"0\"]')].filter(e => e.checkVisibility() && e.tabIndex >= 0 && !e.disabled && !(e.type === 'radio' && !e.checked)).map((e, i) => (e.dataset.stop = i, String(i)))")
			for i, want := range order {
				if i > 0 {
					tb.press(kb.Tab)
				}
				if got := eval[string](tb, "document.activeElement.dataset.stop ?? document.activeElement.tagName"); got != want {
					t.Fatalf("stop %d is %s, want %s", i, got, want)
				}
				if i > 0 && !eval[bool](tb, "document.activeElement.matches(':focus-visible') && parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2 && document.activeElement.getBoundingClientRect().top >= 0") {
					t.Errorf("the focus cannot be seen on %s", eval[string](tb, "document.activeElement.outerHTML"))
				}
			}
			if len(order) < least {
				t.Errorf("only %d stops", len(order))
			}
			eval[bool](tb, "document.querySelectorAll('[data-stop]').forEach(e => delete e.dataset.stop), true")
		})
	}
	// The first stop skips the header.
	eval[bool](tb, "location.hash = '', true")
	tb.do(chromedp.Reload())
	tb.wait("document.documentElement.dataset.ready && document.activeElement.id === 'ids'")
	eval[bool](tb, "document.getElementById('skip').focus(), true")
	tb.wait("document.activeElement.getBoundingClientRect().top >= 0")
	tb.press(kb.Enter)
	tb.wait("document.activeElement.id === 'main'")

	// Ids generated and decoded without a mouse.
	to := func(id string) {
		t.Helper()
		for range 60 {
			tb.press(kb.Tab)
			if eval[string](tb, "document.activeElement.id") == id {
				return
			}
		}
		t.Fatalf("no way to %s", id)
	}
	eval[bool](tb, "document.getElementById('skip').focus(), true")
	to("to-generate")
	tb.press(kb.Enter)
	tb.wait("document.getElementById('tab-generate').checkVisibility()")
	to("time")
	tb.press("2026-01-31" + kb.Enter)
	tb.wait("document.getElementById('generated')")
	to("decode-these")
	tb.settled(func() { tb.press(" ") })
	tb.wait("document.activeElement.id === 'ids'")
	tb.has("#decode-result", "2026-01-31 00:00:00.000 UTC")
	to("format")
	tb.press(kb.Tab)
	tb.hear("#live")
	tb.hear("#decode-result .copy")
	tb.press(kb.Enter)
	tb.wait("window.heard.includes('Copied')") // the button, for a moment only
	tb.said("Copied the ID")
}
