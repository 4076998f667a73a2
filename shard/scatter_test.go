package shard_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/shard"
)

func newScatter(t testing.TB, l core.Layout, bits int) shard.Scatter {
	t.Helper()
	s, err := shard.NewScatter(l, bits)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Keys are stored, so they never change.
func TestScatterVectors(t *testing.T) {
	for _, c := range []struct {
		layout core.Layout
		bits   int
		id     int64
		want   int64
	}{
		{core.Twitter(), 1, 0, 0},
		{core.Twitter(), 1, 1, 4611686018427387904},
		{core.Twitter(), 1, 892158873653248, 446079436826624},
		{core.Twitter(), 1, 9223372036854775807, 4611686018427387903},
		{core.Twitter(), 4, 0, 0},
		{core.Twitter(), 4, 1, 576460752303423488},
		{core.Twitter(), 4, 892158873653248, 6341124035267261696},
		{core.Twitter(), 4, 9223372036854775807, 576460752303423487},
		{core.Twitter(), 10, 0, 0},
		{core.Twitter(), 10, 1, 9007199254740992},
		{core.Twitter(), 10, 892158873653248, 8809041742385590228},
		{core.Twitter(), 10, 9223372036854775807, 1441151880758558719},
		{core.JavaScriptSafe(), 1, 0, 0},
		{core.JavaScriptSafe(), 1, 1, 4503599627370496},
		{core.JavaScriptSafe(), 1, 892158873653248, 446079436826624},
		{core.JavaScriptSafe(), 1, 9007199254740991, 9007199254740991},
		{core.JavaScriptSafe(), 4, 0, 0},
		{core.JavaScriptSafe(), 4, 1, 562949953421312},
		{core.JavaScriptSafe(), 4, 892158873653248, 6248209417237760},
		{core.JavaScriptSafe(), 4, 9007199254740991, 5629499534213119},
		{core.JavaScriptSafe(), 10, 0, 0},
		{core.JavaScriptSafe(), 10, 1, 8796093022208},
		{core.JavaScriptSafe(), 10, 892158873653248, 8603450224619476},
		{core.JavaScriptSafe(), 10, 9007199254740991, 8048425115320319},
	} {
		t.Run(fmt.Sprintf("%d of %d", c.bits, c.id), func(t *testing.T) {
			s := newScatter(t, c.layout, c.bits)
			if key, err := s.Key(c.id); err != nil || key != c.want {
				t.Errorf("key %d, %v, want %d", key, err, c.want)
			}
			if id, err := s.ID(c.want); err != nil || id != c.id {
				t.Errorf("id %d, %v, want %d", id, err, c.id)
			}
		})
	}
}

// With few bits, all ids are tried: no two have the same key, keys of one prefix ascend, and
// the ranges of each interval hold its ids and no other.
func TestScatterIsExact(t *testing.T) {
	l := core.Layout{TimeBits: 4, WorkerBits: 2, SequenceBits: 2}
	const all = 256
	for bits := 1; bits < 8; bits++ {
		t.Run(fmt.Sprint(bits), func(t *testing.T) {
			s := newScatter(t, l, bits)
			var ids [all]int64
			for key := range ids {
				ids[key] = -1
			}
			last := map[int64]int64{}
			for id := range int64(all) {
				key, err := s.Key(id)
				if err != nil || key < 0 || key >= all || ids[key] != -1 {
					t.Fatalf("key %d of id %d, %v", key, id, err)
				}
				ids[key] = id
				if back, err := s.ID(key); back != id || err != nil {
					t.Errorf("id %d of key %d, %v, want %d", back, key, err, id)
				}
				prefix := key >> (8 - bits)
				if before, ok := last[prefix]; ok && before >= key {
					t.Errorf("key %d after %d", key, before)
				}
				last[prefix] = key
			}
			if ids[0] != 0 {
				t.Errorf("key 0 is that of id %d", ids[0])
			}
			for min := range int64(all) {
				for max := range int64(all + 1) {
					ranges, err := s.Ranges(min, max)
					if err != nil || len(ranges) > 1<<bits {
						t.Fatalf("%v, %v", ranges, err)
					}
					var found []int64
					before := int64(-1)
					for _, r := range ranges {
						if r.First <= before || r.First > r.Last || r.Last >= all {
							t.Fatalf("%d to %d: %v", min, max, ranges)
						}
						before = r.Last
						found = append(found, ids[r.First:r.Last+1]...)
					}
					slices.Sort(found)
					if int64(len(found)) != length(min, max) || len(found) > 0 && (found[0] != min || found[len(found)-1] != max-1) {
						t.Fatalf("%d to %d: %v has %v", min, max, ranges, found)
					}
				}
			}
		})
	}
}

func length(first, end int64) int64 { return max(0, end-first) }

// At every rate each prefix gets its part, also of ids that do not spread by their own lowest bits.
func TestScatterIsEven(t *testing.T) {
	for _, c := range traffics() {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			ids := make([]int64, 16384)
			skewed := 0.0
			for range 4 {
				c.ids(r, ids)
				for _, bits := range []int{1, 2, 3, 4, 5, 6, 8, 10} {
					s := newScatter(t, core.Layout{}, bits)
					counts, low := make([]int, 1<<bits), make([]int, 1<<bits)
					for _, id := range ids {
						key, err := s.Key(id)
						if err != nil {
							t.Fatal(err)
						}
						counts[key>>(63-bits)]++
						low[id&(1<<bits-1)]++
					}
					if chi := chiSquare(counts); chi > limit {
						t.Errorf("%d bits: uneven by %.1f deviations", bits, chi)
					}
					skewed = max(skewed, chiSquare(low))
				}
			}
			if c.skew && skewed <= limit {
				t.Errorf("the lowest bits are even too, within %.1f deviations: the test shows nothing", skewed)
			}
		})
	}
}

func TestScatterRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		layout core.Layout
		bits   int
		want   string
	}{
		{"no bits", core.Layout{}, 0, "shard: bits 0: must be 1 to 10"},
		{"many bits", core.Layout{}, 11, "shard: bits 11: must be 1 to 10"},
		{"negative", core.Layout{}, -1, "shard: bits -1: must be 1 to 10"},
		{"all bits", core.Layout{TimeBits: 4}, 4, "shard: bits 4: must be less than 4, the bits of an id"},
		{"unsigned", core.Layout{TimeBits: 42, SequenceBits: 22, Unsigned: true}, 99, "shard: Layout.Unsigned true: must be false: the keys would sort only as uint64; use one time bit less instead; bits 99: must be 1 to 10"},
		{"layout", core.Layout{TimeBits: 64}, 4, "shard: Layout.TimeBits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := shard.NewScatter(c.layout, c.bits)
			var config *core.ConfigError
			if !errors.As(err, &config) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	s := newScatter(t, core.JavaScriptSafe(), 4)
	const limit = 1<<53 - 1
	_, negative := s.Key(-1)
	_, great := s.Key(limit + 1)
	_, key := s.ID(math.MaxInt64)
	_, min := s.Ranges(-1, 5)
	_, max := s.Ranges(1, limit+2)
	_, least := s.Ranges(1, math.MinInt64)
	var zero shard.Scatter
	_, zeroKey := zero.Key(1)
	_, zeroID := zero.ID(1)
	_, zeroRanges := zero.Ranges(1, 2)
	for _, c := range []struct {
		err  error
		want string
	}{
		{negative, "id -1 is outside the layout: 0 to 9007199254740991 fit"},
		{great, "id 9007199254740992 is outside"},
		{key, "key 9223372036854775807 is outside"},
		{min, "min -1 is outside"},
		{max, "max 9007199254740993 is outside"},
		{least, "max -9223372036854775808 is outside"},
		{zeroKey, "the zero Scatter has no keys; make one with NewScatter"},
		{zeroID, "the zero Scatter"},
		{zeroRanges, "the zero Scatter"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if c.err == nil || !strings.HasPrefix(c.err.Error(), "shard: "+c.want) {
				t.Errorf("%v", c.err)
			}
		})
	}
	if ranges, err := s.Ranges(1, limit+1); err != nil || len(ranges) != 16 || ranges[15].Last != limit {
		t.Errorf("%v, %v", ranges, err)
	}
	if ranges, err := newScatter(t, core.Layout{}, 1).Ranges(math.MaxInt64, math.MaxInt64); len(ranges) != 0 || err != nil {
		t.Errorf("%v, %v", ranges, err)
	}
}

func FuzzScatter(f *testing.F) {
	f.Add(int64(0), uint8(1), uint8(63))
	f.Add(int64(math.MaxInt64), uint8(10), uint8(63))
	f.Add(int64(1)<<22, uint8(4), uint8(53))
	f.Fuzz(func(t *testing.T, id int64, bits, width uint8) {
		s, err := shard.NewScatter(core.Layout{TimeBits: width}, int(bits))
		if err != nil {
			t.Skip()
		}
		key, err := s.Key(id)
		if inside := id >= 0 && uint64(id) < 1<<width; inside != (err == nil) {
			t.Fatalf("id %d of %d bits: %v", id, width, err)
		}
		if err != nil {
			t.Skip()
		}
		back, err := s.ID(key)
		if back != id || err != nil || (key == 0) != (id == 0) {
			t.Fatalf("id %d has the key %d, which has the id %d, %v", id, key, back, err)
		}
		if id == math.MaxInt64 {
			return
		}
		ranges, err := s.Ranges(id, id+1)
		if want := []shard.Range{{First: key, Last: key}}; err != nil || !slices.Equal(ranges, want) {
			t.Fatalf("ranges of id %d: %v, %v, want %v", id, ranges, err, want)
		}
	})
}

// A Source issues the keys of its generator's ids, and none after an error.
func TestSource(t *testing.T) {
	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	s := newScatter(t, gen.Layout(), 4)
	source, err := shard.NewSource(gen, s)
	if err != nil {
		t.Fatal(err)
	}
	keys := make([]int64, 5000)
	if err := source.Fill(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	next, err := source.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	for _, key := range slices.Concat(keys, []int64{next}) {
		id, err := s.ID(key)
		if err != nil || id <= last {
			t.Fatalf("key %d, id %d after %d, %v", key, id, last, err)
		}
		last = id
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	before := slices.Clone(keys)
	if err := source.Fill(cancelled, keys); !errors.Is(err, context.Canceled) || !slices.Equal(before, keys) {
		t.Errorf("%v; keys changed: %t", err, !slices.Equal(before, keys))
	}
	if key, err := source.Next(cancelled); key != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d, %v", key, err)
	}
}

// Ids of another layout are errors, and Fill then changes nothing.
func TestSourceOfAnotherLayout(t *testing.T) {
	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	source, err := shard.NewSource(gen, newScatter(t, core.JavaScriptSafe(), 4))
	if err != nil {
		t.Fatal(err)
	}
	keys := []int64{7, 8}
	if err := source.Fill(t.Context(), keys); err == nil || keys[0] != 7 || keys[1] != 8 {
		t.Errorf("%v, %v", keys, err)
	}
	if key, err := source.Next(t.Context()); err == nil || key != 0 {
		t.Errorf("%d, %v", key, err)
	}
	_, err = shard.NewSource((*core.Generator)(nil), shard.Scatter{})
	if want := "shard: ids nil: must be a generator; s \"zero\": must come from NewScatter"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
