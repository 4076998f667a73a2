package browser

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// chromium finds the browser: SNOWKEY_TEST_CHROMIUM is its path, or "none". With
// SNOWKEY_TEST_REQUIRE=1 a missing browser fails the test instead of skipping it. The same places
// are in tools/install.sh.
func chromium(t testing.TB) string {
	t.Helper()
	if testing.Short() && os.Getenv("SNOWKEY_TEST_REQUIRE") != "1" {
		t.Skip("starts a browser, and -short starts none")
	}
	switch named := os.Getenv("SNOWKEY_TEST_CHROMIUM"); named {
	case "":
	case "none":
		t.Skip("no browser: SNOWKEY_TEST_CHROMIUM is none")
	default:
		path, err := exec.LookPath(named)
		if err != nil { // a skip would hide a typing error
			t.Fatalf("SNOWKEY_TEST_CHROMIUM: %v", err)
		}
		return path
	}
	// The first takes half as much of the processor: it has no window, not even a hidden one.
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"} {
		if path, err := exec.LookPath(name); err == nil && !snap(path) {
			return path
		}
	}
	testserver.Missing(t, "no browser: no chromium-headless-shell, chromium or google-chrome was found; install one as a package of Debian, or set SNOWKEY_TEST_CHROMIUM to the path of one (a snap's sees no folder of the tests)")
	return ""
}

// snap reports whether the program, or the script that starts it, is a snap's.
func snap(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || strings.HasPrefix(real, "/snap/") || filepath.Base(real) == "snap" {
		return true
	}
	info, err := os.Stat(real)
	if err != nil || info.Size() > 1<<16 { // a program, not a script
		return err != nil
	}
	text, err := os.ReadFile(real)
	return err == nil && strings.Contains(string(text), "/snap/bin")
}

// browser is the one headless Chromium of this binary, started by the first test that needs it.
var browser struct {
	sync.Once
	ctx  context.Context
	err  error
	stop func()
}

// startBrowser returns the context for new tabs.
func startBrowser(t testing.TB) context.Context {
	t.Helper()
	path := chromium(t)
	browser.Do(func() {
		allocator, stop := chromedp.NewExecAllocator(context.Background(), slices.Concat(chromedp.DefaultExecAllocatorOptions[:], []chromedp.ExecAllocatorOption{
			chromedp.ExecPath(path),
			chromedp.NoSandbox, // root cannot have it, and the pages are our own
			chromedp.DisableGPU,
			chromedp.Flag("disable-component-update", true),
			chromedp.Flag("no-proxy-server", true),
			chromedp.UserDataDir(filepath.Join(scratch, "profile")),
			chromedp.Env("HOME="+scratch, "XDG_CONFIG_HOME="+scratch, "XDG_CACHE_HOME="+scratch),
			chromedp.WSURLReadTimeout(limit),
			chromedp.WindowSize(1280, 900),
		})...)
		ctx, cancel := chromedp.NewContext(allocator)
		browser.ctx = ctx //nolint:fatcontext // the parent of all tabs, made once
		browser.stop = func() { _ = chromedp.Cancel(ctx); cancel(); stop() }
		browser.err = chromedp.Do(ctx) // no action: it starts the browser
	})
	if browser.err != nil {
		t.Fatal(browser.err)
	}
	return browser.ctx
}

// closeBrowser ends the browser. If that fails, it ends with this process.
func closeBrowser() {
	if browser.stop == nil {
		return
	}
	ended := make(chan struct{})
	go func() { browser.stop(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(limit):
	}
}
