package browser

import (
	"fmt"
	"maps"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

const (
	some    = "1996573624012345677"
	discord = "175928847299117063"
	visible = "[...document.querySelectorAll('main > section')].filter(s => s.checkVisibility()).map(s => s.id).join()"
)

// The page loads from its own server only. Each tool has a link, which a browser also opens
// elsewhere, and keeps what is typed in the others.
func TestTools(t *testing.T) {
	t.Parallel()
	url := serve(t)
	tb := page(t, url, "#ids="+discord+"&a=1")
	for _, c := range []struct{ tool, title string }{
		{"generate", "Generate – snowkey"}, {"range", "Time range – snowkey"}, {"compare", "Compare – snowkey"}, {"layout", "Layout – snowkey"}, {"tokens", "Tokens – snowkey"},
		{"decode", "snowkey: decode and generate Snowflake ids"},
	} {
		tb.follow(c.tool)
		tb.is(visible+" + ' ' + document.title", "tab-"+c.tool+" "+c.title)
		there := page(t, url, eval[string](tb, "new URL(document.getElementById('to-"+c.tool+"').href).hash"))
		there.is(visible+" + ' ' + document.getElementById('ids').value + ' ' + document.getElementById('a').value", "tab-"+c.tool+" "+discord+" 1")
	}
	if foreign := eval[[]string](tb, "performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith(location.origin + '/'))"); len(foreign) > 0 {
		t.Errorf("loaded from elsewhere: %q", foreign)
	}
	tb.run("history.back()")
	tb.wait(visible + " === 'tab-tokens'")
	tb.visit("tab=nothing", visible+" === 'tab-decode'")
	tb.run("document.getElementById('to-decode').focus()")
	tb.press(kb.Tab + kb.Tab + kb.Enter)
	tb.wait(visible + " === 'tab-range'")
	tb.click("#tab-range .using a")
	tb.wait(visible + " === 'tab-layout'")
}

// One id, a list in several formats, and what cannot be read.
func TestDecode(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#preset=twitter")
	tb.wait("document.activeElement.id === 'ids'") // one can paste at once
	tb.write("#ids", some)
	id, err := sqltype.Parse(some)
	check(t, err)
	parts, err := core.Twitter().Decode(int64(id))
	check(t, err)
	tb.has("#decode-result", parts.Time.Format("2006-01-02 15:04:05.000 UTC"), fmt.Sprintf("Worker ID %d", parts.Datacenter<<5|parts.Worker), fmt.Sprintf("Machine %d", parts.Worker), fmt.Sprintf("Sequence %d", parts.Sequence), id.Base62(), "ago", "(Twitter) as chosen",
		"Not safe", "1996573624012345600", "off by −77") // as a number of JavaScript
	tb.is("[...document.querySelectorAll('#decode-result .strip code')].map(c => c.textContent).join('')", fmt.Sprintf("%064b", uint64(id)))
	tb.write("#ids", fmt.Sprintf("\"%s\",\n'%s';  0x%x\n%s", some, some, int64(id), id.Base32()))
	tb.has("#decode-result", "4 ids", "Repeated 3")
	tb.is("[...document.querySelectorAll('tr[data-i] th')].map(c => c.textContent).join()", strings.Repeat(","+some, 4)[1:])
	tb.write("#ids", "1 2 five 3 six seven 4 eight nine -5")
	tb.has("#ids-error", "5 of 10 cannot be read (“five”, “six”, “seven”, …): each is not an id in decimal", "“-5” must not be negative.")
	tb.write("#ids", "2NUKMiAa421")
	tb.has("#ids-error", "“2NUKMiAa421” is ambiguous: it may be base58 for 590283275746127358 or base62 for 1996573647831799309 or bwmarrin58 for 779232457127370638. Choose the format.")
	tb.settled(func() { tb.click("#ids-choices button:nth-child(2)") })
	tb.has("#decode-result h3", "1996573647831799309")
	tb.write("#ids", "https://x.com/i/status/"+some+"?s=20")
	tb.choose("#format", "auto")
	tb.has("#decode-result h3", some)
	tb.write("#ids", "019d1f2f-2b8c-7a1e-8b53-1e7c2d3f4a5b")
	tb.has("#ids-error", "is not a Snowflake id, but a UUID of version 7, made 2026-03-24T09:31:18.284Z.")
	tb.write("#ids", "")
	tb.is("document.getElementById('decode-result').children.length", "0")
	tb.has("#decode-intro", some, "2025-12-04 13:33:41.165 UTC") // an example
}

// A number that was rounded is shown with what it may have been. Only an exact one is called "exact by chance".
func TestRounded(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#preset=twitter&ids=2124686841461342200")
	tb.has("#decode-result", "This may have been rounded by JavaScript. The id was one of 257. The likeliest: 2124686841461342208 worker ID 0, sequence 0", "id BETWEEN 2124686841461342080 AND 2124686841461342336")
	tb.write("#workers", "1023")
	tb.has("#decode-result", "The likeliest: 2124686841461342080 worker ID 1023, sequence 3968")
	tb.write("#workers", "")
	tb.settled(func() {
		tb.click("#decode-result .note a")
		tb.wait("document.getElementById('ids').value === '2124686841461342208'")
		tb.input("#ids")
	})
	tb.has("#decode-result", "Worker ID 0", "JavaScript writes it as 2124686841461342200, off by −8")
	tb.is("document.getElementById('preset').value", "twitter")
	for id, exact := range map[string]bool{"2124686841461342200": false, "2124686841461342720": false, "1997072219521024000": true, some: false} {
		tb.write("#ids", id)
		if got := strings.Contains(tb.text("#decode-result"), "exact by chance"); got != exact {
			t.Errorf("%s is exact by chance: %v", id, got)
		}
	}
	tb.write("#ids", "2124686841461340000")
	tb.has("#decode-result", "rounded by a spreadsheet. The id was one of 15,000")
	tb.write("#ids", "1996573624012345600 1996573624112345600 1996573624212345600")
	tb.has("#decode-result", "3 of these numbers look rounded by JavaScript or a spreadsheet.")
}

// The page as files shows no part of a server, and works from a disk.
func TestExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command(build(t, "cmd/snowkey"), "serve", "--export", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tb := page(t, "file://"+dir, "index.html#by=server&ids="+discord)
	tb.has("#decode-result h3", discord)
	tb.is("[...document.querySelectorAll('.server')].filter(e => e.checkVisibility()).length", "0")
	tb.follow("generate")
	tb.wait("document.getElementById('generated')")
	tb.has("#generate-result", "Made in this page")
	tb.is("document.querySelector('meta[property=\"og:image\"]').content", "preview.png")
	if foreign := eval[[]string](tb, "performance.getEntriesByType('resource').map(r => r.name).filter(n => !/^(file|data):/.test(n))"); len(foreign) > 0 {
		t.Errorf("loaded from elsewhere: %q", foreign)
	}
}

// Of a text that is more than ids, the page offers to decode only the long numbers.
func TestLongNumbers(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	for text, want := range map[string]string{
		"channels/41771983423143937/127121515262115840": "41771983423143937\n127121515262115840",
		"1.75928847299117063e17":                        "", // what is lost is not offered
		"x 12345678901234 192.168.0.1":                  "", // too short
	} {
		t.Run(text, func(t *testing.T) {
			tb.write("#ids", text)
			if n := eval[int](tb, "document.querySelectorAll('#ids-choices button').length"); n != min(len(want), 1) {
				t.Fatalf("%d offers", n)
			}
			if want != "" {
				tb.settled(func() { tb.click("#ids-choices button") })
				tb.is("document.getElementById('ids').value + document.getElementById('ids-error').textContent", want)
			}
		})
	}
}

// Ids generated by the page, by the server and for a given time have the given worker ID, and none
// is issued twice.
func TestGenerate(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#tab=generate")
	generate := func() (ids []core.Parts) {
		t.Helper()
		tb.run("document.getElementById('generate-result').replaceChildren()")
		tb.click("#generate-button")
		tb.wait("document.getElementById('generated')")
		last := sqltype.ID(-1)
		for _, text := range strings.Fields(eval[string](tb, "document.getElementById('generated').value")) {
			id, err := sqltype.Parse(text)
			if err != nil || id <= last {
				t.Fatalf("%s after %d, %v", text, last, err)
			}
			p, err := core.Twitter().Decode(int64(id))
			check(t, err)
			ids, last = append(ids, p), id
		}
		return ids
	}
	if got := generate(); len(got) != 1 || got[0].Worker != 0 {
		t.Errorf("%+v", got)
	}
	tb.has("#tab-generate", "0 is for tests", "Made in this page, for tests.", "a lease from your database")
	for _, c := range [][3]string{{"#worker", "", "must be given"}, {"#worker", "1024", "from 0 to 1,023"}, {"#count", "10001", "from 1 to 10,000"}, {"#time", "1767225600", "may be Unix seconds (2026-01-01T00:00:00.000Z) or milliseconds"}} {
		tb.write("#worker", "35", "#count", "2", "#time", "", c[0], c[1])
		tb.click("#generate-button")
		tb.wait("document.activeElement.id === '" + c[0][1:] + "' && document.activeElement.ariaInvalid === 'true'")
		tb.has(c[0]+"-error", c[2])
	}
	tb.write("#worker", "35", "#count", "5000", "#time", "")
	for _, by := range []string{"#by-page", "#by-server"} { // which do not know of each other
		tb.click(by)
		seen := map[core.Parts]bool{}
		for _, p := range append(generate(), generate()...) {
			if seen[p] || p.Datacenter != 1 || p.Worker != 3 {
				t.Fatalf("%s: %+v, repeated %v", by, p, seen[p])
			}
			seen[p] = true
		}
		if len(seen) != 10_000 {
			t.Errorf("%s: %d ids", by, len(seen))
		}
	}
	tb.has("#generate-result", "From this server’s generator")
	// The same worker ID has one cursor, however its bits are split, also within one tick.
	tb.click("#by-page")
	tb.run("Date.now = () => 1796000000000")
	seen := map[core.Parts]bool{}
	for _, state := range []string{"worker=35", "time_bits=41&worker_bits=10&sequence_bits=12&worker=35"} {
		tb.run("history.pushState(null, '', %q); dispatchEvent(new PopStateEvent('popstate'))", "#tab=generate&count=5000&"+state)
		for _, p := range generate() {
			if seen[p] {
				t.Fatalf("%s: %+v comes twice", state, p)
			}
			seen[p] = true
		}
	}
	tb.choose("#preset", "twitter")
	tb.write("#worker", "35", "#count", "2", "#time", "2026-01-31T12:00:00Z")
	generate()
	tb.has("#generate-result", "bounds and test data")
	tb.settled(func() { tb.click("#decode-these") })
	tb.has("#decode-result", "2 ids", "(Twitter) as chosen", "2026-01-31 12:00:00.000 35 1 3 1")
}

// The page reports a server that is slow, silent, or answers nonsense. A second click sends no
// second request, and no old ids stay next to the error.
func TestServerTrouble(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#tab=generate&worker=35")
	tb.settled(func() { tb.click("#by-server") })
	tb.run(`window.asked = 0;
		window.server = window.fetch;
		window.fetch = (...question) => { asked++; return new Promise((resolve, reject) => Object.assign(window, { question, resolve, reject })); }`)
	for range 3 {
		tb.click("#generate-button")
	}
	tb.is("[asked, document.getElementById('generate-button').ariaDisabled, document.activeElement.textContent]", "1,true,Waiting for the server…")
	tb.run("server(...question).then(resolve)")
	tb.wait("document.getElementById('generated')?.value")
	tb.allow("status of 400") // the browser logs what the server refuses
	for answer, want := range map[string]string{
		"reject(new TypeError('Failed to fetch'))":                       "The server does not respond",
		"reject(new DOMException('timed out', 'TimeoutError'))":          "did not respond within 15 seconds",
		"resolve(new Response('<h1>Bad gateway</h1>', { status: 502 }))": "not in JSON",
		"server('api/ids').then(resolve)":                                "Worker: must be given",
	} {
		n := eval[int](tb, "asked")
		tb.click("#generate-button")
		tb.wait(fmt.Sprintf("asked > %d", n))
		tb.run("%s", answer)
		tb.wait("document.getElementById('generate-error').textContent")
		tb.has("#generate-error", want)
		tb.is("document.getElementById('generated')", "null")
	}
	tb.is("question[1].signal instanceof AbortSignal", "true")
	// An answer for another layout is not shown.
	n := eval[int](tb, "asked")
	tb.click("#generate-button")
	tb.wait(fmt.Sprintf("asked > %d", n))
	tb.choose("#preset", "discord")
	tb.run("server(...question).then(resolve)")
	tb.wait("document.getElementById('generate-error').textContent.includes('layout changed')")
}

// A layout of one's own, wrong and right, and whether it is enough.
func TestLayoutForm(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#ids=1&a=1&b=2&from=2026-01-01")
	tb.run("document.getElementById('preset').value = 'custom'")
	tb.input("#preset")
	tb.wait("document.activeElement.id === 'time_bits'")
	tb.show()
	tb.write("#time_bits", "42")
	tb.has("#widths-error", "42+0+5+5+12 = 64", "at most 63")
	for _, id := range []string{"figures", "decode-result", "difference-result", "where-result", "tab-generate"} {
		tb.has("#"+id, "not valid yet")
	}
	tb.write("#time_bits", "39", "#datacenter_bits", "0", "#worker_bits", "16", "#sequence_bits", "8", "#tick", "0", "#epoch", "yesterday")
	tb.has("#tick-error", "at least 1ms")
	tb.has("#epoch-error", "must be a fixed time")
	tb.write("#tick", "10", "#epoch", "2014-09-01")
	tb.is("document.getElementById('preset').value", "custom")
	tb.settled(func() { tb.click("#sequence_first") })
	tb.is("document.getElementById('preset').value", "sonyflake") // whose fields these are
	tb.has("#figures", "65,536", "25,600", "2188-11-16")
	tb.has("#tab-generate", "Layout: Sonyflake", "0 to 65,535")
	for _, c := range [][3]string{
		{"30,000", "", "Enough. That takes 2 of 65,536 workers."},
		{"5000", "2200", "Not enough. One worker is enough. The layout ends on 2188-11-16, before that."},
		{"9999999999", "2060", "Not enough. All workers together make 1,677,721,600 ids a second. The layout lasts until 2188-11-16."},
	} {
		tb.write("#rate", c[0], "#until", c[1])
		tb.has("#enough-result", c[2])
	}
}

// A range of time as a condition of SQL, and the difference of two ids.
func TestRangeAndCompare(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#tab=range&from=2026-01-01&preset=twitter")
	tb.show()
	least, _, err := core.Twitter().Range(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
	check(t, err)
	for _, c := range [][3]string{ // a name is quoted if a database may need it
		{"orders.id", "orders.id", "orders.id"}, {"order.id", `"order".id`, "`order`.id"}, {"Orders.ID", `"Orders"."ID"`, "`Orders`.`ID`"}, {"größe", `"größe"`, "`größe`"},
	} {
		for i, dialect := range []string{"postgres", "mysql"} {
			tb.choose("#dialect", dialect)
			tb.write("#column", c[0])
			tb.has("#where-result", fmt.Sprintf("WHERE %s >= %d", c[1+i], least))
		}
	}
	for _, c := range [][3]string{{"#from", "2009-01-01", "outside the layout"}, {"#column", "id;drop", "letters"}, {"#to", "2025-01-01", ""}} {
		tb.write("#from", "2026-01-01", "#to", "", "#column", "", c[0], c[1])
		tb.has(c[0]+"-error", c[2])
		tb.is("document.getElementById('where-result').children.length", "0")
	}
	tb.settled(func() { tb.click("#spans button:nth-child(3)") })
	tb.is("document.getElementById('from').value + ' ' + document.getElementById('to').value", "yesterday today")
	tb.has("#where-result", "WHERE", " AND ")

	tb.choose("#preset", "auto")
	tb.write("#a", discord, "#b", "1312345678901234567")
	tb.has("#difference-result", "3135d 21h 54m 46.257s apart", "second is later", "1,136,416,831,602,117,504")
	tb.has("#tab-compare", "Layout: snowkey default (Twitter), assumed")
	tb.write("#b", "no id!")
	tb.has("#b-error", "This is not an id")
	tb.is("document.getElementById('difference-result').children.length", "0")
}

// The address holds all input, in its fragment: a link restores it, and the browser's buttons go
// back and forward.
func TestLink(t *testing.T) {
	t.Parallel()
	url := serve(t)
	tb := page(t, url, "#preset=discord")
	tb.show()
	tb.write("#ids", discord+"\n0x1bb5404d9b33914d", "#worker", "71", "#count", "3", "#time", "2026-01-01", "#from", "2026-01-01", "#to", "2026-02-01", "#column", "o.id", "#a", "1", "#b", "2", "#rate", "5000", "#until", "2060")
	const state = `JSON.stringify([[...document.querySelectorAll('input[type=text], select, textarea, input:checked')].filter(e => e.id !== 'generated').map(e => [e.id, e.value]),
		['decode-result', 'where-result', 'difference-result', 'enough-result', 'figures'].map(id => document.getElementById(id).innerText)])`
	again := func(tb *tab) {
		t.Helper()
		tb.show()
		was := eval[string](tb, state)
		other := open(t, eval[string](tb, "location.href"))
		other.wait("document.documentElement.dataset.ready")
		other.show()
		other.is(state, was)
		other.is("location.search", "")
	}
	again(tb)
	for i, layout := range []string{
		"preset=sonyflake", "epoch=0001-01-01T00:00:00.001Z&tick=1ms&time_bits=1", "time_bits=60&worker_bits=16", // which is invalid
		"epoch=1969-07-20T20:17:40.000Z&tick=86400000ms&time_bits=20&datacenter_bits=3&worker_bits=7&sequence_bits=9&sequence_first=true", "epoch=1970-01-01T00:00:00.000Z&time_bits=64&unsigned=true",
	} {
		tb.visit(fmt.Sprintf("%s&ids=1&worker=%d", layout, i), fmt.Sprintf("document.getElementById('worker').value === '%d'", i))
		tb.write("#ids", "1 0") // so that the page writes the address itself
		again(tb)
	}
	tb.choose("#preset", "discord")
	tb.write("#ids", "1")
	tb.write("#a", "1")
	tb.write("#ids", "2")
	for _, step := range []string{"back 1", "forward 2"} {
		to, want, _ := strings.Cut(step, " ")
		tb.run("history.%s()", to)
		tb.wait("document.querySelector('#decode-result h3')?.textContent === '" + want + "'")
	}
}

// The page reports what a link names wrongly or cannot hold. "today" is the day in UTC, or on this computer.
func TestTold(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#preset=zzz&ids="+discord)
	tb.has("#decode-result", "The link names “zzz”, which is not a preset. The layout is assumed.")
	tb.set("#ids", "Array.from({ length: 5000 }, (_, i) => 1996573624012345677n + BigInt(i)).join('\\n')")
	tb.click("#share button")
	tb.wait("document.querySelector('#share button').textContent === 'Too long'")
	tb.write("#ids", discord)
	tb.wait("document.querySelector('#share button').textContent === 'Copy link'")

	tb.do(call(emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "America/New_York"}))
	tb.run("Date.now = () => Date.UTC(2026, 6, 2, 3)") // still July 1 there
	tb.follow("range")
	tb.write("#from", "today", "#to", "2026-12-01T12:00")
	tb.has("#where-result", "From 2026-07-02 00:00:00.000 UTC", "Before 2026-12-01 12:00:00.000 UTC")
	tb.choose("#zone", "local")
	tb.has("#where-result", "From 2026-07-01 04:00:00.000 UTC", "Before 2026-12-01 17:00:00.000 UTC")
}

// A link may come from an attacker: what it holds is shown as text, and changes neither the page
// nor what it may load.
func TestHostileLink(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	n := 0
	for _, evil := range []string{
		`"><img src=x onerror="document.title='bad'">`, `<script>document.title='bad'</script>`, `javascript:document.title='bad'`, `{{constructor.constructor('bad')()}}`, "';DROP TABLE orders;--", "\u202e\u0000\ufeff",
	} {
		t.Run(evil, func(t *testing.T) {
			state := url.Values{"__proto__": {evil}, "constructor": {evil}, "ready": {evil}}
			for _, name := range []string{"preset", "epoch", "tick", "time_bits", "worker_bits", "sequence_first", "ids", "format", "datacenter", "workers", "zone", "count", "time", "from", "to", "column", "dialect", "a", "b", "by", "tab", "rate", "until"} {
				state.Set(name, evil)
			}
			for _, also := range []url.Values{{}, {"epoch": {"2020-01-01"}, "tick": {"1ms"}, "time_bits": {"41"}, "worker_bits": {"5"}, "from": {"2026-01-01"}, "to": {"2026-02-01"}}} {
				maps.Copy(state, also)
				n++
				state.Set("worker", fmt.Sprint(evil, n))
				tb.visit(state.Encode(), fmt.Sprintf("document.getElementById('worker').value.endsWith('%d')", n))
				tb.run("document.getElementById('generate-form').requestSubmit()")
				tb.is("document.title + [document.images.length, document.scripts.length, Object.keys(Object.prototype).length, document.querySelector('.sql')?.textContent]", "snowkey: decode and generate Snowflake ids1,1,0,")
			}
		})
	}
}

// A hundred thousand ids: the page drops the work if the text changes, and keeps few rows in the document.
func TestMany(t *testing.T) {
	t.Parallel()
	const list = "Array.from({ length: 100000 }, (_, i) => (BigInt(Date.UTC(2026, 0, 1) - 1288834974657 + i * 1000) << 22n) | BigInt(i % 4) << 17n | 5n).join('\\n')" // four datacenters, one a second
	tb := page(t, serve(t), "")
	tb.run("%s", today)
	tb.set("#ids", list)
	tb.has("#decode-result", "100,000 ids", "(Twitter) assumed", "First 2026-01-01 00:00:00", "Last 2026-01-02 03:46:39", "Time between 1d 3h 46m 39s", "By worker ID 4 different", "The list is too long for a link.")
	tb.is("location.hash.length < 100", "true")

	// Few rows, wherever one scrolls and with the keyboard, of which each shows its id.
	rows := func() {
		t.Helper()
		if n := eval[int](tb, "document.querySelectorAll('tr[data-i]').length"); n < 5 || n > 60 {
			t.Errorf("%d rows", n)
		}
	}
	rows()
	tb.click(`tr[data-i="2"] button`)
	tb.has("#picked", "2026-01-01 00:00:02.000 UTC", "Datacenter 2", "Sequence 5")
	tb.run("document.querySelector('.scroll').scrollTop = 1e9")
	tb.wait(`document.querySelector('tr[data-i="99999"]')`)
	rows()

	// Work that is no longer wanted is dropped.
	tb.settled(func() {
		tb.run("document.getElementById('ids').value = %s.replaceAll('\\n', ' \\n')", list)
		tb.input("#ids")
		tb.wait("document.getElementById('decode-progress').checkVisibility()")
		tb.run("document.getElementById('ids').value = %q", discord)
		tb.input("#ids")
	})
	tb.has("#decode-result h3", discord)
	tb.is("document.getElementById('decode-progress').checkVisibility() || document.querySelector('.many')", "null")

	// A long text that is pasted is not laid out in the field, and yet read as a whole.
	tb.settled(func() {
		tb.run(`const data = new DataTransfer();
			data.setData("text/plain", %s);
			document.getElementById("ids").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }))`, list)
	})
	tb.has("#decode-result", "100,000 ids")
	tb.is("document.getElementById('ids').value.length < 2000 && location.hash", "")
	tb.write("#ids", discord)
	tb.has("#decode-result h3", discord)

	// What is too long is rejected before it slows the browser.
	for _, c := range [][2]string{{"'9'.repeat((8 << 20) + 1)", "8,388,609 characters"}, {"'1 '.repeat(500001)", "These are 500,001 ids; the limit is 500,000."}} {
		tb.set("#ids", c[0])
		tb.has("#ids-error", c[1])
	}
}

// The files contain every id with the API's names, and escape what CSV and JSON escape.
func TestDownload(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#preset=twitter")
	tb.run("const url = URL.createObjectURL; URL.createObjectURL = (blob) => { window.file = blob; return url.call(URL, blob); }")
	tb.write("#ids", "1 2\n{\"id\":\"3\", \"note\":\"a,b\"}")
	for _, c := range [][2]string{
		{"csv", "id,input,time,unix_ms,rollback,worker_id,datacenter,machine,sequence\r\n1,1,2010-11-04T01:42:54.657Z,1288834974657,0,0,0,0,1\r\n"},
		{"json", "{\"ids\":[\n{\"id\":\"1\",\"input\":\"1\","},
	} {
		tb.click("#download-" + c[0])
		tb.wait("window.file")
		if got := eval[string](tb, "file.text()"); !strings.HasPrefix(got, c[1]) || strings.Count(got, "2010-11-04T01:42:54.657Z") != 3 {
			t.Errorf("%s: %q", c[0], got)
		}
		if c[0] == "json" {
			tb.is("file.text().then(text => JSON.parse(text).ids[2].id)", "3")
		}
		tb.run("delete window.file")
	}
}

// On no screen does anything overflow to the side, or is a field narrower than its text.
func TestNarrow(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	tb.show()
	tb.write("#a", "9223372036854775807", "#b", "9223372036854775807", "#epoch", "2010-11-04T01:42:54.657Z", "#time", "2026-01-31T12:00:00Z", "#from", "2026-01-31T12:00:00Z", "#column", "order_items.order_id", "#rate", "4,096,000", "#count", "10,000")
	for _, ids := range []string{discord + " no-id", "1 2 3 4 5 6", strings.Repeat("x", 300)} {
		tb.write("#ids", ids)
		for _, width := range []int64{390, 320, 768, 1280} {
			tb.do(chromedp.EmulateViewport(width, 844))
			for _, f := range eval[[]string](tb, `(document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth))
				.concat([...document.querySelectorAll('input[type=text], select')].filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth)).map(e => e.outerHTML.slice(0, 100))`) {
				t.Errorf("%d px: %s", width, f)
			}
		}
	}
}
