package browser

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The page reads every text of the vectors as the command's packages describe and timetext do.
func TestVectors(t *testing.T) {
	t.Parallel()
	got := eval[struct {
		Tried  int
		Differ []string
	}](page(t, serve(t), ""), fmt.Sprintf(`(async () => {
		const [I, T] = await Promise.all(["idtext", "times"].map((name) => import("./" + name + ".js")));
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

// An ID that is pasted without a preset is read as one of the most plausible preset. Others can be
// chosen, for all tools.
func TestRecognize(t *testing.T) {
	t.Parallel()
	const recent = "1943700350768169206" // of Twitter in 2025; of Discord it would be in the future
	tb := page(t, serve(t), "")
	tb.run("%s", today)
	for id, want := range map[string]string{
		discord: "Discord auto-detected", "0Czks0tP37X": "Discord auto-detected", "1050118621198921728": "Twitter auto-detected", recent: "Twitter auto-detected",
		"347721978351616": "Discord auto-detected; could also be Twitter", "12345": "No preset gives a plausible time",
	} {
		t.Run(id, func(t *testing.T) {
			tb.write("#ids", id)
			tb.has("#decode-result", want)
		})
	}
	tb.write("#ids", discord)
	tb.has("#decode-result", "2016-04-30 11:18:25.796 UTC", "Worker 1", "Process 0", "Increment 7")
	tb.settled(func() {
		tb.run("[...document.querySelectorAll('#decode-others button')].find(b => b.textContent === 'Twitter').click()")
	})
	tb.has("#decode-result", "Twitter as chosen", "2012-03-03 13:01:20.453 UTC")
	tb.has("#decode-others", "Also possible", "Discord 2016-04-30")
	tb.is("document.getElementById('preset').value + location.hash", "twitter#preset=twitter&ids="+discord)
	tb.choose("#preset", "discord")
	tb.write("#ids", recent)
	tb.has("#decode-result", "Under Discord the time is in the future. The preset may be another one.")
	// A list has the one preset under which the most IDs are plausible.
	tb.choose("#preset", "auto")
	tb.write("#ids", "1050118621198921728 "+discord+" "+recent)
	tb.has("#decode-result", "3 IDs", "Twitter auto-detected", "2012-03-03 13:01:20.453")
}

// The page recognizes public IDs that it has not learned from: the hash of an ID says whether it has.
func TestOrigins(t *testing.T) {
	t.Parallel()
	var held [][2]string
	_, list, _ := strings.Cut(testdata(t, "origins.tsv"), "\n") // the head
	for line := range strings.Lines(list) {
		column := strings.Split(strings.TrimSpace(line), "\t") // ID, preset, the date of the page where it was found, and where
		if len(column) != 4 {
			t.Fatalf("%q", line)
		}
		if sha256.Sum256([]byte(column[0]))[0]%2 == 1 {
			held = append(held, [2]string{column[0], column[1]})
		}
	}
	if len(held) < 100 {
		t.Fatalf("only %d IDs are held out", len(held))
	}
	tb := page(t, serve(t), "")
	text, err := json.Marshal(held)
	if err != nil {
		t.Fatal(err)
	}
	got := eval[struct{ First, Second, Plausible int }](tb, fmt.Sprintf(`import("./recognize.js").then((R) => {
		const all = { First: 0, Second: 0, Plausible: 0 };
		for (const [id, preset] of %s) {
			const ranking = R.recognize([BigInt(id)], BigInt(Date.UTC(2026, 10, 23)));
			const place = ranking.findIndex((f) => f.preset.name === preset);
			if (place === 0) all.First++;
			if (place <= 1) all.Second++;
			if (ranking[place].plausible > 0) all.Plausible++;
		}
		return all;
	})`, text))
	n := len(held)
	t.Logf("of %d IDs, %d are recognized, for %d the right preset is the first or second, for %d it is plausible", n, got.First, got.Second, got.Plausible)
	if got.First*100 < n*93 || got.Second*100 < n*98 || got.Plausible < n {
		t.Errorf("%+v of %d", got, n)
	}
}
