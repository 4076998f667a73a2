package shard_test

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/shard"
)

// One id a second: id % 16 is always the same, and the shards are not.
func ExampleOf() {
	id, err := core.Twitter().Compose(core.Parts{Time: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), Worker: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 6 {
		n, err := shard.Of(id, 16)
		fmt.Println(id, id%16, n, err)
		id += 1000 << 22
	}
	_, err = shard.Of(id, 0)
	fmt.Println(err)
	// Output:
	// 2124050177848258560 0 10 <nil>
	// 2124050182042562560 0 0 <nil>
	// 2124050186236866560 0 2 <nil>
	// 2124050190431170560 0 15 <nil>
	// 2124050194625474560 0 12 <nil>
	// 2124050198819778560 0 1 <nil>
	// shard: n 0: must be 1 to 65536
}

func ExampleNewScatter() {
	s, err := shard.NewScatter(core.Twitter(), 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	for id := int64(2123984215105536000); id < 2123984215105536003; id++ {
		key, err := s.Key(id)
		fmt.Println(key, key>>59, err)
	}
	_, err = shard.NewScatter(core.Twitter(), 0)
	fmt.Println(err)
	// Output:
	// 709209765747519488 1 <nil>
	// 1285670518050942976 2 <nil>
	// 1862131270354366464 3 <nil>
	// shard: bits 0: must be 1 to 10
}

func ExampleScatter_Key() {
	s, err := shard.NewScatter(core.JavaScriptSafe(), 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Key(892158873653248))
	fmt.Println(s.Key(-1))
	// Output:
	// 2363319672891904 <nil>
	// 0 shard: id -1 is outside the layout: 0 to 9007199254740991 fit
}

func ExampleScatter_ID() {
	s, err := shard.NewScatter(core.JavaScriptSafe(), 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	key, err := s.Key(892158873653248)
	fmt.Println(err)
	fmt.Println(s.ID(key))
	// Output:
	// <nil>
	// 892158873653248 <nil>
}

// A day is four ranges, if there are four prefixes.
func ExampleScatter_Ranges() {
	l := core.Twitter()
	s, err := shard.NewScatter(l, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	min, max, err := l.Range(day, day.AddDate(0, 0, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	ranges, err := s.Ranges(min, max)
	for _, r := range ranges {
		fmt.Println("key BETWEEN", r.First, "AND", r.Last)
	}
	fmt.Println(err)
	// Output:
	// key BETWEEN 530982345473261568 AND 531072942439661567
	// key BETWEEN 2836825354686955520 AND 2836915951653355519
	// key BETWEEN 5142668363900649472 AND 5142758960867049471
	// key BETWEEN 7448511373114343424 AND 7448601970080743423
	// <nil>
}

// A Source takes the place of the generator in gormplugin, sqltype and pgxtype.
func ExampleNewSource() {
	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	s, err := shard.NewScatter(gen.Layout(), 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	source, err := shard.NewSource(gen, s)
	if err != nil {
		fmt.Println(err)
		return
	}
	key, err := source.Next(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := s.ID(key)
	if err != nil {
		fmt.Println(err)
		return
	}
	parts, err := gen.Layout().Decode(id)
	fmt.Println(parts.Worker, err)
	// Output: 3 <nil>
}

func ExampleSource_Next() {
	source := newSource()
	key, err := source.Next(context.Background())
	fmt.Println(key > 0, err)
	// Output: true <nil>
}

func ExampleSource_Fill() {
	source := newSource()
	keys := make([]int64, 1000)
	err := source.Fill(context.Background(), keys)
	fmt.Println(keys[0] > 0, keys[999] > 0, err)
	// Output: true true <nil>
}

// newSource is ExampleNewSource without the errors.
func newSource() *shard.Source {
	gen, err := core.New(core.Config{Worker: core.Fixed(5)})
	if err != nil {
		panic(err)
	}
	s, err := shard.NewScatter(gen.Layout(), 4)
	if err != nil {
		panic(err)
	}
	source, err := shard.NewSource(gen, s)
	if err != nil {
		panic(err)
	}
	return source
}
