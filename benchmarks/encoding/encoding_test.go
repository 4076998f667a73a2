package encoding

import (
	"database/sql/driver"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	bwmarrin "github.com/bwmarrin/snowflake"
	"github.com/google/uuid"
	"go.jetify.com/typeid/v2"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/peers"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/smoke"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestBenchmarks(t *testing.T) { smoke.Run(t, "JSON", "Value") }

const rows = 1000

// each makes a value of each of 1,000 ids as they come today, of 19 digits.
func each[T any](b *testing.B, value func(id int64) T) []T {
	b.Helper()
	ids, values := make([]int64, rows), make([]T, rows)
	if err := peers.Generator(b, core.Twitter()).Fill(b.Context(), ids); err != nil {
		b.Fatal(err)
	}
	for i, id := range ids {
		values[i] = value(id)
	}
	return values
}

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

func jsonOf[T comparable](name string, value func(id int64) T) jsonCase {
	return rowsOf(name, func(id int64) row[T] { v := value(id); return row[T]{v, v, "a name"} })
}

// rowsOf writes or reads the rows. What is read must be what was written.
func rowsOf[R comparable](name string, make1 func(id int64) R) jsonCase {
	return jsonCase{name, func(b *testing.B, c codec, marshal bool) {
		list := each(b, make1)
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
			b.Fatal("the rows that were read differ")
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		b.ReportMetric(float64(len(text))/rows, "B/row")
		b.ReportMetric(0, "ns/op") // the same, said once
	}}
}

// release is the release of Go, such as 1.26: Go 1.27 has another encoding/json.
func release() string { return strings.Join(strings.Split(runtime.Version(), ".")[:2], ".")[2:] }

func BenchmarkJSON(b *testing.B) { benchmarkJSON(b, codec{json.Marshal, json.Unmarshal}) }

func benchmarkJSON(b *testing.B, with codec) {
	cases := []jsonCase{
		jsonOf("snowkey", func(id int64) sqltype.ID { return sqltype.ID(id) }),
		jsonOf("bwmarrin", func(id int64) bwmarrin.ID { return bwmarrin.ID(id) }),
		rowsOf("int64-string-tag", func(id int64) tagged { return tagged{id, id, "a name"} }),
		jsonOf("google-uuid", func(int64) uuid.UUID { return uuid.New() }),
		jsonOf("snowkey-prefix", func(id int64) sqltype.Key[prefixed] { return sqltype.Key[prefixed](id) }),
		jsonOf("typeid2", func(int64) typeid.TypeID { return typeid.MustGenerate("order") }),
		jsonOf("floor-string", func(id int64) string { return sqltype.ID(id).String() }),
		jsonOf("floor-int64", func(id int64) int64 { return id }),
	}
	for _, op := range []string{"marshal", "unmarshal"} {
		for _, c := range scale.Rotate(b, cases) {
			b.Run("go="+release()+"/op="+op+"/lib="+c.name, func(b *testing.B) { c.run(b, with, op == "marshal") })
		}
	}
}

type prefixed struct{}

func (*prefixed) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "order"} }

// valuer is the least that a type with a Value method does: an int64 in an interface, which is an
// allocation, and no check.
type valuer int64

func (v valuer) Value() (driver.Value, error) { return int64(v), nil }

// BenchmarkValue hands an id to the default converter of database/sql.
func BenchmarkValue(b *testing.B) {
	for name, id := range map[string]any{
		"snowkey": sqltype.ID(1996573624012345677), "bwmarrin": bwmarrin.ID(1996573624012345677), "google-uuid": uuid.New(), "floor-valuer": valuer(1996573624012345677), "floor-int64": int64(1996573624012345677),
	} {
		b.Run("lib="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := driver.DefaultParameterConverter.ConvertValue(id); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
