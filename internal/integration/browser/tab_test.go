package browser

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
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

// serve starts the page on a free port.
func serve(t testing.TB) string {
	t.Helper()
	return start(t, "cmd/snowkey", "serve", "--addr", "127.0.0.1:0")
}

// open opens a tab, which ends with the test, and loads the page after the actions.
func open(t testing.TB, url string, before ...chromedp.Action[chromedp.Void]) *tab {
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
	check(t, chromedp.Listen(ctx, tb.listen))
	tb.do(call(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})) // as if it were the only window
	tb.scheme(false)
	tb.do(before...)
	tb.do(chromedp.Navigate(url))
	return tb
}

// page opens the page in a state, and waits until it is loaded.
func page(t testing.TB, url, state string) *tab {
	t.Helper()
	tb := open(t, url+"/"+state)
	tb.wait("document.documentElement.dataset.ready")
	return tb
}

// listen is called in the order of the events.
func (tb *tab) listen(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if slices.Contains([]string{"error", "assert", "warning"}, string(e.Type)) {
			what := string(e.Type)
			for _, a := range e.Args {
				what += " " + strings.TrimSpace(a.Description+" "+string(a.Value))
			}
			tb.complain(what)
		}
	case *runtime.EventExceptionThrown:
		what := "exception: " + e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			what += " " + thrown.Description + string(thrown.Value)
		}
		tb.complain(what)
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			tb.complain(fmt.Sprintf("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	}
}

func (tb *tab) complain(what string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.complaints = append(tb.complaints, what)
}

// allow expects errors with this text, such as the browser's own about a fetch that is answered
// with 400.
func (tb *tab) allow(text string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.allowed = append(tb.allowed, text)
}

func (tb *tab) unexpected() []string {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(tb.complaints), func(c string) bool {
		return slices.ContainsFunc(tb.allowed, func(a string) bool { return strings.Contains(c, a) })
	})
}

// call is an action that calls a method of the browser.
func call[P, R any](method cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, method, params)
		return err
	})
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

// run runs statements in the page, each of which may have arguments as in fmt.Sprintf.
func (tb *tab) run(statements string, args ...any) {
	tb.t.Helper()
	eval[bool](tb, "(() => { "+fmt.Sprintf(statements, args...)+"; return true; })()")
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

// is fails the test unless an expression has a value.
func (tb *tab) is(expression, want string) {
	tb.t.Helper()
	if got := eval[string](tb, "Promise.resolve("+expression+").then(String)"); got != want {
		tb.t.Errorf("%s is %q, want %q", expression, got, want)
	}
}

// text returns the visible text of the first element that the selector finds.
func (tb *tab) text(selector string) string {
	tb.t.Helper()
	return get(tb, chromedp.Text(chromedp.CSS(selector)))
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

// click clicks on the first element that the selector finds.
func (tb *tab) click(selector string) {
	tb.t.Helper()
	tb.run(`document.querySelector(%q).scrollIntoView({ block: "center" })`, selector)
	tb.do(chromedp.Click(chromedp.CSS(selector)))
}

// follow follows the link to a tool.
func (tb *tab) follow(tool string) {
	tb.t.Helper()
	tb.click("#to-" + tool)
	tb.wait("document.getElementById('tab-" + tool + "').checkVisibility()")
}

// visit follows a link to another state of the page, and waits until it is loaded.
func (tb *tab) visit(state, there string) {
	tb.t.Helper()
	tb.run("location.hash = %q", state)
	tb.wait(there)
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

// input notifies the page that a field has changed, if the browser does not.
func (tb *tab) input(selector string) {
	tb.t.Helper()
	for _, event := range []string{"input", "change"} {
		tb.run("document.querySelector(%q).dispatchEvent(new Event(%q, { bubbles: true }))", selector, event)
	}
}

// press presses keys, which package kb of chromedp names, in the focused element.
func (tb *tab) press(keys string) {
	tb.t.Helper()
	tb.do(chromedp.KeyEvent(keys))
}

// settled calls a function, and waits until the page has updated. The page removes its mark at
// each change, so the mark is of the last one.
func (tb *tab) settled(act func()) {
	tb.t.Helper()
	tb.run("delete document.documentElement.dataset.settled")
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

// set sets a field to the value of an expression at once, and waits until the page has updated.
func (tb *tab) set(selector, expression string) {
	tb.t.Helper()
	tb.settled(func() {
		tb.run("document.querySelector(%q).value = %s", selector, expression)
		tb.input(selector)
	})
}

// choose chooses an option of a list.
func (tb *tab) choose(selector, value string) {
	tb.t.Helper()
	tb.set(selector, fmt.Sprintf("%q", value))
}

// show shows all tools at once, so that a test can type into their fields.
func (tb *tab) show() {
	tb.t.Helper()
	tb.run("document.querySelectorAll('main > section').forEach(s => { s.hidden = false; })")
}

// scheme chooses light or dark colours. The page never scrolls smoothly: it would still move while
// chromedp clicks.
func (tb *tab) scheme(dark bool) {
	tb.t.Helper()
	value := map[bool]string{false: "light", true: "dark"}[dark]
	tb.do(call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	}))
}
