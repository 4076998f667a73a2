package core_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Rows are where these numbers say, so they never change.
func TestShardVectors(t *testing.T) {
	for _, c := range []struct {
		id   int64
		want [4]int // among 2, 16, 1000 and 65536 shards
	}{
		{0, [4]int{0, 0, 0, 0}},
		{1, [4]int{0, 0, 432, 37408}},
		{2, [4]int{1, 7, 351, 62551}},
		{-1, [4]int{0, 0, 432, 37408}},
		{4194304, [4]int{0, 12, 268, 39404}},
		{2123984215105536000, [4]int{1, 15, 287, 14767}},
		{2123984215105536001, [4]int{0, 12, 876, 51628}},
		{2123984219299840000, [4]int{0, 12, 532, 44780}},
		{4611686018427387904, [4]int{0, 8, 824, 26072}},
		{math.MaxInt64, [4]int{0, 14, 126, 14670}},
		{math.MinInt64, [4]int{1, 15, 751, 46895}},
	} {
		t.Run(fmt.Sprint(c.id), func(t *testing.T) {
			for i, n := range []int{2, 16, 1000, 65536} {
				if got, err := core.Shard(c.id, n); err != nil || got != c.want[i] {
					t.Errorf("Shard(%d, %d) = %d, %v, want %d", c.id, n, got, err, c.want[i])
				}
			}
			if got, err := core.Shard(c.id, 1); got != 0 || err != nil {
				t.Errorf("Shard(%d, 1) = %d, %v", c.id, got, err)
			}
		})
	}
}

func TestShardRefuses(t *testing.T) {
	for _, n := range []int{0, -1, core.MaxShards + 1, math.MinInt, math.MaxInt} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			got, err := core.Shard(7, n)
			if want := fmt.Sprintf("core: n %d: must be 1 to 65536", n); got != 0 || err == nil || err.Error() != want {
				t.Errorf("%d, %v", got, err)
			}
		})
	}
}

// A doubled number of shards splits each shard into itself and one new one.
func TestTwiceTheShards(t *testing.T) {
	for range 10_000 {
		id, n := rand.Int64(), rand.IntN(core.MaxShards/2)+1
		one, err := core.Shard(id, n)
		if err != nil {
			t.Fatal(err)
		}
		if two, err := core.Shard(id, 2*n); err != nil || two != one && two != one+n {
			t.Fatalf("id %d is in shard %d of %d and in %d of %d, %v", id, one, n, two, 2*n, err)
		}
	}
}

// traffic is a way in which ids come. Its ids are those of Twitter's layout.
type traffic struct {
	name string
	skew bool // whether id % n is uneven for it
	ids  func(r *rand.Rand, ids []int64)
}

// traffics are rates from one id a minute to full ticks.
func traffics() []traffic {
	const shift = 22
	start := func(r *rand.Rand) int64 { return r.Int64N(1<<40)<<shift | r.Int64N(1024)<<12 }
	var all []traffic
	for _, every := range []int64{1, 2, 3, 5, 7, 10, 16, 17, 60, 64, 100, 250, 256, 333, 1000, 1024, 2400, 4096, 10_000, 60_000} {
		all = append(all, traffic{fmt.Sprintf("one every %dms", every), true, func(r *rand.Rand, ids []int64) {
			ids[0] = start(r)
			for i := range ids[1:] {
				ids[i+1] = ids[i] + every<<shift
			}
		}})
	}
	for _, mean := range []float64{0.01, 0.1, 1, 10, 1000, 60_000} {
		all = append(all, traffic{fmt.Sprintf("one every %vms in the mean", mean), mean >= 0.1, func(r *rand.Rand, ids []int64) {
			ids[0] = start(r)
			at := 0.0
			for i := range ids[1:] {
				at += r.ExpFloat64() * mean
				ids[i+1] = max(ids[i]+1, ids[0]+int64(at)<<shift)
			}
		}})
	}
	for _, perTick := range []int64{2, 5, 100, 4096} {
		all = append(all, traffic{fmt.Sprintf("%d a tick", perTick), perTick < 1024, func(r *rand.Rand, ids []int64) {
			first := start(r)
			for i := range ids {
				ids[i] = first + int64(i)/perTick<<shift + int64(i)%perTick
			}
		}})
	}
	for _, workers := range []int64{2, 32} {
		all = append(all, traffic{fmt.Sprintf("%d workers", workers), true, func(r *rand.Rand, ids []int64) {
			first := start(r) &^ (1<<shift - 1)
			for i := range ids {
				ids[i] = first + int64(i)/workers*7<<shift + int64(i)%workers<<12
			}
		}})
	}
	return all
}

