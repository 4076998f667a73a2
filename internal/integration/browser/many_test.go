package browser

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/seed-299c1d6b/snowkey/core"
)

// paste replaces the text of the field of IDs with what an expression returns, and waits until it
// is decoded.
func (tb *tab) paste(expression string) {
	tb.t.Helper()
	tb.settled(func() {
		eval[bool](tb, "document.getElementById('ids').value = "+expression+", true")
		tb.input("#ids")
	})
}

// list is an expression for n IDs of Discord, one a second from 2026-01-01, by four workers.
func list(n int) string {
	return fmt.Sprintf("Array.from({ length: %d }, (_, i) => (BigInt(Date.UTC(2026, 0, 1) - 1420070400000 + i * 1000) << 22n) | BigInt(i %% 4) << 17n | 5n).join('\\n')", n)
}

// count counts the page's tasks from now on, in turns, and notes the longest and what the bar says.
func (tb *tab) count() {
	tb.t.Helper()
	eval[bool](tb, `(() => {
		window.turns = 0;
		window.bars = new Set();
		const channel = new MessageChannel();
		channel.port1.onmessage = () => { turns++; channel.port2.postMessage(0); };
		channel.port2.postMessage(0);
		const bar = document.querySelector("#decode-progress");
		new MutationObserver(() => { if (bar.checkVisibility()) bars.add(bar.textContent.trim().split(" ")[0]); }).observe(bar, { childList: true, characterData: true, subtree: true, attributes: true });
		const field = document.getElementById("ids"), begin = field.ownerDocument.defaultView.performance.now.bind(performance);
		window.longest = 0;
		new PerformanceObserver((all) => { for (const e of all.getEntries()) longest = Math.max(longest, e.duration); }).observe({ type: "longtask" });
		return begin() > 0;
	})()`)
}

// A hundred thousand IDs: the page answers while it works, drops the work if the text changes,
// and shows no more rows than one can see.
func TestMany(t *testing.T) {
	t.Parallel()
	const n = 100_000
	tb := page(t, serve(t), "")
	eval[bool](tb, today)

	// The work is in slices: other tasks of the page run between them, and a bar shows how far it is.
	tb.count()
	before := eval[int](tb, "turns")
	tb.paste(list(n))
	turns := eval[int](tb, "turns") - before
	t.Logf("%d tasks of the page ran meanwhile; the longest task took %d ms", turns, eval[int](tb, "Math.round(longest)"))
	if turns < 20 {
		t.Errorf("only %d tasks ran while the page worked", turns)
	}
	if got := eval[string](tb, "[...bars].join()"); got != "Reading,Decoding,Counting" {
		t.Errorf("the bar showed %q", got)
	}
	tb.has("#decode-result", "100,000 IDs", "Discord auto-detected", "First 2026-01-01 00:00:00", "Last 2026-01-02 03:46:39", "Time between 1d 3h 46m 39s", "Unsafe in JavaScript all",
		"Over time", "By worker · process 4 different", "25,000", "The list is too long for a link.")
	if got := eval[string](tb, "location.hash"); len(got) > 100 {
		t.Errorf("an address of %d characters", len(got))
	}
	if got := eval[int](tb, "[...document.querySelectorAll('.column')].length"); got != 48 {
		t.Errorf("%d bars", got)
	}

	// Few rows are in the document, wherever one scrolls, and the scroll bar is that of all.
	rows := func() int { return eval[int](tb, "document.querySelectorAll('tr[data-i]').length") }
	const last = "document.querySelector('tr[data-i=\"99999\"]')"
	if got := rows(); got < 5 || got > 60 {
		t.Errorf("%d rows", got)
	}
	eval[bool](tb, "document.querySelector('.scroll').scrollTop = 1e9, true")
	tb.wait(last)
	if got := rows(); got < 5 || got > 60 {
		t.Errorf("%d rows at the end", got)
	}
	if got := eval[string](tb, "document.querySelector('.many').getAttribute('aria-rowcount') + ' ' + "+last+".getAttribute('aria-rowindex')"); got != "100001 100001" {
		t.Errorf("a screen reader counts %s", got)
	}
	if box, row := eval[float64](tb, "document.querySelector('.scroll').getBoundingClientRect().bottom"), eval[float64](tb, last+".getBoundingClientRect().bottom"); row > box+2 || row < box-40 {
		t.Errorf("the last row ends at %v, the box at %v", row, box)
	}

	// Work that is no longer wanted is dropped: the answer is that of the last text.
	tb.settled(func() {
		eval[bool](tb, "document.getElementById('ids').value = "+list(n)+".replaceAll('\\n', ' \\n'), true")
		tb.input("#ids")
		tb.wait("document.getElementById('decode-progress').checkVisibility()")
		eval[bool](tb, "document.getElementById('ids').value = '175928847299117063', true")
		tb.input("#ids")
	})
	tb.has("#decode-result h3", "175928847299117063")
	if eval[bool](tb, "document.getElementById('decode-progress').checkVisibility() || document.querySelector('.many') !== null") {
		t.Error("something of the dropped work is shown")
	}
}

