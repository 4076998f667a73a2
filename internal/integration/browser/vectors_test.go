package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// The page reads every text of the vectors as packages idtext and timetext do, whose tests
// use the same file.
func TestVectors(t *testing.T) {
	t.Parallel()
	vectors, err := os.ReadFile(filepath.Join("..", "..", "..", "cmd", "snowkey", "internal", "testdata", "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	tb := page(t, serve(t), "")
	got := eval[struct {
		Tried  int
		Differ []string
	}](tb, fmt.Sprintf(`(async () => {
		const [I, T] = await Promise.all(["idtext", "times"].map((name) => import("./" + name + ".js")));
		const vectors = %s;
		const result = { Tried: 0, Differ: [] };
		const check = (what, want, read) => {
			let got;
			try { got = read(); } catch (error) { got = error.message; }
			result.Tried++;
			if (got !== want) result.Differ.push(what + ": the page reads " + got + ", want " + want);
		};
		for (const v of vectors.ids) {
			check(JSON.stringify(v), v.error ?? v.id + " " + v.found, () => I.parse(v.text, v.format, v.unsigned).join(" "));
		}
		for (const v of vectors.lists) check(JSON.stringify(v), JSON.stringify(v.items), () => JSON.stringify(I.split(v.text)));
		const now = T.parseTime(vectors.now) / 1000000n;
		const written = (ns) => { // as time.RFC3339Nano, without zeros at the end
			const rest = String(((ns %% 1000000000n) + 1000000000n) %% 1000000000n).padStart(9, "0").replace(/0+$/, "");
			return T.formatTime(T.floorMs(ns)).slice(0, -5) + (rest && "." + rest) + "Z";
		};
		for (const v of vectors.times) {
			check(JSON.stringify(v), v.error ?? v.time, () => written(T.parseTime(v.text, "time", now)));
			check("fixed: " + JSON.stringify(v), v.fixed ?? false, () => {
				try { return T.parseFixed(v.text) !== undefined; } catch { return false; }
			});
		}
		return result;
	})()`, vectors))
	for _, d := range got.Differ {
		t.Error(d)
	}
	if got.Tried < 300 {
		t.Errorf("only %d texts were tried", got.Tried)
	}
}
