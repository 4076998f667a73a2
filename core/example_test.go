package core_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// generator returns the generator with which an example begins.
func generator(cfg core.Config) *core.Generator {
	gen, err := core.New(cfg)
	if err != nil {
		panic(err)
	}
	return gen
}

func Example() {
	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	a, _ := gen.Next(context.Background())
	b, _ := gen.Next(context.Background())
	fmt.Println(a < b)
	// Output: true
}

func ExampleNew_faults() {
	_, err := core.New(core.Config{Layout: core.Layout{Tick: 1500 * time.Microsecond}})
	var faults *core.ConfigError
	if errors.As(err, &faults) {
		for _, f := range faults.Fields {
			fmt.Println(f)
		}
	}
	// Output:
	// Layout.Tick 1.5ms: must be a whole number of milliseconds, at least 1ms
	// Worker nil: must be set, for example to core.Fixed(n): no worker ID is safe to guess
}

func ExampleFixed() {
	_, err := core.New(core.Config{Worker: core.Fixed(1024)})
	fmt.Println(err)
	// Output: core: Worker 1024: must be 0 to 1023 in this layout (5 datacenter and 5 worker bits)
}

func ExampleGenerator_Fill() {
	gen := generator(core.Config{Worker: core.Fixed(3)})
	defer gen.Close()
	ids := make([]int64, 1000)
	err := gen.Fill(context.Background(), ids)
	fmt.Println(ids[0] < ids[999], gen.Stats().Issued, err)
	// Output: true 1000 <nil>
}

func ExampleNew() {
	gen, err := core.New(core.Config{
		Layout:      core.Sonyflake(),
		Worker:      core.Fixed(4711),
		ClockPolicy: core.Wait{Max: 50 * time.Millisecond},
		Sequence:    core.SequenceRandom,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	fmt.Println(gen.Layout())
	// Output: 39 time | 8 sequence | 16 worker ID, ticks of 10ms since 2014-09-01T00:00:00Z
}

func ExampleGenerator_Next() {
	gen := generator(core.Config{Worker: core.Fixed(3)})
	defer gen.Close()
	id, err := gen.Next(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	parts, err := gen.Layout().Decode(id)
	fmt.Println(parts.Worker, time.Since(parts.Time) < time.Minute, err)
	// Output: 3 true <nil>
}

func ExampleGenerator_Layout() {
	gen := generator(core.Config{Worker: core.Fixed(3)}) // a zero Layout: Twitter's
	defer gen.Close()
	fmt.Println(gen.Layout() == core.Twitter())
	// Output: true
}

// New would report the same, but Validate asks no GrantSource.
func ExampleConfig_Validate() {
	fmt.Println(core.Config{Worker: core.Fixed(3), MaxWait: -1}.Validate())
	// Output: core: MaxWait -1ns: must not be negative
}

func ExampleGenerator_Metrics() {
	gen := generator(core.Config{Worker: core.Fixed(3)})
	defer gen.Close()
	_ = gen.Fill(context.Background(), make([]int64, 5))
	m := gen.Metrics()[0]
	fmt.Println(m.Name, m.Value, m.Unit, m.Counter)
	// Output: snowkey.ids.issued 5 {id} true
}

func ExampleGenerator_Close() {
	worker := core.Fixed(3)
	gen, err := core.New(core.Config{Worker: worker})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = core.New(core.Config{Worker: worker})
	fmt.Println(errors.Is(err, core.ErrInUse))
	gen.Close()
	again, err := core.New(core.Config{Worker: worker}) // continues above the last id
	fmt.Println(err)
	again.Close()
	// Output:
	// true
	// <nil>
}

func ExampleGenerator_Stats() {
	gen := generator(core.Config{Worker: core.Fixed(3)})
	defer gen.Close()
	err := gen.Fill(context.Background(), make([]int64, 100))
	st := gen.Stats()
	fmt.Println(st.Issued, st.Worker, st.StepsBack, st.LayoutLeft > 0, err)
	// Output: 100 3 0 true <nil>
}
