package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// limit is the timeout of each step, for a busy machine.
const limit = 4 * time.Minute

// A tab shows a page in the headless Chromium. It shares no storage, cache or connection with
// other tabs. Every error that the page logs or throws, and every violation of its content
// security policy, fails the test when it ends, unless it was allowed.
type tab struct {
	t   testing.TB
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	allowed    []string
}

// open opens a tab, which ends with the test, and loads the page.
func open(t testing.TB, url string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(startBrowser(t), chromedp.WithNewBrowserContext())
	tb := &tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("closing the tab: %v", err)
		}
		cancel()
		for _, c := range tb.unexpected() {
			t.Errorf("the page complains: %s", c)
		}
	})
	if err := chromedp.Listen(ctx, tb.listen); err != nil {
		t.Fatal(err)
	}
	tb.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error { // as if it were the only window
		_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return err
	}), chromedp.Navigate(url))
	return tb
}

// listen is called in the order of the events.
func (tb *tab) listen(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if !slices.Contains([]string{"error", "assert", "warning"}, string(e.Type)) {
			return
		}
		parts := []string{string(e.Type)}
		for _, a := range e.Args {
			parts = append(parts, strings.TrimSpace(a.Description+" "+string(a.Value)))
		}
		tb.complain(strings.Join(parts, " "))
	case *runtime.EventExceptionThrown:
		tb.complain("exception: " + thrown(e.ExceptionDetails))
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			tb.complain(fmt.Sprintf("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	}
}

func thrown(d *runtime.ExceptionDetails) string {
	if d.Exception == nil {
		return d.Text
	}
	return d.Text + " " + d.Exception.Description + string(d.Exception.Value)
}

func (tb *tab) complain(what string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.complaints = append(tb.complaints, what)
}

// allow expects errors with this text, such as the browser's own about a fetch that is
// answered with 400.
func (tb *tab) allow(text string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.allowed = append(tb.allowed, text)
}

func (tb *tab) unexpected() (all []string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	for _, c := range tb.complaints {
		if !slices.ContainsFunc(tb.allowed, func(a string) bool { return strings.Contains(c, a) }) {
			all = append(all, c)
		}
	}
	return all
}

// do runs actions of chromedp, and fails the test if one fails.
func (tb *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	tb.t.Helper()
	ctx, cancel := context.WithTimeout(tb.ctx, limit)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		tb.t.Fatalf("%v; the page complains: %q", err, tb.unexpected())
	}
}

// get runs an action that returns a value.
func get[T any](tb *tab, action chromedp.Action[T]) T {
	tb.t.Helper()
	ctx, cancel := context.WithTimeout(tb.ctx, limit)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		tb.t.Fatalf("%v; the page complains: %q", err, tb.unexpected())
	}
	return value
}

// eval returns the value of an expression in the page. It awaits a promise.
func eval[T any](tb *tab, expression string) T {
	tb.t.Helper()
	return get(tb, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// wait waits until the expression is true in the page.
func (tb *tab) wait(expression string) {
	tb.t.Helper()
	ctx, cancel := context.WithTimeout(tb.ctx, limit)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool]("Boolean("+expression+")", chromedp.WithPollingTimeout(limit), chromedp.WithPollingInterval(20*time.Millisecond))); err != nil {
		body, _ := chromedp.Run(tb.ctx, chromedp.Evaluate[string]("document.body.innerText"))
		tb.t.Fatalf("waiting for %s: %v; the page complains: %q; it says:\n%s", expression, err, tb.unexpected(), body)
	}
}

// text returns the visible text of the first element that the selector finds.
func (tb *tab) text(selector string) string {
	tb.t.Helper()
	return get(tb, chromedp.Text(chromedp.CSS(selector)))
}

// click clicks on the first element that the selector finds.
func (tb *tab) click(selector string) {
	tb.t.Helper()
	// At once: a page that scrolls smoothly still moves while chromedp clicks.
	eval[bool](tb, fmt.Sprintf(`(document.querySelector(%q).scrollIntoView({ behavior: "instant", block: "center" }), true)`, selector))
	tb.do(chromedp.Click(chromedp.CSS(selector)))
}

// fill replaces the text of a field by typing.
func (tb *tab) fill(selector, text string) {
	tb.t.Helper()
	eval[bool](tb, fmt.Sprintf(`(() => {
		const field = document.querySelector(%q), text = %q;
		field.focus();
		field.select();
		return document.execCommand(text ? "insertText" : "delete", false, text);
	})()`, selector, text))
}

// press presses keys, which package kb of chromedp names, in the focused element.
func (tb *tab) press(keys string) {
	tb.t.Helper()
	tb.do(chromedp.KeyEvent(keys))
}

// screenshot writes the whole page into a file of the folder SNOWKEY_SCREENSHOTS, if it is
// set.
func (tb *tab) screenshot(name string) {
	tb.t.Helper()
	dir := os.Getenv("SNOWKEY_SCREENSHOTS")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), get(tb, chromedp.FullScreenshot(100)), 0o644); err != nil {
		tb.t.Error(err)
	}
}

// A tab reports the errors of its page.
func TestComplaints(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self' 'nonce-n'; connect-src 'self'")
		fmt.Fprint(w, `<!doctype html><html lang=en><title>t</title><link rel=icon href=data:,><p id=p>hello</p>
<script nonce=n>console.error("an error of mine"); fetch("/missing").then(() => { document.title = "done"; throw new Error("it was thrown") });</script>
<script>document.title = "inline"</script>`)
	}))
	defer server.Close()
	tb := open(t, server.URL)
	tb.wait("document.title === 'done'")
	if text := tb.text("#p"); text != "hello" {
		t.Errorf("%q", text)
	}
	for _, want := range []string{"an error of mine", "status of 404", "it was thrown", "Content Security Policy"} {
		for start := time.Now(); !strings.Contains(strings.Join(tb.unexpected(), "\n"), want); time.Sleep(20 * time.Millisecond) {
			if time.Since(start) > limit {
				t.Fatalf("nothing of %q in %q", want, tb.unexpected())
			}
		}
		tb.allow(want)
	}
	tb.allow("icon") // the policy of this page forbids it
}

func TestFindingTheAddress(t *testing.T) {
	t.Parallel()
	o := &output{found: make(chan string, 1)}
	for _, text := range []string{"starting\n", "listening on http://127.0.0.1:8", "080/ now", "\nhttp://127.0.0.1:9/\n"} {
		if _, err := o.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if url := <-o.found; url != "http://127.0.0.1:8080" || len(o.found) != 0 {
		t.Error(url)
	}
}
