package browser

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

//go:embed testdata/agreement.js
var agreement string

// The page and the API, whose answers come from package core, agree on thousands of ids in random
// layouts, on periods, and on invalid layouts, ids and times.
func TestAgreement(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	tb.allow("status of 400") // half of what is asked is wrong
	seed := rand.Uint32()
	got := eval[struct {
		Asked, Ids, Refused int
		Differ              []string
	}](tb, fmt.Sprintf("(async () => {%s; return await compare(%d, 250, 20)})()", agreement, seed))
	t.Logf("seed %d: %d questions, %d ids, %d refusals", seed, got.Asked, got.Ids, got.Refused)
	for _, d := range got.Differ[:min(20, len(got.Differ))] {
		t.Errorf("seed %d: %s", seed, d)
	}
	if got.Ids < 2000 || got.Refused < 50 || got.Asked-got.Refused < 300 {
		t.Errorf("too little was compared: %+v", got)
	}
}

// testdata reads a file that the command's tests use too.
func testdata(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "cmd", "snowkey", "internal", "testdata", name))
	check(t, err)
	return string(text)
}

// The page reads every text of the vectors as the command's packages describe and timetext do.
func TestVectors(t *testing.T) {
	t.Parallel()
	got := eval[struct {
		Tried  int
		Differ []string
	}](page(t, serve(t), ""), fmt.Sprintf(`(async () => {
		const [I, T, R, P] = await Promise.all(["idtext", "times", "rounded", "presets"].map((name) => import("./" + name + ".js")));
		const vectors = %s, result = { Tried: 0, Differ: [] };
		const check = (what, want, read) => {
			let got;
			try { got = read(); } catch (error) { got = error.message; }
			result.Tried++;
			if (got !== want) result.Differ.push(what + ": the page reads " + got + ", want " + want);
		};
		for (const v of vectors.ids) check(JSON.stringify(v), v.error ?? v.id + " " + v.found, () => I.parse(v.text, v.format, v.unsigned).join(" "));
		for (const v of vectors.lists) {
			check(JSON.stringify(v), JSON.stringify(v.items), () => JSON.stringify(I.split(v.text)));
			for (const most of [1, 2, 3, 8]) check(most + JSON.stringify(v), JSON.stringify(v.items), () => JSON.stringify(I.parts(v.text, most).flatMap(I.split))); // in slices
		}
		for (const v of vectors.rounded) {
			const got = R.rounded(P.presets.find((p) => p.name === v.preset).layout, BigInt(v.text), (v.workers ?? []).map(BigInt));
			const want = v.by && [v.by, v.first, v.last, ...v.likely].join();
			check(JSON.stringify(v), want, () => got ? [got.by, got.first, got.last, ...got.likely.map((c) => c.id)].join() : undefined);
		}
		const now = T.parseTime(vectors.now) / 1000000n;
		const written = (ns) => { // as time.RFC3339Nano, without zeros at the end
			const rest = String(((ns %% 1000000000n) + 1000000000n) %% 1000000000n).padStart(9, "0").replace(/0+$/, "");
			return T.formatTime(T.floorMs(ns)).slice(0, -5) + (rest && "." + rest) + "Z";
		};
		for (const v of vectors.times) {
			check(JSON.stringify(v), v.error ?? v.time, () => written(T.parseTime(v.text, "time", now)));
			check("fixed: " + JSON.stringify(v), v.fixed ?? false, () => { try { return T.parseFixed(v.text) !== undefined; } catch { return false; } });
		}
		return result;
	})()`, testdata(t, "vectors.json")))
	for _, d := range got.Differ {
		t.Error(d)
	}
	if got.Tried < 300 {
		t.Errorf("only %d texts were tried", got.Tried)
	}
}

// today is the page's clock in the tests of recognition, whose answer depends on it.
const today = "Date.now = () => Date.UTC(2026, 10, 23)"

