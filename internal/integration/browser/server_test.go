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
	tb := page(t, serve(t), "#tab=generate&datacenter=1&worker=3")
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
	tb.choose("#preset", "discord")
	eval[bool](tb, "server(...question).then(resolve), true")
	tb.wait("document.getElementById('generate-error').textContent.includes('layout changed')")

	// When the layout changes, its ids disappear.
	tb.settled(func() { tb.click("#by-page") })
	tb.click("#generate-button")
	tb.wait("document.getElementById('generated')")
	tb.choose("#preset", "twitter")
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
		data.setData("text/plain", "1996573624012345677\n".repeat(450_000));
		const paste = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
		document.getElementById("ids").dispatchEvent(paste);
		return paste.defaultPrevented;
	})()`)
	if !prevented {
		t.Error("the browser is given a megabyte")
	}
	tb.has("#ids-error", "9,000,000 characters", "the limit is 8,388,608")
	eval[bool](tb, "document.getElementById('ids').value = '9'.repeat((8 << 20) + 1), true")
	tb.settled(func() { tb.input("#ids") })
	tb.has("#ids-error", "8,388,609 characters")
	tb.show()
	tb.settled(func() {
		eval[bool](tb, "document.getElementById('a').value = '8'.repeat((1 << 16) + 1), true")
		tb.input("#a")
	})
	tb.has("#a-error", "This is above the largest ID")
	if n := eval[int](tb, "location.href.length"); n > 100 {
		t.Errorf("an address of %d characters", n)
	}
	// More IDs than a table can hold are refused with their number.
	eval[bool](tb, "document.getElementById('ids').value = '1 '.repeat(500_001), true")
	tb.settled(func() { tb.input("#ids") })
	tb.has("#ids-error", "These are 500,001 IDs; the limit is 500,000.")
	// The longest text that a link holds becomes an address that can be opened.
	most := strings.TrimSpace(strings.Repeat("\""+some+"\",\n", 1000))
	tb.settled(func() {
		eval[bool](tb, fmt.Sprintf("document.getElementById('ids').value = %q, true", most))
		tb.input("#ids")
	})
	other := follow(t, eval[string](tb, "location.href"))
	other.has("#decode-result", "1,000 IDs")
}

// Copying reports the result, and falls back to the old API if the new one is not allowed.
func TestCopyRefused(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#preset=twitter&ids="+some)
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
