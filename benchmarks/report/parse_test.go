package report

import (
	"math"
	"strings"
	"testing"
)

const text = `Unit rows/s better=higher
machine: two cores
goos: linux
pkg: example.test/generate
cpu: Some CPU
BenchmarkPick/mode=free/lib=snowkey-2   100 40.0 ns/op 0 B/op
BenchmarkPick/mode=free/lib=other-2     100 30.0 ns/op 8 B/op
BenchmarkPick/mode=free/lib=floor-add-2 100 3.0 ns/op 0 B/op
PASS
pkg: example.test/inserts
BenchmarkInsert/db=x/key=snowflake-2    1 1000 rows/s
BenchmarkInsert/db=x/key=uuid4-2        1 900 rows/s
BenchmarkCPU/procs=n/lib=snowkey-8      1 7 ns/op
BenchmarkCPU/procs=n/lib=snowkey        1 9 ns/op
BenchmarkPick/mode=free/lib=snowkey-2   100 42.0 ns/op 0 B/op
BenchmarkPick/mode=free/lib=other-2     100 31.0 ns/op 8 B/op
BenchmarkPick/mode=free/lib=snowkey-2   100 41.0 ns/op 0 B/op
`

func parsed(t *testing.T, text string) (*Parsed, []*Series) {
	t.Helper()
	p, err := Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p, p.Series
}

func find(t *testing.T, all []*Series, function, condition, pivot, unit string) *Series {
	t.Helper()
	for _, s := range all {
		if s.Function == function && s.Condition == condition && s.Pivot == pivot && s.Unit == unit {
			return s
		}
	}
	t.Fatalf("no %s %s %s %s", function, condition, pivot, unit)
	return nil
}

func TestCollect(t *testing.T) {
	p, all := parsed(t, text)
	if len(p.Head) != 3 || p.Head[0] != (Key{"machine", "two cores"}) {
		t.Errorf("head %v", p.Head)
	}
	s := find(t, all, "Pick", "mode=free", "snowkey", "ns/op")
	if len(s.Runs) != 3 || s.Median != 41 || math.Abs(s.Spread-0.5/41) > 1e-9 {
		t.Errorf("%+v", s)
	}
	if s := find(t, all, "CPU", "procs=8", "snowkey", "ns/op"); s.Median != 7 {
		t.Errorf("%+v", s)
	}
	if s := find(t, all, "CPU", "procs=1", "snowkey", "ns/op"); s.Median != 9 {
		t.Errorf("%+v", s)
	}
	if p.direction("rows/s") != 1 || p.direction("ns/op") != -1 || p.direction("stmts/op") != -1 {
		t.Error("the direction of a unit is wrong")
	}
}

func TestParseErrors(t *testing.T) {
	for _, bad := range []string{"", "PASS\n", "BenchmarkX-2 1 many ns/op\n", "BenchmarkX-2 nothing\n"} {
		if p, err := Parse(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: %+v", bad, p)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(text)
	f.Add("BenchmarkX/a=b/-1-2 1 1 ns/op\n")
	f.Add("Unit x better=lower\nBenchmark 1 1 x\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		Losses(p)
		if len(Markdown(p, nil)) == 0 {
			t.Error("an empty report")
		}
	})
}

func TestLosses(t *testing.T) {
	p, _ := parsed(t, text)
	list := Losses(p)
	if len(list) != 1 {
		t.Fatalf("%d losses: %+v", len(list), list)
	}
	l := list[0]
	if l.Rival.Pivot != "other" || l.Ours.Median != 41 || math.Abs(l.Worse-41/30.5) > 1e-9 || !l.Few {
		t.Errorf("%+v", l)
	}
}

// With enough runs only what is no chance is a loss, in either direction.
func TestLossesByTest(t *testing.T) {
	var b strings.Builder
	b.WriteString("Unit rows/s better=higher\n")
	for i := range 6 {
		n := []string{"0", "1", "2", "3", "4", "5"}[i]
		b.WriteString("BenchmarkA/key=snowflake 1 10" + n + " rows/s\n")
		b.WriteString("BenchmarkA/key=faster 1 12" + n + " rows/s\n")
		b.WriteString("BenchmarkA/key=slower 1 8" + n + " rows/s\n")
		b.WriteString("BenchmarkA/key=nearly 1 10" + []string{"9", "0", "8", "1", "9", "2"}[i] + " rows/s\n")
	}
	p, _ := parsed(t, b.String())
	list := Losses(p)
	if len(list) != 1 || list[0].Rival.Pivot != "faster" || list[0].Few {
		t.Errorf("%+v", list)
	}
}

// The best of our ways is what counts.
func TestLossesOfTheBest(t *testing.T) {
	p, _ := parsed(t, `
BenchmarkA/way=snowkey 1 20 ns/op
BenchmarkA/way=snowkey-copy 1 10 ns/op
BenchmarkA/way=hand 1 15 ns/op
BenchmarkB/way=snowkey 1 2 allocs/op
BenchmarkB/way=hand 1 0 allocs/op
`)
	list := Losses(p)
	if len(list) != 1 || list[0].Rival.Unit != "allocs/op" || list[0].Worse != 0 {
		t.Errorf("%+v", list)
	}
}
