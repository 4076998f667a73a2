package token

import (
	"crypto/cipher"
	"slices"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The results of the benchmarks, so that they are not optimized away.
var (
	sinkBytes []byte
	sinkBlock [16]byte
	errSink   error
)

// BenchmarkSealer reports what each call of a Sealer takes, and how often that is what one
// block of AES-256 takes.
func BenchmarkSealer(b *testing.B) {
	s := sealerOf(b, oneKey(b), "order")
	id, buf := benchID, make([]byte, 0, 64)
	text := seal(b, s, id)
	block, err := s.SealBlock(id)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []benchCase{
		{"SealBlock", func() { sinkBlock, errSink = s.SealBlock(id); id++ }},
		{"OpenBlock", func() { id, errSink = s.OpenBlock(block) }},
		{"AppendSeal", func() { sinkBytes, errSink = s.AppendSeal(buf, id); id++ }},
		{"Unseal", func() { id, errSink = s.Unseal(text) }},
	} {
		b.Run(c.name, func(b *testing.B) { beside(b, s.in.keys[0].cipher, c.f) })
	}
}

func BenchmarkNew(b *testing.B) {
	cfg := Config{Keys: []Secret{secret(b, text1)}}
	b.Run("Ring", func(b *testing.B) {
		for b.Loop() {
			_, errSink = New(cfg)
		}
	})
	r := oneKey(b)
	b.Run("Sealer", func(b *testing.B) {
		for b.Loop() {
			_, errSink = r.Sealer("order")
		}
	})
}

const benchID sqltype.ID = 1996573624012345677

type benchCase struct {
	name string
	f    func()
}

// beside measures f and blocks of AES in turns, and reports the ratio of the medians.
func beside(b *testing.B, floor cipher.Block, f func()) {
	const calls = 1000
	scratch := make([]byte, 16)
	var ours, theirs []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		for range calls {
			f()
		}
		middle := time.Now()
		for range calls {
			floor.Encrypt(scratch, scratch)
		}
		ours, theirs = append(ours, middle.Sub(start)), append(theirs, time.Since(middle))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	mine, aes := ours[len(ours)/2], theirs[len(theirs)/2]
	b.ReportMetric(0, "ns/op") // of a thousand calls of both
	b.ReportMetric(float64(mine)/calls, "ns/call")
	b.ReportMetric(float64(aes)/calls, "ns/aes")
	b.ReportMetric(float64(mine)/float64(aes), "x-aes")
}

// AppendSeal, SealBlock, Unseal and OpenBlock allocate nothing.
func TestAllocations(t *testing.T) {
	s := sealerOf(t, oneKey(t), "order")
	buf, text := make([]byte, 0, 64), seal(t, s, benchID)
	block, err := s.SealBlock(benchID)
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"AppendSeal": func() error { _, err := s.AppendSeal(buf, benchID); return err },
		"SealBlock":  func() error { _, err := s.SealBlock(benchID); return err },
		"Unseal":     func() error { _, err := s.Unseal(text); return err },
		"OpenBlock":  func() error { _, err := s.OpenBlock(block); return err },
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			n := testing.AllocsPerRun(200, func() { err = call() })
			if err != nil || n > 0 {
				t.Errorf("%v allocations, %v", n, err)
			}
		})
	}
}
