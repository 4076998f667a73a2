package shard_test

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/shard"
)

// BenchmarkOf compares the hash with the remainder alone, and with the key of a Scatter.
func BenchmarkOf(b *testing.B) {
	sum, n := int64(0), 16
	b.Run("modulo", func(b *testing.B) {
		id := int64(1) << 60
		for b.Loop() {
			id += 1 << 22
			sum += id % int64(n)
		}
	})
	b.Run("Of", func(b *testing.B) {
		id := int64(1) << 60
		for b.Loop() {
			id += 1 << 22
			s, _ := shard.Of(id, n)
			sum += int64(s)
		}
	})
	s, err := shard.NewScatter(core.Layout{}, 4)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Key", func(b *testing.B) {
		id := int64(1) << 60
		for b.Loop() {
			id += 1 << 22
			key, _ := s.Key(id)
			sum += key
		}
	})
	_ = sum
}
