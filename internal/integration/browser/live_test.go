package browser

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A screen reader does not repeat what has not changed: typing in one tool leaves the answers
// of the others as they are.
func TestAnnouncedOnce(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#ids=5&from=2026-01-01&to=2026-02-01&a=1&b=2")
	eval[bool](tb, `(() => {
		window.changes = {};
		for (const id of ["decode-result", "where-result", "difference-result"]) {
			new MutationObserver((all) => { changes[id] = all.length; }).observe(document.getElementById(id), { childList: true, subtree: true });
		}
		return true;
	})()`)
	for _, c := range []struct{ field, text, changed string }{
		{"#ids", "7", "decode-result"}, {"#to", "2026-03-01", "where-result"}, {"#a", "3", "difference-result"}, {"#worker", "9", ""},
	} {
		t.Run(c.field, func(t *testing.T) {
			eval[bool](tb, "changes = {}, true")
			tb.write(c.field, c.text)
			if got := eval[string](tb, "Object.keys(changes).join()"); got != c.changed {
				t.Errorf("%s changes %q, want %q", c.field, got, c.changed)
			}
		})
	}
	// The layout affects all tools.
	eval[bool](tb, "changes = {}, true")
	tb.settled(func() { tb.do(chromedp.SetValue(chromedp.CSS("#preset"), "discord")); tb.change("#preset") })
	if got := eval[int](tb, "Object.keys(changes).length"); got != 3 {
		t.Errorf("another layout changes %d of 3 answers", got)
	}
}

// The age of an id is updated while it is shown.
func TestRelativeTimeGoesOn(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#preset=discord&ids=175928847299117063")
	const said = "document.querySelector('#decode-result .relative').textContent"
	if got := eval[string](tb, said); got == "in 3 months" {
		t.Fatal(got)
	}
	// The id is of 2016-04-30: let the clock show January of that year.
	eval[bool](tb, "Date.now = () => Date.UTC(2016, 0, 20), true")
	tb.wait(said + " === 'in 3 months'")
}

// Times are shown in UTC and in the browser's own zone, with what distinguishes the two
// passes of a repeated hour.
func TestLocalTime(t *testing.T) {
	t.Parallel()
	url := serve(t)
	for zone, want := range map[string][2]string{
		"Europe/Berlin":   {"26 Oct 2025, 02:30:00.000 CEST", "26 Oct 2025, 02:30:00.000 CET"},
		"America/Caracas": {"25 Oct 2025, 20:30:00.000 GMT-4", "25 Oct 2025, 21:30:00.000 GMT-4"},
		"Pacific/Chatham": {"26 Oct 2025, 14:15:00.000 GMT+13:45", "26 Oct 2025, 15:15:00.000 GMT+13:45"},
	} {
		tb := open(t, "about:blank")
		tb.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := chromedp.Call(ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone})
			return err
		}), chromedp.Navigate(url+"/#from=2025-10-26T00:30:00Z&to=2025-10-26T01:30:00Z"))
		tb.wait("document.documentElement.dataset.ready")
		tb.has("#where-result", "From 2025-10-26 00:30:00.000 UTC "+want[0], "Before 2025-10-26 01:30:00.000 UTC "+want[1])
	}
}

// Without JavaScript the page hides its tools, says why, and names an alternative.
func TestWithoutJavaScript(t *testing.T) {
	t.Parallel()
	url := serve(t)
	tb := open(t, "about:blank")
	tb.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}), chromedp.Navigate(url+"/"))
	seen := eval[string](tb, "document.querySelector('noscript').innerText + [...document.querySelectorAll('main, footer, #share')].map(e => e.checkVisibility())")
	if want := "requires JavaScript. Without it, use the API: see a decoded ID and its description.false,false,false"; len(seen) < len(want) || seen[len(seen)-len(want):] != want {
		t.Errorf("%q", seen)
	}
	for _, link := range eval[[]string](tb, "[...document.querySelectorAll('noscript a')].map(a => a.href)") {
		answer, err := http.Get(link)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", link, answer.Status)
		}
	}
}

// On a small screen the tools come first, and the details of a layout are a tap away.
func TestSmallScreen(t *testing.T) {
	t.Parallel()
	url := serve(t)
	for width, open := range map[int64]bool{390: false, 1280: true} {
		tb := page(t, url, "")
		tb.do(chromedp.EmulateViewport(width, 844), chromedp.Reload())
		tb.wait("document.documentElement.dataset.ready")
		if got := eval[bool](tb, "document.querySelector('#capacity dl').checkVisibility({ contentVisibilityAuto: true })"); got != open {
			t.Errorf("%d px: the capacity is shown: %v", width, got)
		}
		if top := eval[float64](tb, "document.getElementById('ids').getBoundingClientRect().top"); top > 844 {
			t.Errorf("%d px: the field of ids begins at %v", width, top)
		}
		if !open {
			tb.click("#more summary")
			tb.has("#capacity", "IDs per second and worker", "4,096,000", "Ends")
		}
		// An invalid layout is reported in any case.
		tb.settled(func() {
			eval[bool](tb, "document.getElementById('time_bits').value = '60', true")
			tb.input("#time_bits")
		})
		tb.has("#figures", "not valid yet")
		tb.write("#ids", fmt.Sprint(1), "#a", "1", "#b", "2", "#from", "2026-01-01")
		for _, id := range []string{"decode-result", "difference-result", "where-result"} {
			tb.has("#"+id, "not valid yet")
		}
	}
}
