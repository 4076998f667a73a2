package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// serve starts the page on a free port.
func serve(t testing.TB) string {
	t.Helper()
	return start(t, "cmd/snowkey", "serve", "--addr", "127.0.0.1:0", "--rate", "0") // tests ask faster than people
}

// page opens the page in a state, and waits until it is loaded.
func page(t testing.TB, url, state string) *tab {
	t.Helper()
	tb := open(t, url+"/"+state)
	tb.wait("document.documentElement.dataset.ready")
	return tb
}

// follow opens a link to the page, and waits until it is loaded.
func follow(t testing.TB, link string) *tab {
	t.Helper()
	tb := open(t, link)
	tb.wait("document.documentElement.dataset.ready")
	return tb
}

// hear records each text of an element from now on, however short it lasts: see said.
func (tb *tab) hear(selector string) {
	tb.t.Helper()
	eval[bool](tb, fmt.Sprintf(`(() => {
		const node = document.querySelector(%q);
		window.heard ??= [];
		new MutationObserver(() => heard.push(node.textContent)).observe(node, { childList: true, characterData: true, subtree: true });
		return true;
	})()`, selector))
}

// said waits until an element that is recorded has had a text with this beginning.
func (tb *tab) said(text string) {
	tb.t.Helper()
	tb.wait(fmt.Sprintf("window.heard.some(t => t.startsWith(%q))", text))
}

// show shows all tools at once, so that a test can type into their fields.
func (tb *tab) show() {
	tb.t.Helper()
	eval[bool](tb, "document.querySelectorAll('main > section').forEach(s => { s.hidden = false; }), true")
}

// settled calls a function, and waits until the page has updated. The page removes its mark
// at each change, so the mark is of the last one.
func (tb *tab) settled(act func()) {
	tb.t.Helper()
	eval[bool](tb, "delete document.documentElement.dataset.settled")
	act()
	tb.wait("document.documentElement.dataset.settled")
}

// write fills fields of the page, and waits until it has updated.
func (tb *tab) write(pairs ...string) {
	tb.t.Helper()
	var differ []string // if none does, nothing would happen
	for ; len(pairs) > 0; pairs = pairs[2:] {
		if eval[string](tb, fmt.Sprintf("document.querySelector(%q).value", pairs[0])) != pairs[1] {
			differ = append(differ, pairs[:2]...)
		}
	}
	if differ == nil {
		return
	}
	tb.settled(func() {
		for ; len(differ) > 0; differ = differ[2:] {
			tb.fill(differ[0], differ[1])
		}
	})
}

func (tb *tab) scheme(dark bool) {
	tb.t.Helper()
	value := "light"
	if dark {
		value = "dark"
	}
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}, {Name: "prefers-reduced-motion", Value: "reduce"}}
	tb.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	}))
}

// has fails the test unless each text is visible within the selector.
func (tb *tab) has(selector string, texts ...string) {
	tb.t.Helper()
	seen := strings.Join(strings.Fields(tb.text(selector)), " ")
	for _, want := range texts {
		if !strings.Contains(seen, want) {
			tb.t.Errorf("%s: there is no %q in %q", selector, want, seen)
		}
	}
}
