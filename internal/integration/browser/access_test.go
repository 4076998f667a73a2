package browser

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
)

// A state in which every part of the page shows something, including errors.
const full = "#ids=175928847299117063%0A0x1236651c78d6d687%0Ano-id%0A2NUKMiAa421&datacenter=1&worker=3&count=3&rate=5000&until=2060&from=2026-01-01&to=2026-02-01&column=Orders.id&a=175928847299117063&b=1312345678901234567"

// shown opens the page with something in each part, and all parts visible.
func shown(t testing.TB, state string) *tab {
	t.Helper()
	tb := page(t, serve(t), state)
	tb.show()
	tb.click("#generate-button")
	tb.wait("document.getElementById('generated')")
	if strings.Contains(state, "%0A") {
		tb.click("tr[data-i]:nth-child(2)") // a list, and one of its IDs
		tb.wait("document.querySelector('#picked article')")
	}
	return tb
}

// A screen reader finds a name on every control, headings in order, and errors beside their
// fields.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	tb := shown(t, full)
	for fault, expression := range map[string]string{
		"two elements with one id":            "[...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i)",
		"a reference that leads nowhere":      "[...document.querySelectorAll('[aria-describedby], [aria-labelledby], label[for]')].flatMap(e => ((e.getAttribute('aria-describedby') ?? '') + ' ' + (e.getAttribute('aria-labelledby') ?? '') + ' ' + (e.htmlFor ?? '')).split(' ')).filter(id => id && !document.getElementById(id))",
		"a field without a label":             "[...document.querySelectorAll('input, select, textarea')].filter(e => e.labels.length === 0 && !e.ariaLabel).map(e => e.id)",
		"a field whose fault is not read":     "[...document.querySelectorAll('[aria-invalid]')].filter(e => !e.getAttribute('aria-describedby').split(' ').some(id => document.getElementById(id).textContent && document.getElementById(id).closest('[aria-live]'))).map(e => e.id)",
		"a heading that skips a level":        "[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(h => Number(h.tagName[1])).flatMap((n, i, all) => n > (all[i - 1] ?? 0) + 1 ? [`${i}: h${n}`] : [])",
		"not one first heading":               "document.querySelectorAll('h1').length === 1 ? [] : ['h1']",
		"a part without a name":               "[...document.querySelectorAll('section, [role=region]')].filter(s => !s.getAttribute('aria-labelledby') && !s.ariaLabel).map(s => s.id)",
		"a picture without a text":            "[...document.images].filter(i => !i.hasAttribute('alt')).map(i => i.src)",
		"a table without heads":               "[...document.querySelectorAll('table')].filter(t => [...t.querySelectorAll('th')].some(h => !h.scope) || !t.querySelector('th')).map(t => t.className)",
		"a tab order of its own":              "[...document.querySelectorAll('[tabindex]')].filter(e => e.tabIndex > 0).map(e => e.id)",
		"no language":                         "document.documentElement.lang === 'en' ? [] : ['lang']",
		"no live region":                      "['live', 'decode-status'].filter(id => document.getElementById(id).getAttribute('role') !== 'status').concat(document.getElementById('generate-error').getAttribute('role') === 'alert' ? [] : ['generate-error'])",
		"a visible text that is not the name": "[...document.querySelectorAll('button[aria-label]')].filter(b => !b.ariaLabel.toLowerCase().includes(b.textContent.toLowerCase())).map(b => b.ariaLabel)",
	} {
		t.Run(fault, func(t *testing.T) {
			if found := eval[[]string](tb, expression); len(found) > 0 {
				t.Errorf("%s: %q", fault, found)
			}
		})
	}
	// The accessibility tree of the browser.
	nodes := get(tb, func(ctx context.Context, _ *chromedp.Target) ([]*accessibility.Node, error) {
		tree, err := chromedp.Call(ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		return tree.Nodes, err
	})
	names := map[string][]string{}
	for _, n := range nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		role, name := trim(n.Role.Value), ""
		if n.Name != nil {
			name = trim(n.Name.Value)
		}
		names[role] = append(names[role], name)
		if slices.Contains([]string{"button", "textbox", "combobox", "checkbox", "radio", "link", "heading", "region", "table", "article", "group"}, role) && name == "" && role != "article" && role != "group" {
			t.Errorf("a %s has no name", role)
		}
	}
	for role, least := range map[string]int{"button": 10, "textbox": 14, "combobox": 2, "checkbox": 2, "radio": 2, "region": 5, "heading": 8, "main": 1, "banner": 1, "contentinfo": 1, "table": 2, "status": 2} {
		if len(names[role]) < least {
			t.Errorf("only %d of role %s: %q", len(names[role]), role, names[role])
		}
	}
}

