package sqltype

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// Every benchmark runs a floor beside ID, what strconv, encoding/json or
// database/sql do with a bare int64, so that a ratio can be taken within one run.

// A variable, for a constant would be put into its interface at compile time.
var benchID ID = 1996573624012345677

type benchCase struct {
	name string
	f    func()
}

func benchAll(b *testing.B, cases ...benchCase) {
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.f()
			}
		})
	}
}

// What the benchmarks produce, so that it is not optimized away.
var (
	sinkText  string
	sinkBytes []byte
	sinkInt   int64
	sinkID    ID
	sinkValue driver.Value
	errSink   error
)

func BenchmarkString(b *testing.B) {
	benchAll(b,
		benchCase{"strconv", func() { sinkText = strconv.FormatInt(int64(benchID), 10) }},
		benchCase{"ID", func() { sinkText = benchID.String() }},
		benchCase{"Base32", func() { sinkText = benchID.Base32() }},
		benchCase{"Base58", func() { sinkText = benchID.Base58() }},
		benchCase{"Base62", func() { sinkText = benchID.Base62() }},
	)
}

func BenchmarkAppend(b *testing.B) {
	buf := make([]byte, 0, 64)
	benchAll(b,
		benchCase{"strconv", func() { sinkBytes = strconv.AppendInt(buf, int64(benchID), 10) }},
		benchCase{"ID", func() { sinkBytes, errSink = benchID.AppendText(buf) }},
		benchCase{"Base32", func() { sinkBytes = benchID.AppendBase32(buf) }},
		benchCase{"Base58", func() { sinkBytes = benchID.AppendBase58(buf) }},
		benchCase{"Base62", func() { sinkBytes = benchID.AppendBase62(buf) }},
	)
}

func BenchmarkParse(b *testing.B) {
	s, s32, s58, s62 := benchID.String(), benchID.Base32(), benchID.Base58(), benchID.Base62()
	benchAll(b,
		benchCase{"strconv", func() { sinkInt, errSink = strconv.ParseInt(s, 10, 64) }},
		benchCase{"ID", func() { sinkID, errSink = Parse(s) }},
		benchCase{"Base32", func() { sinkID, errSink = ParseBase32(s32) }},
		benchCase{"Base58", func() { sinkID, errSink = ParseBase58(s58) }},
		benchCase{"Base62", func() { sinkID, errSink = ParseBase62(s62) }},
	)
}

type benchRow[T any] struct {
	ID, Customer, Parent T
	Lines                []T
}

func newBenchRow[T any](v T) benchRow[T] {
	return benchRow[T]{v, v, v, []T{v, v, v, v, v, v, v, v}}
}

// A struct of eleven ids: as bare numbers, as strings made beforehand, as ids.
func BenchmarkMarshalJSON(b *testing.B) {
	numbers, texts, ids := newBenchRow(int64(benchID)), newBenchRow(benchID.String()), newBenchRow(benchID)
	nulls := newBenchRow(NullID{benchID, true})
	benchAll(b,
		benchCase{"int64", func() { sinkBytes, errSink = json.Marshal(&numbers) }},
		benchCase{"string", func() { sinkBytes, errSink = json.Marshal(&texts) }},
		benchCase{"ID", func() { sinkBytes, errSink = json.Marshal(&ids) }},
		benchCase{"NullID", func() { sinkBytes, errSink = json.Marshal(&nulls) }},
	)
}

func BenchmarkUnmarshalJSON(b *testing.B) {
	text, err := json.Marshal(newBenchRow(benchID))
	if err != nil {
		b.Fatal(err)
	}
	bare := []byte(strings.ReplaceAll(string(text), `"`+benchID.String()+`"`, benchID.String()))
	var numbers benchRow[int64]
	var texts benchRow[string]
	var ids benchRow[ID]
	var nulls benchRow[NullID]
	benchAll(b,
		benchCase{"int64", func() { errSink = json.Unmarshal(bare, &numbers) }},
		benchCase{"string", func() { errSink = json.Unmarshal(text, &texts) }},
		benchCase{"ID", func() { errSink = json.Unmarshal(text, &ids) }},
		benchCase{"ID from numbers", func() { errSink = json.Unmarshal(bare, &ids) }},
		benchCase{"NullID", func() { errSink = json.Unmarshal(text, &nulls) }},
	)
}

func BenchmarkScan(b *testing.B) {
	var number, text, bytes any = int64(benchID), benchID.String(), []byte(benchID.String())
	var n sql.Null[int64]
	var id ID
	var null NullID
	benchAll(b,
		benchCase{"int64/number", func() { errSink = n.Scan(number) }},
		benchCase{"ID/number", func() { errSink = id.Scan(number) }},
		benchCase{"NullID/number", func() { errSink = null.Scan(number) }},
		benchCase{"int64/string", func() { errSink = n.Scan(text) }},
		benchCase{"ID/string", func() { errSink = id.Scan(text) }},
		benchCase{"int64/bytes", func() { errSink = n.Scan(bytes) }},
		benchCase{"ID/bytes", func() { errSink = id.Scan(bytes) }},
	)
}

func BenchmarkValue(b *testing.B) {
	n := sql.NullInt64{Int64: int64(benchID), Valid: true}
	null := NullID{benchID, true}
	benchAll(b,
		benchCase{"int64", func() { sinkValue, errSink = n.Value() }},
		benchCase{"ID", func() { sinkValue, errSink = benchID.Value() }},
		benchCase{"NullID", func() { sinkValue, errSink = null.Value() }},
	)
}
