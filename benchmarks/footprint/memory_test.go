package footprint

import (
	"context"
	"runtime"
	"testing"

	bwmarrin "github.com/bwmarrin/snowflake"
	sonyflake2 "github.com/sony/sonyflake/v2"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/smoke"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// kept measures the heap and the stacks that many values hold, and reports them for one.
// What prepare makes is not counted.
func kept[P, T any](b *testing.B, many int, prepare func() P, make1 func(p P) T) {
	var heap, stacks float64
	for b.Loop() {
		list, p := make([]T, many), prepare()
		heapBefore, stacksBefore := memory()
		for i := range list {
			list[i] = make1(p)
		}
		heapAfter, stacksAfter := memory()
		heap += (heapAfter - heapBefore) / float64(many)
		stacks += (stacksAfter - stacksBefore) / float64(many)
		runtime.KeepAlive(list)
		runtime.KeepAlive(p)
	}
	b.ReportMetric(max(0, heap/float64(b.N)), "heapB")
	b.ReportMetric(max(0, stacks/float64(b.N)), "stackB")
	b.ReportMetric(0, "ns/op") // mostly garbage collection
}

func memory() (heap, stacks float64) {
	runtime.GC()
	runtime.GC() // the second one frees what had a finalizer
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc), float64(m.StackInuse)
}

func nothing() struct{} { return struct{}{} }

// BenchmarkMemory: snowkey is a generator after its first id; snowkey-lease a
// lease in a store of memory, with what it takes there and the goroutine that
// renews it; snowkey-plugin one for 100 models that has filled each once, without
// what gorm keeps of them. godruoyi and google/uuid have nothing but globals.
func BenchmarkMemory(b *testing.B) {
	many := scale.Pick(b, 10, 200)
	cases := []struct {
		name string
		run  func(b *testing.B)
	}{
		{"snowkey", func(b *testing.B) {
			kept(b, many, nothing, func(struct{}) *core.Generator { return fixed(b) })
		}},
		{"bwmarrin", func(b *testing.B) {
			kept(b, many, nothing, func(struct{}) *bwmarrin.Node { return bwmarrinNode(b) })
		}},
		{"sonyflake2", func(b *testing.B) {
			kept(b, many, nothing, func(struct{}) *sonyflake2.Sonyflake { return sonyflake(b) })
		}},
		{"snowkey-lease", func(b *testing.B) {
			var leases []*worker.Generator
			kept(b, many, func() *memstore.Store { return memstore.New(memstore.Config{}) }, func(s *memstore.Store) *worker.Generator {
				l, err := worker.Open(b.Context(), s, worker.Config{})
				if err != nil {
					b.Fatal(err)
				}
				leases = append(leases, l)
				return l
			})
			for _, l := range leases {
				if err := l.Close(context.Background()); err != nil {
					b.Error(err)
				}
			}
		}},
		{"snowkey-plugin-100-models", func(b *testing.B) {
			kept(b, 1, func() *gorm.DB { return parsed(b) }, func(db *gorm.DB) *gormplugin.Plugin { return use(b, db) })
		}},
	}
	for _, c := range scale.Rotate(b, cases) {
		b.Run("lib="+c.name, c.run)
	}
}

func TestBenchmarks(t *testing.T) { smoke.Run(t, "Memory", "ColdStart") }