// A line of megabytes is read in slices too.
func TestLongLine(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	eval[bool](tb, today)
	tb.count()
	before := eval[int](tb, "turns")
	tb.paste(list(250_000) + ".replaceAll('\\n', ',')")
	turns := eval[int](tb, "turns") - before
	t.Logf("%.1f MB: %d tasks of the page ran meanwhile; the longest task took %d ms", eval[float64](tb, "document.getElementById('ids').value.length / 1e6"), turns, eval[int](tb, "Math.round(longest)"))
	if turns < 20 {
		t.Errorf("only %d tasks ran while the page worked", turns)
	}
	if got := eval[string](tb, "[...bars].join()"); got != "Reading,Decoding,Counting" {
		t.Errorf("the bar showed %q", got)
	}
	tb.has("#decode-result", "250,000 IDs", "Discord auto-detected")

	// Parts are split as the whole is, at all lengths of a part.
	if differ := eval[[]string](tb, `import("./idtext.js").then(({ parts, split }) => {
		const texts = [
			'[{"id":1},{"id":"2"}, { "id": 3 }] {"id":4}', '{"id": "175928847299117063", "name": "{a}, b"}', "1,2;3|4  5\t6(7)\r\n8, '9' ,,", " {a} 1:2", "{ 1 2 3 }", "12345678901234567890", ",,,,,,", "",
		];
		return texts.flatMap((text) => [1, 2, 3, 5, 8, 13].filter((most) => JSON.stringify(parts(text, most).flatMap(split)) !== JSON.stringify(split(text))).map((most) => most + " " + text));
	})`); len(differ) > 0 {
		t.Errorf("parts differ: %q", differ)
	}
}

// The rows of a table are reached by keyboard, and show their ID.
func TestRows(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	eval[bool](tb, today)
	tb.paste(list(1001))
	tb.has("#decode-result", "1,001 IDs")
	tb.click("tr[data-i=\"2\"] button")
	tb.has("#picked", "2026-01-01 00:00:02.000 UTC", "Worker 2", "Increment 5")
	for _, c := range []struct{ key, row string }{
		{kb.ArrowDown, "3"}, {kb.ArrowUp, "2"}, {kb.End, "1000"}, {kb.ArrowDown, "1000"}, {kb.Home, "0"}, {kb.PageDown, ""}, {kb.ArrowUp, ""},
	} {
		tb.press(c.key)
		if got := eval[string](tb, "document.activeElement.closest('tr')?.dataset.i + document.activeElement.ariaPressed"); c.row != "" && got != c.row+"true" {
			t.Errorf("%q leads to %s, want %s", c.key, got, c.row)
		}
		if eval[string](tb, "document.activeElement.textContent") != eval[string](tb, "document.querySelector('#picked h3').textContent") {
			t.Error("the ID below is another one")
		}
		if !eval[bool](tb, "(([a, b]) => a.top >= b.top && a.bottom <= b.bottom + 1)([document.activeElement, document.querySelector('.scroll')].map(e => e.getBoundingClientRect()))") {
			t.Errorf("after %q the row is out of sight", c.key)
		}
	}
	if stops := eval[int](tb, "document.querySelectorAll('tr[data-i] button[tabindex=\"0\"]').length"); stops != 1 {
		t.Errorf("the rows are %d stops of the Tab key", stops)
	}
}

// download clicks a button, and returns the file.
func (tb *tab) download(button, name string) string {
	tb.t.Helper()
	dir := tb.t.TempDir()
	tb.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := chromedp.Call(ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, BrowserContextID: chromedp.FromContext(tb.ctx).BrowserContextID})
		return err
	}))
	tb.hear("#live")
	tb.click(button)
	tb.said("Downloaded")
	path := filepath.Join(dir, name)
	for ctx := tb.t.Context(); ctx.Err() == nil; {
		if text, err := os.ReadFile(path); err == nil {
			return string(text)
		}
		eval[bool](tb, "new Promise(done => setTimeout(done, 50, true))")
	}
	return ""
}

// The files contain every ID with the API's names.
func TestDownload(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	eval[bool](tb, today)
	tb.paste(list(1001))
	text := tb.download("#download-csv", "ids.csv")
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(records) != 1002 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	if got, want := strings.Join(records[0], ","), "id,input,time,unix_ms,rollback,datacenter,worker,worker_id,sequence"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var body struct {
		IDs []struct {
			ID, Input, Time              string
			UnixMS                       int64 `json:"unix_ms"`
			Datacenter, Worker, Sequence int64
		}
	}
	if err := json.Unmarshal([]byte(tb.download("#download-json", "ids.json")), &body); err != nil || len(body.IDs) != 1001 {
		t.Fatalf("%d ids, %v", len(body.IDs), err)
	}
	for i, got := range body.IDs {
		at := ptime(t, "2026-01-01T00:00:00Z").UnixMilli() + int64(i)*1000
		id := (at-core.Discord().Epoch.UnixMilli())<<22 | int64(i%4)<<17 | 5
		if got.ID != fmt.Sprint(id) || got.UnixMS != at || got.Datacenter != int64(i%4) || got.Worker != 0 || got.Sequence != 5 {
			t.Fatalf("%d: %+v", i, got)
		}
		if row := records[i+1]; row[0] != got.ID || row[2] != got.Time || row[3] != fmt.Sprint(at) || row[8] != "5" {
			t.Fatalf("%d: %q", i, row)
		}
	}
	// A text that is read may hold what CSV and JSON escape.
	tb.write("#ids", "1 2\n{\"id\":\"3\", \"note\":\"a,b\"}")
	tb.choose("#preset", "twitter")
	records, err = csv.NewReader(strings.NewReader(tb.download("#download-csv", "ids.csv"))).ReadAll()
	if err != nil || len(records) != 4 || records[3][0] != "3" {
		t.Errorf("%q, %v", records, err)
	}
}
