package browser

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// An origin is a public ID whose preset is known.
type origin struct {
	ID     string
	Preset string
	date   string // of the page where it was found: a day, a time, or "-"
	held   bool   // not used for what the page has learned
}

// origins reads the known IDs. The hash of an ID says in which half it is.
func origins(t testing.TB) (all []origin) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "cmd", "snowkey", "internal", "testdata", "origins.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "id\t") { // the head
			continue
		}
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) != 4 {
			t.Fatalf("%d columns in %q, want ID, preset, date, and where it was found", len(columns), line)
		}
		all = append(all, origin{ID: columns[0], Preset: columns[1], date: columns[2], held: sha256.Sum256([]byte(columns[0]))[0]%2 == 1})
	}
	return all
}

// parts decodes an ID under its preset, and checks its time against the date where it was found.
func (o origin) parts(t testing.TB) core.Parts {
	t.Helper()
	for _, p := range core.Presets() {
		if p.Name != o.Preset {
			continue
		}
		id, err := strconv.ParseInt(o.ID, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := p.Layout.Decode(id)
		if err != nil {
			t.Fatalf("%s of %s: %v", o.ID, o.Preset, err)
		}
		if o.date == "-" {
			return parts
		}
		date, err := time.Parse(time.RFC3339, o.date)
		if err != nil {
			date, err = time.Parse(time.DateOnly, o.date)
			date = date.Add(12 * time.Hour) // in an unknown time zone
		}
		if off := parts.Time.Sub(date).Abs(); err != nil || off > 26*time.Hour {
			t.Errorf("%s of %s is of %v, found on %q (%v)", o.ID, o.Preset, parts.Time, o.date, err)
		}
		return parts
	}
	t.Fatalf("no preset %q", o.Preset)
	return core.Parts{}
}

// The page recognizes public IDs that it has not learned from. What it has learned is what the
// other half says, and no more.
func TestOrigins(t *testing.T) {
	t.Parallel()
	type field struct {
		bits  int
		value func(core.Parts) int64
	}
	worker := func(n int) field { return field{n, func(p core.Parts) int64 { return p.Worker }} }
	sequence := func(n int) field { return field{n, func(p core.Parts) int64 { return p.Sequence }} }
	datacenter := field{5, func(p core.Parts) int64 { return p.Datacenter }}
	of := map[string]map[string]field{
		"twitter":   {"datacenter": datacenter, "worker": worker(5), "sequence": sequence(12)},
		"discord":   {"datacenter": datacenter, "worker": worker(5), "sequence": sequence(12)},
		"instagram": {"worker": worker(13), "sequence": sequence(10)},
		"mastodon":  {"sequence": sequence(16)},
	}
	want := map[string]map[string][]int{}
	for preset, fields := range of {
		want[preset] = map[string][]int{}
		for name, f := range fields {
			want[preset][name] = make([]int, f.bits+1)
		}
	}
	var held []origin
	for _, o := range origins(t) {
		parts := o.parts(t)
		if o.held {
			held = append(held, o)
			continue
		}
		for name, f := range of[o.Preset] {
			want[o.Preset][name][bits.Len64(uint64(f.value(parts)))]++
		}
	}
	if len(held) < 100 {
		t.Fatalf("only %d IDs are held out", len(held))
	}

	tb := page(t, serve(t), "")
	if got := eval[map[string]map[string][]int](tb, "import('./recognize.js').then(R => R.learned)"); !reflect.DeepEqual(got, want) {
		t.Errorf("the page has learned %v, want %v", got, want)
	}
	list, err := json.Marshal(held)
	if err != nil {
		t.Fatal(err)
	}
	type result struct{ First, Second, Plausible, Near, NearWrong int }
	got := eval[struct {
		All    result
		Wrong  []string
		Preset map[string]string
	}](tb, fmt.Sprintf(`(async () => {
		const R = await import("./recognize.js");
		const now = BigInt(Date.UTC(2026, 10, 23));
		const all = { First: 0, Second: 0, Plausible: 0, Near: 0, NearWrong: 0 }, wrong = [], of = {};
		for (const { ID, Preset } of %s) {
			const ranking = R.recognize([BigInt(ID)], now);
			const place = ranking.findIndex((f) => f.preset.name === Preset);
			const alike = R.alike(ranking).map((f) => f.preset.name);
			const n = of[Preset] ??= [0, 0];
			n[1]++;
			if (place === 0) { n[0]++; all.First++; } else wrong.push(Preset + " " + ID + " is read as " + ranking[0].preset.name + " (" + alike + ")");
			if (place <= 1) all.Second++;
			if (ranking[place].plausible > 0) all.Plausible++;
			if (alike.length > 0) all.Near++;
			if (place > 0 && alike.includes(Preset)) all.NearWrong++;
		}
		return { All: all, Wrong: wrong, Preset: Object.fromEntries(Object.entries(of).map(([p, n]) => [p, n.join("/")])) };
	})()`, list))
	n := len(held)
	t.Logf("of %d IDs, %d are recognized (%v), %d are the first or second, %d plausible; others are named with %d, and with %d of the %d wrong ones the right preset",
		n, got.All.First, got.Preset, got.All.Second, got.All.Plausible, got.All.Near, got.All.NearWrong, n-got.All.First)
	for _, w := range got.Wrong {
		t.Log(w)
	}
	if got.All.First*100 < n*93 || got.All.Second*100 < n*98 || got.All.Plausible < n {
		t.Errorf("%+v of %d", got.All, n)
	}
}