// The page takes texts for ids of the same presets as package describe.
func TestPresets(t *testing.T) {
	t.Parallel()
	tried := eval[[]string](page(t, serve(t), ""), fmt.Sprintf(`(async () => {
		const [I, R] = await Promise.all(["idtext", "recognize"].map((name) => import("./" + name + ".js")));
		return %q.trim().split("\n").slice(1).map((line) => {
			const [now, texts, want] = line.split("\t");
			const read = texts.split(" ").flatMap((text) => { try { return [I.parse(text, "auto", false)]; } catch { return []; } });
			const got = R.recognize(read.map(([id]) => id), read.some(([, format]) => format.endsWith("_")), BigInt(Date.parse(now)));
			return got.map((p) => p.name).join() === want ? "" : line + " are " + got.map((p) => p.name);
		});
	})()`, testdata(t, "presets.tsv")))
	for _, differs := range tried {
		if differs != "" {
			t.Error(differs)
		}
	}
	if len(tried) < 740 {
		t.Errorf("only %d lines", len(tried))
	}
}

// An id that is pasted without a preset is read as snowkey's, unless its time is then impossible.
// Another preset can be chosen, for all tools.
func TestRecognize(t *testing.T) {
	t.Parallel()
	const ours, instagram = "snowkey default (Twitter) assumed", "3491894774804205350"
	tb := page(t, serve(t), "")
	tb.run("%s", today)
	for id, want := range map[string]string{
		discord: ours, some: ours, "0Czks0tP37X": ours, instagram: "Instagram assumed", "ord_7zzzzzzzzzzzz": ours,
		"12345": "Under snowkey default (Twitter) this time is impossible", "175,928,847,299,117,063": "2012-03-03 13:01:20.453 UTC",
	} {
		t.Run(id, func(t *testing.T) {
			tb.write("#ids", id)
			tb.has("#decode-result", want)
		})
	}
	tb.write("#ids", discord)
	tb.has("#decode-result .when", "2012-03-03 13:01:20.453 UTC", "Also possible Discord 2016-04-30 11:18:25")
	tb.settled(func() { tb.click("#decode-result .others button") })
	tb.has("#decode-result", "Discord as chosen", "2016-04-30 11:18:25.796 UTC", "Worker ID 32", "Worker 1", "Process 0", "Increment 7")
	tb.has("#decode-result .others", "snowkey default (Twitter) 2012-03-03 13:01:20")
	tb.is("document.getElementById('preset').value + location.hash", "discord#preset=discord&ids="+discord)
	tb.write("#ids", instagram)
	tb.has("#decode-result", "Under Discord this time is impossible", "Instagram 2024-11-01")
	// A list has the one preset under which the most ids are possible.
	tb.choose("#preset", "auto")
	tb.write("#ids", "1050118621198921728 "+discord+" 1943700350768169206")
	tb.has("#decode-result", "3 ids", ours, "2012-03-03 13:01:20.453", "Instagram 2012-04-23 to")
}

// The browser remembers the preset that was chosen, if it may. That of a link comes first.
func TestRemembered(t *testing.T) {
	t.Parallel()
	url := serve(t)
	tb := page(t, url, "")
	const chosen = "document.getElementById('preset').value + ' ' + location.hash"
	visit := func(state string) {
		t.Helper()
		tb.do(chromedp.Navigate("about:blank"), chromedp.Navigate(url+"/"+state))
		tb.wait("document.documentElement?.dataset.ready")
	}
	tb.choose("#preset", "discord")
	visit("")
	tb.is(chosen, "discord #preset=discord")
	visit("#preset=mastodon&ids=1")
	tb.is(chosen, "mastodon #preset=mastodon&ids=1")
	visit("#ids=1")
	tb.is(chosen, "discord #preset=discord&ids=1")
	tb.choose("#preset", "auto")
	visit("#ids=1")
	tb.is(chosen, "auto #ids=1")

	denied := open(t, url+"/", call(cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{
		Source: `Object.defineProperty(window, "localStorage", { get() { throw new DOMException("denied", "SecurityError"); } })`,
	}))
	denied.wait("document.documentElement.dataset.ready")
	denied.choose("#preset", "discord")
	denied.is(chosen, "discord #preset=discord")
}
