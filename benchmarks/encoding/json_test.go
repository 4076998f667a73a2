package encoding

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type row[T any] struct {
	ID    T      `json:"id"`
	Owner T      `json:"owner"`
	Name  string `json:"name"`
}

// tagged is how an int64 is written as a text without a type for it.
type tagged struct {
	ID    int64  `json:"id,string"`
	Owner int64  `json:"owner,string"`
	Name  string `json:"name"`
}

// codec is a JSON package.
type codec struct {
	marshal   func(v any) ([]byte, error)
	unmarshal func(data []byte, v any) error
}

type jsonCase struct {
	name string
	run  func(b *testing.B, c codec, marshal bool)
}

func jsonOf[T comparable](name string, ids func(b *testing.B) []T) jsonCase {
	return jsonCase{name, func(b *testing.B, c codec, marshal bool) {
		list := make([]row[T], rows)
		for i, id := range ids(b) {
			list[i] = row[T]{id, id, "a name"}
		}
		measureJSON(b, c, marshal, list)
	}}
}

// measureJSON writes or reads the list. What is read must be what was written.
func measureJSON[R comparable](b *testing.B, c codec, marshal bool, list []R) {
	text, err := c.marshal(list)
	if err != nil {
		b.Fatal(err)
	}
	back := make([]R, 0, len(list))
	b.ReportAllocs()
	for b.Loop() {
		if marshal {
			_, err = c.marshal(list)
		} else {
			back = back[:0]
			err = c.unmarshal(text, &back)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if !marshal && !slices.Equal(back, list) {
		b.Fatal("the rows came back as others")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
	b.ReportMetric(float64(len(text))/rows, "B/row")
	b.ReportMetric(0, "ns/op") // the same, said once
}

func BenchmarkJSON(b *testing.B) { benchmarkJSON(b, codec{json.Marshal, json.Unmarshal}) }

func benchmarkJSON(b *testing.B, with codec) {
	cases := []jsonCase{
		jsonOf("snowkey", integers[sqltype.ID]),
		jsonOf("bwmarrin", integers[bwmarrinID]),
		jsonOf("disgoorg", integers[disgoorgID]),
		{"int64-string-tag", func(b *testing.B, c codec, marshal bool) {
			list := make([]tagged, rows)
			for i, id := range snowflakes(b) {
				list[i] = tagged{id, id, "a name"}
			}
			measureJSON(b, c, marshal, list)
		}},
		jsonOf("google-uuid", uuids),
		jsonOf("gofrs-uuid", gofrsUUIDs),
		jsonOf("ulid", ulids),
		jsonOf("xid", xids),
		jsonOf("ksuid", ksuids),
		jsonOf("floor-string", texts),
		jsonOf("floor-int64", snowflakes),
	}
	for _, op := range []string{"marshal", "unmarshal"} {
		for _, c := range scale.Rotate(b, cases) {
			b.Run("op="+op+"/lib="+c.name, func(b *testing.B) { c.run(b, with, op == "marshal") })
		}
	}
}
