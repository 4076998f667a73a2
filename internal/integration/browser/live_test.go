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
	tb.show()
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
	tb.choose("#preset", "discord")
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
		}), chromedp.Navigate(url+"/#tab=range&from=2025-10-26T00:30:00Z&to=2025-10-26T01:30:00Z"))
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
	seen := eval[string](tb, "document.querySelector('noscript').innerText + [...document.querySelectorAll('main, footer, nav, .links')].map(e => e.checkVisibility())")
	if want := "requires JavaScript. Without it, use the API: see a decoded ID and its description.false,false,false,false"; len(seen) < len(want) || seen[len(seen)-len(want):] != want {
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

// The field is on the first screen, also of a phone, and nothing is beside it.
func TestSmallScreen(t *testing.T) {
	t.Parallel()
	url := serve(t)
	for _, width := range []int64{390, 1280} {
		tb := page(t, url, "")
		tb.do(chromedp.EmulateViewport(width, 844), chromedp.Reload())
		tb.wait("document.documentElement.dataset.ready")
		tb.click("#example")
		tb.wait("document.querySelector('#decode-result time')")
		eval[bool](tb, "scrollTo(0, 0), true")
		for _, id := range []string{"ids", "preset"} {
			if bottom := eval[float64](tb, "document.getElementById('"+id+"').getBoundingClientRect().bottom"); bottom > 500 {
				t.Errorf("%d px: #%s ends at %v", width, id, bottom)
			}
		}
		if bottom := eval[float64](tb, "document.querySelector('#decode-result time').getBoundingClientRect().bottom"); bottom > 844 {
			t.Errorf("%d px: the time ends at %v, below the first screen", width, bottom)
		}
		if over := eval[float64](tb, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
			t.Errorf("%d px: %v too wide", width, over)
		}
	}
}

// An invalid layout is reported by each tool that needs one.
func TestInvalidLayout(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#tab=layout")
	tb.show()
	tb.write("#time_bits", "60")
	tb.has("#figures", "not valid yet")
	tb.write("#ids", fmt.Sprint(1), "#a", "1", "#b", "2", "#from", "2026-01-01")
	for _, id := range []string{"decode-result", "difference-result", "where-result"} {
		tb.has("#"+id, "not valid yet")
	}
	if eval[bool](tb, "document.getElementById('capacity').checkVisibility()") {
		t.Error("there is the capacity of an earlier layout")
	}
}
