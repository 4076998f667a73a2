package sqltype

import (
	"encoding/json"
	"slices"
	"testing"
)

// What the calls return, so that it is not optimized away.
var (
	sinkText  string
	sinkBytes []byte
	sinkValue any
	sinkID    ID
	errSink   error
)

// An ID, a Key and a prefixed Key cost the same allocations.
func TestAllocations(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("coverage changes what escapes")
	}
	id := ID(1996573624012345677) // a variable: a constant would be put into its interface at compile time
	t.Run("ID", func(t *testing.T) { testAllocations(t, id, NullID{id, true}) })
	t.Run("Key", func(t *testing.T) { testAllocations(t, plainKey(id), plainNull{plainKey(id), true}) })
	t.Run("prefixed", func(t *testing.T) {
		testAllocations(t, Key[prefixedRow](id), NullKey[prefixedRow]{Key[prefixedRow](id), true})
	})
}

func testAllocations[K idKind, N nullKind, P idPointer[K], Q nullPointer[N]](t *testing.T, id K, null N) {
	const listed = 100
	list, buf := slices.Repeat([]K{id}, listed), make([]byte, 0, 64)
	text, textErr := id.MarshalText()
	array, jsonErr := json.Marshal(list)
	if textErr != nil || jsonErr != nil {
		t.Fatal(textErr, jsonErr)
	}
	param, quoted := string(text), []byte(`"`+string(text)+`"`)
	short := ID(id)
	base32, base58, base62 := short.Base32(), short.Bitcoin58(), short.Base62()
	var number, decimal, bytes any = id.Int64(), ID(id).String(), []byte(ID(id).String())
	p, q := P(&id), Q(&null)
	for _, tt := range []struct {
		name string
		max  float64
		f    func()
	}{
		{"Value", 1, func() { sinkValue, errSink = id.Value() }}, // an int64 in an interface
		{"Scan int64", 0, func() { errSink = p.Scan(number) }},
		{"Scan string", 0, func() { errSink = p.Scan(decimal) }},
		{"Scan bytes", 0, func() { errSink = p.Scan(bytes) }},
		{"Scan into a null", 0, func() { errSink = q.Scan(number) }},
		{"AppendText", 0, func() { sinkBytes, errSink = id.AppendText(buf) }},
		{"MarshalText", 1, func() { sinkBytes, errSink = id.MarshalText() }},
		{"MarshalJSON of a null", 1, func() { sinkBytes, errSink = null.MarshalJSON() }},
		{"String", 1, func() { sinkText = id.String() }},
		{"UnmarshalText", 0, func() { errSink = p.UnmarshalText(text) }},
		{"UnmarshalParam", 0, func() { errSink = p.UnmarshalParam(param) }},
		{"UnmarshalJSON", 0, func() { errSink = p.UnmarshalJSON(quoted) }},
		// One for each, the slice and the result; the pools of encoding/json are emptied now and then.
		{"JSON written", listed * 1.15, func() { sinkBytes, errSink = json.Marshal(list) }},
		{"JSON read", listed * 0.2, func() { errSink = json.Unmarshal(array, &list) }},
		{"AppendBase32", 0, func() { sinkBytes = short.AppendBase32(buf) }},
		{"AppendBitcoin58", 0, func() { sinkBytes = short.AppendBitcoin58(buf) }},
		{"AppendBase62", 0, func() { sinkBytes = short.AppendBase62(buf) }},
		{"Base32", 1, func() { sinkText = short.Base32() }},
		{"Bitcoin58", 1, func() { sinkText = short.Bitcoin58() }},
		{"Base62", 1, func() { sinkText = short.Base62() }},
		{"ParseBase32", 0, func() { sinkID, errSink = ParseBase32(base32) }},
		{"ParseBitcoin58", 0, func() { sinkID, errSink = ParseBitcoin58(base58) }},
		{"ParseBase62", 0, func() { sinkID, errSink = ParseBase62(base62) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := testing.AllocsPerRun(100, tt.f); got > tt.max || errSink != nil {
				t.Errorf("%v allocations, want at most %v; %v", got, tt.max, errSink)
			}
		})
	}
}
