package browser

import (
	"fmt"
	"strings"
	"testing"
)

// The page reports a server that is slow, silent, or answers nonsense. A second click sends no
// second request, and no old ids stay beside the error.
func TestMakeTrouble(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#datacenter=1&worker=3")
	tb.click("#generate-button")
	tb.wait("document.getElementById('generated')")
	tb.settled(func() { tb.click("#by-server") })
	eval[bool](tb, `(() => {
		window.asked = 0;
		window.server = window.fetch;
		window.fetch = (...question) => { asked++; return new Promise((resolve, reject) => Object.assign(window, { question, resolve, reject })); };
		return true;
	})()`)
	tb.click("#generate-button")
	tb.wait("window.asked === 1")
	for range 3 { // the button keeps the focus, and says why it does nothing
		tb.click("#generate-button")
	}
	if got := eval[string](tb, "[asked, document.getElementById('generate-button').ariaDisabled, document.activeElement.textContent, document.getElementById('generated')].join()"); got != "1,true,Waiting for the server…," {
		t.Errorf("while it waits: %s", got)
	}
	eval[bool](tb, "server(...question).then(resolve), true")
	tb.wait("document.getElementById('generated')?.value")
	if got := eval[string](tb, "document.getElementById('generate-button').textContent + document.getElementById('generate-button').ariaDisabled"); got != "Generatefalse" {
		t.Errorf("after it has waited: %s", got)
	}

	n := 1
	for answer, want := range map[string]string{
		"reject(new TypeError('Failed to fetch'))":                            "The server does not respond",
		"reject(new DOMException('timed out', 'TimeoutError'))":               "did not respond within 15 seconds",
		"resolve(new Response('<h1>Bad gateway</h1>', { status: 502 }))":      "not in JSON",
		"resolve(new Response('{}', { status: 500 }))":                        "not in JSON",
		"server('api/ids?worker=').then(resolve)":                             "Worker: must be a whole number",
		"server('api/ids').then(resolve)":                                     "Worker: must be given",
		"server('api/ids?worker=7&time_bits=20&worker_bits=5').then(resolve)": "Time_bits 20: are exhausted",
	} {
		t.Run(want, func(t *testing.T) {
			n++
			tb.allow("status of 400") // the browser logs what the server refuses
			tb.click("#generate-button")
			tb.wait(fmt.Sprintf("window.asked === %d", n))
			eval[bool](tb, answer+", true")
			tb.wait("document.getElementById('generate-error').textContent")
			tb.has("#generate-error", want)
			if eval[bool](tb, "document.getElementById('generated') !== null") {
				t.Errorf("%s: the ids before it are still there", answer)
			}
		})
	}
	if !eval[bool](tb, "question[1].signal instanceof AbortSignal") {
		t.Error("it would wait for ever")
	}

	// An answer for another layout is not shown.
	tb.click("#generate-button")
	tb.wait(fmt.Sprintf("window.asked === %d", n+1))
	tb.settled(func() {
		eval[bool](tb, "document.getElementById('preset').value = 'discord', true")
		tb.change("#preset")
	})
	eval[bool](tb, "server(...question).then(resolve), true")
	tb.wait("document.getElementById('generate-error').textContent.includes('layout changed')")

	// When the layout changes, its ids disappear.
	tb.settled(func() { tb.click("#by-page") })
	tb.click("#generate-button")
	tb.wait("document.getElementById('generated')")
	tb.settled(func() {
		eval[bool](tb, "document.getElementById('preset').value = 'twitter', true")
		tb.change("#preset")
	})
	if eval[bool](tb, "document.getElementById('generated') !== null") {
		t.Error("ids of another layout stay")
	}
}

// A text that is too long is rejected with the reason before it slows the browser, and is not
// put into the address.
func TestTooLong(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	prevented := eval[bool](tb, `(() => {
		const data = new DataTransfer();
		data.setData("text/plain", "1996573624012345677\n".repeat(50_000));
		const paste = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
		document.getElementById("ids").dispatchEvent(paste);
		return paste.defaultPrevented;
	})()`)
	if !prevented {
		t.Error("the browser is given a megabyte")
	}
	tb.has("#ids-error", "1,000,000 characters", "the limit is 65,536")
	for selector, text := range map[string]string{"#ids": strings.Repeat("9", 1<<16+1), "#a": strings.Repeat("8", 1<<16+1)} {
		tb.settled(func() {
			eval[bool](tb, fmt.Sprintf("document.querySelector(%q).value = %q, true", selector, text))
			tb.input(selector)
		})
	}
	tb.has("#ids-error", "65,537 characters")
	tb.has("#a-error", "This is above the largest ID")
	if n := eval[int](tb, "location.href.length"); n > 100 {
		t.Errorf("an address of %d characters", n)
	}
	// The longest text that is accepted becomes an address that can be opened.
	most := strings.TrimSpace(strings.Repeat("\""+some+"\",\n", 1000))
	tb.settled(func() {
		eval[bool](tb, fmt.Sprintf("document.getElementById('ids').value = %q, true", most))
		tb.input("#ids")
	})
	other := follow(t, eval[string](tb, "location.href"))
	if n := eval[int](other, "document.querySelectorAll('table.many tbody tr').length"); n != 1000 {
		t.Errorf("%d of 1000 ids arrive", n)
	}
}

// Copying reports the result, and falls back to the old API if the new one is not allowed.
func TestCopyRefused(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#ids="+some)
	eval[bool](tb, `(() => {
		Object.defineProperty(navigator, "clipboard", { value: { writeText: () => Promise.reject(new DOMException("no", "NotAllowedError")) } });
		window.copied = [];
		document.execCommand = () => { copied.push(document.activeElement.value); return copied.length === 1; };
		return true;
	})()`)
	const button = "#decode-result .copy"
	tb.hear(button)
	tb.hear("#live")
	tb.click(button)
	tb.said("Copied the ID " + some)
	if got := eval[string](tb, "copied.join() + ' ' + heard[0] + ' ' + document.activeElement.ariaLabel"); got != some+" Copied Copy the ID "+some {
		t.Errorf("%q", got)
	}
	tb.click(button)
	tb.said("Failed")
	tb.said("Could not copy the ID")
	tb.wait("document.querySelector('" + button + "').textContent === 'Copy'")
}