func trim(value fmt.Stringer) string { return strings.Trim(value.String(), `"`) }

//go:embed testdata/contrast.js
var contrast string

// contrast returns the number of texts and edges, and those whose contrast is too low.
func (tb *tab) contrast() (seen int, low []string) {
	tb.t.Helper()
	got := eval[struct {
		Seen int
		Low  []string
	}](tb, "(() => {"+contrast+"})()")
	return got.Seen, got.Low
}

// Every text has a contrast of 4.5 with its background, and the edge of every control one of
// 3, in both colour schemes, with something in each part of the page.
func TestContrast(t *testing.T) {
	t.Parallel()
	tb := shown(t, full)
	for _, dark := range []bool{false, true} {
		for _, bits := range []string{"41", "50", "40"} { // a preset, none, and one with all kinds of fields
			tb.scheme(dark)
			if bits == "41" {
				tb.choose("#preset", "auto")
			} else {
				tb.write("#time_bits", bits, "#rollback_bits", "1")
			}
			if seen, low := tb.contrast(); seen < 100 || len(low) > 0 {
				t.Errorf("dark %v, %s bits: of %d these are too low: %q", dark, bits, seen, low)
			}
		}
	}
}

// On narrow screens nothing overflows to the side, however long it is.
func TestNarrow(t *testing.T) {
	t.Parallel()
	tb := shown(t, full)
	for _, state := range []string{"175928847299117063 no-id", "1 2 3 4 5 6", "-9223372036854775808 18446744073709551615", strings.Repeat("x", 300)} {
		tb.write("#ids", state)
		for _, width := range []int64{390, 320, 768, 1280} {
			tb.do(chromedp.EmulateViewport(width, 844))
			if over := eval[[]string](tb, "document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth).map(e => e.outerHTML.slice(0, 100))"); len(over) > 0 {
				t.Errorf("%d px, %q: %d overflow, such as %s", width, state, len(over), over[0])
			}
		}
	}
}

// No field is too narrow for what people type into it, such as an ID of 19 digits or a full time.
func TestClipped(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	tb.show()
	tb.write("#ids", "-9223372036854775808", "#a", "9223372036854775807", "#b", "9223372036854775807", "#epoch", "2010-11-04T01:42:54.657Z",
		"#time", "2026-01-31T12:00:00Z", "#from", "2026-01-31T12:00:00Z", "#to", "2026-01-31T12:00:00Z", "#column", "order_items.order_id", "#rate", "4,096,000", "#until", "2093-01-01", "#count", "10,000")
	for _, width := range []int64{390, 320, 768, 1280} {
		tb.do(chromedp.EmulateViewport(width, 844))
		for _, f := range eval[[]string](tb, "[...document.querySelectorAll('input[type=text], select, textarea')].filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth).map(e => e.id + ' “' + e.value + '” ' + e.scrollWidth + ' > ' + e.clientWidth)") {
			t.Errorf("%d px: %s", width, f)
		}
	}
}

// Screenshots of the page, to be looked at.
func TestScreenshots(t *testing.T) {
	t.Parallel()
	url := serve(t)
	for tool, state := range map[string]string{
		"decode": "#ids=175928847299117063", "list": "#ids=175928847299117063%0A0x1236651c78d6d687", "generate": "#tab=generate", "range": "#tab=range&from=yesterday&to=now",
		"compare": "#tab=compare&a=175928847299117063&b=1312345678901234567", "layout": "#tab=layout&rate=5000", "tokens": "#tab=tokens",
	} {
		tb := page(t, url, state)
		for _, c := range []struct {
			name  string
			dark  bool
			width int64
		}{{"light", false, 1280}, {"dark", true, 1280}, {"390", false, 390}, {"390-dark", true, 390}} {
			tb.scheme(c.dark)
			tb.do(chromedp.EmulateViewport(c.width, 900))
			eval[bool](tb, "scrollTo(0, 0), document.activeElement.blur(), true")
			tb.screenshot("web-" + tool + "-" + c.name)
		}
	}
}
