package snowkeytest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/snowkeytest"
)

// fake is a testing.TB that records errors and cleanups.
type fake struct {
	testing.TB // nil: any other method would panic

	name     string
	errors   []string
	cleanups []func()
}

func (f *fake) Helper()                      {}
func (f *fake) Name() string                 { return f.name }
func (f *fake) Context() context.Context     { return context.Background() }
func (f *fake) Cleanup(c func())             { f.cleanups = append(f.cleanups, c) }
func (f *fake) Errorf(text string, v ...any) { f.errors = append(f.errors, fmt.Sprintf(text, v...)) }
func (f *fake) Fatalf(text string, v ...any) { f.Errorf(text, v...); runtime.Goexit() }
func (f *fake) Fatal(v ...any)               { f.Fatalf("%s", fmt.Sprint(v...)) }

// run runs a test function, which may end its goroutine, and what it has registered.
func (f *fake) run(test func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		test()
	}()
	<-done
	for _, c := range slices.Backward(f.cleanups) {
		c()
	}
}

// take returns the first n ids for a test of that name, whose end closes the generator.
func take(t *testing.T, name string, n int, cfg snowkeytest.Config) []int64 {
	t.Helper()
	f, ids := &fake{name: name}, make([]int64, n)
	var gen *core.Generator
	f.run(func() {
		gen = snowkeytest.New(f, cfg)
		if err := gen.Fill(t.Context(), ids); err != nil {
			t.Error(err)
		}
	})
	if _, err := gen.Next(t.Context()); !errors.Is(err, core.ErrClosed) {
		t.Error(err)
	}
	if f.errors != nil {
		t.Fatal(f.errors)
	}
	return ids
}

// The ids are part of what a version promises: golden files of users have them.
func TestKnown(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  snowkeytest.Config
		want int64
	}{
		{"TestCreate", snowkeytest.Config{}, 1741610233439571968},
		{"TestCreate", snowkeytest.Config{Seed: 1}, 1741610242151038976},
		{"TestCreate/again", snowkeytest.Config{}, 1741610237576044544},
		{"TestCreate", snowkeytest.Config{Layout: core.Sonyflake()}, 494152113446740381},
		{"TestCreate", snowkeytest.Config{Start: time.Date(2030, 5, 1, 0, 0, 0, 0, time.UTC)}, 2579450978706771968},
	} {
		t.Run(fmt.Sprint(c.want), func(t *testing.T) {
			if got := take(t, c.name, 1, c.cfg)[0]; got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

// Ids repeat across ticks, in parallel, and with Next as with Fill.
func TestRepeats(t *testing.T) {
	want := take(t, "TestRepeats", 10_000, snowkeytest.Config{})
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			if got := take(t, "TestRepeats", 10_000, snowkeytest.Config{}); !slices.Equal(got, want) {
				t.Error("other ids")
			}
			f := &fake{name: "TestRepeats"}
			f.run(func() {
				gen := snowkeytest.New(f, snowkeytest.Config{})
				for i := range want {
					if got, err := gen.Next(t.Context()); got != want[i] || err != nil {
						t.Errorf("%d, %v: want %d", got, err, want[i])
						return
					}
				}
			})
		})
	}
	if !slices.IsSorted(want) || len(slices.Compact(slices.Clone(want))) != len(want) {
		t.Error("not ascending")
	}
}

// No two of many tests get the same ids, and all begin within a minute of Start.
func TestSpread(t *testing.T) {
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	seen := make(map[int64]bool)
	for i := range 500 {
		for seed := range uint64(2) {
			id := take(t, fmt.Sprintf("TestNumber%d", i), 1, snowkeytest.Config{Start: start, Seed: seed})[0]
			p, err := core.Twitter().Decode(id)
			if err != nil || seen[id] || p.Time.Before(start) || !p.Time.Before(start.Add(time.Minute)) {
				t.Errorf("%d, %+v, %v", id, p, err)
			}
			seen[id] = true
		}
	}
}

func TestClock(t *testing.T) {
	start := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	clock := snowkeytest.NewClock(t, start)
	gen := snowkeytest.New(t, snowkeytest.Config{Clock: clock})
	at := func(want time.Time) {
		t.Helper()
		id, err := gen.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := gen.Layout().Decode(id); !p.Time.Equal(want) {
			t.Errorf("the id is of %v, want %v", p.Time, want)
		}
	}
	at(start)
	clock.Advance(100 * 24 * time.Hour)
	at(start.Add(100 * 24 * time.Hour))
	clock.Advance(-time.Hour) // Logical: ids stay in the last tick
	at(start.Add(100 * 24 * time.Hour))
	clock.Set(start.AddDate(5, 0, 0))
	at(start.AddDate(5, 0, 0))
	ids := make([]int64, 5000) // more than a tick has
	if err := gen.Fill(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	at(start.AddDate(5, 0, 0).Add(time.Millisecond))
}

func TestWrong(t *testing.T) {
	clock := snowkeytest.NewClock(t, time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC))
	for _, c := range []struct {
		name string
		cfg  snowkeytest.Config
		want string
	}{
		{"start before the epoch", snowkeytest.Config{Start: time.Date(2009, 1, 1, 0, 0, 0, 0, time.UTC)}, `snowkeytest: Start "2009-01-01T00:00`},
		{"start after the end", snowkeytest.Config{Start: time.Date(2109, 1, 1, 0, 0, 0, 0, time.UTC)}, `Start "2109-01-01`},
		{"clock before the epoch", snowkeytest.Config{Clock: clock}, `Clock "1999-01-01T00:00:00Z": must be within the layout's time, 2010-11-04T01:42:54Z to `},
		{"start and clock", snowkeytest.Config{Clock: snowkeytest.NewClock(t, time.Time{}), Start: time.Now()}, "must be zero if Clock is set"},
		{"policy without clock", snowkeytest.Config{ClockPolicy: core.Refuse{}}, "ClockPolicy {}: requires a Clock"},
		{"layout", snowkeytest.Config{Layout: core.Layout{TimeBits: 64}}, "Layout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{name: t.Name()}
			returned := false
			f.run(func() { snowkeytest.New(f, c.cfg); returned = true })
			if returned || len(f.errors) != 1 || !strings.Contains(f.errors[0], c.want) {
				t.Errorf("%q, want %q", f.errors, c.want)
			}
		})
	}
}
