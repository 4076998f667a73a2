package browser

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// Each tool has a link, which a browser also opens elsewhere, and keeps what is typed in the others.
func TestTools(t *testing.T) {
	t.Parallel()
	url := serve(t)
	tb := page(t, url, "#ids=175928847299117063&a=1")
	const visible = "[...document.querySelectorAll('main > section')].filter(s => s.checkVisibility()).map(s => s.id).join()"
	for _, c := range []struct{ tool, title string }{
		{"generate", "Generate – snowkey"}, {"range", "Time range – snowkey"}, {"compare", "Compare – snowkey"}, {"layout", "Layout – snowkey"}, {"tokens", "Tokens – snowkey"},
		{"decode", "snowkey: decode and generate Snowflake IDs"},
	} {
		tb.follow(c.tool)
		if got := eval[string](tb, visible); got != "tab-"+c.tool {
			t.Errorf("%s shows %s", c.tool, got)
		}
		if got := eval[string](tb, "document.querySelector('.tabs [aria-current=page]').id + ' ' + document.title"); got != "to-"+c.tool+" "+c.title {
			t.Errorf("%s: %s", c.tool, got)
		}
		there := page(t, url, eval[string](tb, "new URL(document.getElementById('to-"+c.tool+"').href).hash"))
		if got := eval[string](there, visible+" + document.getElementById('ids').value + document.getElementById('a').value"); got != "tab-"+c.tool+"1759288472991170631" {
			t.Errorf("the link to %s shows %s", c.tool, got)
		}
	}
	// The browser's history has the tools.
	eval[bool](tb, "history.back(), true")
	tb.wait(visible + " === 'tab-tokens'")
	// A link to a tool that does not exist shows the first.
	tb.visit("tab=nothing", visible+" === 'tab-decode'")
	// By keyboard: links, one after another.
	eval[bool](tb, "document.getElementById('to-decode').focus(), true")
	tb.press(kb.Tab + kb.Tab + kb.Enter)
	tb.wait(visible + " === 'tab-range'")
	// Beside each tool that needs a layout is a link to change it.
	tb.click("#tab-range .using a")
	tb.wait(visible + " === 'tab-layout'")
}