// chiSquare measures how uneven the counts are, in standard deviations.
func chiSquare(counts []int) float64 {
	total := 0
	for _, n := range counts {
		total += n
	}
	want, chi := float64(total)/float64(len(counts)), 0.0
	for _, n := range counts {
		chi += (float64(n) - want) * (float64(n) - want) / want
	}
	// Fisher: the root of 2 chi-square is almost normal, with the deviation 1.
	return math.Sqrt(2*chi) - math.Sqrt(float64(2*(len(counts)-1)-1))
}

// mostUneven is exceeded by chance once in more than a million counts. The ids are the same in each run.
const mostUneven = 5.5

// Whatever their rate, ids spread evenly over 2 to 1,024 shards. id % n shows that the test
// can fail.
func TestShardIsEven(t *testing.T) {
	of := func(id int64, n int) int {
		s, err := core.Shard(id, n)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	modulo := func(id int64, n int) int { return int(id % int64(n)) }
	worst := func(c traffic, shardOf func(int64, int) int) (worst float64, at int) {
		r := rand.New(rand.NewPCG(1, 2))
		ids := make([]int64, 16384)
		for range 4 {
			c.ids(r, ids)
			for _, n := range []int{2, 3, 4, 5, 7, 8, 10, 12, 16, 32, 60, 64, 100, 128, 256, 500, 512, 1000, 1023, 1024} {
				counts := make([]int, n)
				for _, id := range ids {
					counts[shardOf(id, n)]++
				}
				if chi := chiSquare(counts); chi > worst {
					worst, at = chi, n
				}
			}
		}
		return worst, at
	}
	for _, c := range traffics() {
		t.Run(c.name, func(t *testing.T) {
			if chi, n := worst(c, of); chi > mostUneven {
				t.Errorf("%d shards are uneven by %.1f deviations", n, chi)
			}
			if chi, _ := worst(c, modulo); c.skew && chi <= mostUneven {
				t.Errorf("id %% n is even too, within %.1f deviations: the test shows nothing", chi)
			}
		})
	}
}

// The ids of every preset, made one a second, spread as evenly.
func TestShardIsEvenForPresets(t *testing.T) {
	for _, p := range core.Presets() {
		t.Run(p.Name, func(t *testing.T) {
			l := p.Layout.WithDefaults()
			counts, at := make([]int, 64), l.Epoch
			for range 20_000 {
				at = at.Add(max(l.Tick, 1e9))
				id, err := l.Compose(core.Parts{Time: at, Worker: 1 % max(1, l.WorkerIDs())})
				if err != nil {
					t.Fatal(err)
				}
				s, err := core.Shard(id, len(counts))
				if err != nil {
					t.Fatal(err)
				}
				counts[s]++
			}
			if chi := chiSquare(counts); chi > mostUneven {
				t.Errorf("uneven by %.1f deviations", chi)
			}
		})
	}
}

// BenchmarkShard compares the hash with the remainder alone.
func BenchmarkShard(b *testing.B) {
	sum, n := int64(0), 16
	b.Run("modulo", func(b *testing.B) {
		id := int64(1) << 60
		for b.Loop() {
			id += 1 << 22
			sum += id % int64(n)
		}
	})
	b.Run("Shard", func(b *testing.B) {
		id := int64(1) << 60
		for b.Loop() {
			id += 1 << 22
			s, _ := core.Shard(id, n)
			sum += int64(s)
		}
	})
	_ = sum
}
