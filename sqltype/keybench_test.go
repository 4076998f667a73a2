package sqltype

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

const listOfIDs = 100

// operations are what an id costs, the same for an ID and for a Key.
func operations[K idKind, P idPointer[K]](tb testing.TB, id K) []benchCase {
	text, err := id.MarshalText()
	if err != nil {
		tb.Fatal(err)
	}
	list := slices.Repeat([]K{id}, listOfIDs)
	array, err := json.Marshal(list)
	if err != nil {
		tb.Fatal(err)
	}
	param := string(text)
	quoted := []byte(`"` + param + `"`)
	buf := make([]byte, 0, 64)
	var number, decimal any = int64(id), ID(id).String()
	p := P(&id)
	return []benchCase{
		{"Value", func() { sinkValue, errSink = id.Value() }},
		{"Scan a number", func() { errSink = p.Scan(number) }},
		{"Scan a text", func() { errSink = p.Scan(decimal) }},
		{"AppendText", func() { sinkBytes, errSink = id.AppendText(buf) }},
		{"MarshalText", func() { sinkBytes, errSink = id.MarshalText() }},
		{"String", func() { sinkText = id.String() }},
		{"UnmarshalText", func() { errSink = p.UnmarshalText(text) }},
		{"UnmarshalParam", func() { errSink = p.UnmarshalParam(param) }},
		{"UnmarshalJSON", func() { errSink = p.UnmarshalJSON(quoted) }},
		{"JSON written", func() { sinkBytes, errSink = json.Marshal(list) }},
		{"JSON read", func() { errSink = json.Unmarshal(array, &list) }},
	}
}

// A Key takes no more allocations than an ID, with a prefix or without.
func TestKeyAllocations(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("coverage changes what escapes")
	}
	ids := operations(t, benchID)
	for name, keys := range map[string][]benchCase{
		"decimal":  operations(t, plainKey(benchID)),
		"prefixed": operations(t, Key[prefixedRow](benchID)),
	} {
		for i, key := range keys {
			t.Run(name+"/"+key.name, func(t *testing.T) {
				want, slack := testing.AllocsPerRun(20, ids[i].f), 0.0
				if i >= len(ids)-2 {
					slack = listOfIDs / 10 // encoding/json's pools are emptied now and then
				}
				if got := testing.AllocsPerRun(20, key.f); got > want+slack || errSink != nil {
					t.Errorf("%v allocations, %v; an ID has %v", got, errSink, want)
				}
			})
		}
	}
	null, nullKey := NullID{benchID, true}, NullKey[prefixedRow]{Key[prefixedRow](benchID), true}
	for name, f := range map[string][2]func(){
		"Scan NULL":   {func() { errSink = null.Scan(nil) }, func() { errSink = nullKey.Scan(nil) }},
		"MarshalJSON": {func() { sinkBytes, errSink = null.MarshalJSON() }, func() { sinkBytes, errSink = nullKey.MarshalJSON() }},
	} {
		if got, want := testing.AllocsPerRun(20, f[1]), testing.AllocsPerRun(20, f[0]); got > want {
			t.Errorf("%s of a NullKey: %v allocations; a NullID has %v", name, got, want)
		}
	}
}

// The metrics Key/ID and prefixed/ID are medians of ratios: the operations take turns, some
// microseconds each, so that another load of the machine does not change them.
func BenchmarkKey(b *testing.B) {
	ids, keys := operations(b, benchID), operations(b, plainKey(benchID))
	prefixed := operations(b, Key[prefixedRow](benchID))
	for i, id := range ids {
		b.Run(strings.ReplaceAll(id.name, " ", "_"), func(b *testing.B) {
			compare(b, id.f, map[string]func(){"Key/ID": keys[i].f, "prefixed/ID": prefixed[i].f})
		})
	}
}

func compare(b *testing.B, base func(), others map[string]func()) {
	turn := func(f func(), n int) float64 {
		start := time.Now()
		for range n {
			f()
		}
		return float64(time.Since(start))
	}
	n := 1
	for min(turn(base, n), turn(base, n), turn(base, n)) < 5000 { // nanoseconds that a turn takes
		n *= 2
	}
	times, ratios := []float64{}, map[string][]float64{}
	for b.Loop() {
		was := turn(base, n)
		times = append(times, was/float64(n))
		for name, f := range others {
			ratios[name] = append(ratios[name], turn(f, n)/was)
		}
	}
	b.ReportMetric(median(times), "ns/ID")
	b.ReportMetric(0, "ns/op") // is of all turns together
	for name, r := range ratios {
		b.ReportMetric(median(r), name)
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
