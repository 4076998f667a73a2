package serial_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/serial"
)

// counter is a store in memory. With lose, the answers to those reservations are
// lost after they took effect.
type counter struct {
	mu    sync.Mutex
	at    map[string]int64
	calls int
	lose  func(call int) bool
	wait  func()
}

var errLost = errors.New("the answer was lost")

func (c *counter) Reserve(ctx context.Context, key string, n int64) (int64, error) {
	if c.wait != nil {
		c.wait()
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = map[string]int64{}
	}
	c.at[key] += n
	c.calls++
	if c.lose != nil && c.lose(c.calls) {
		return 0, errLost
	}
	return c.at[key] - n + 1, nil
}

func numbers(t *testing.T, n serial.NumbersConfig) *serial.Numbers {
	t.Helper()
	all, err := serial.NewNumbers(n)
	must(t, err)
	return all
}

func TestNumbers(t *testing.T) {
	store := &counter{}
	now := at(t, "2026-11-21T12:00:00Z")
	n := numbers(t, serial.NumbersConfig{Prefix: "INV", Separator: "-", Block: 3, Counter: store, Location: zone(t, "Asia/Shanghai"), Now: func() time.Time { return now }})
	next := func(want string) {
		t.Helper()
		if got, err := n.Next(t.Context()); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	for _, want := range []string{"INV-20261121-000001", "INV-20261121-000002", "INV-20261121-000003", "INV-20261121-000004"} {
		next(want)
	}
	if store.calls != 2 {
		t.Errorf("%d round trips for 4 numbers in blocks of 3", store.calls)
	}
	now = at(t, "2026-11-21T15:59:59.999Z") // the last of the day in Shanghai
	next("INV-20261121-000005")
	now = at(t, "2026-11-21T16:00:00Z") // 000006 is skipped
	next("INV-20261122-000001")
	now = at(t, "2026-11-21T15:59:59Z") // the clock goes back: nothing comes again
	next("INV-20261121-000007")
	now = at(t, "2026-11-21T16:00:00Z")
	next("INV-20261122-000004")
	if len(store.at) != 2 || store.at["20261121:INV"] != 9 || store.at["20261122:INV"] != 6 {
		t.Errorf("%v", store.at)
	}
}

func TestPeriods(t *testing.T) {
	now := at(t, "2026-12-31T23:30:00Z")
	for _, c := range []struct {
		period   serial.Period
		digits   int
		location string
		want     string
		key      string
	}{
		{serial.Day, 0, "", "I/20261231/000001", "20261231:I"},
		{serial.Month, 4, "", "I/202612/0001", "202612:I"},
		{serial.Year, 1, "", "I/2026/1", "2026:I"},
		{serial.Forever, 18, "", "I/000000000000000001", ":I"},
		{serial.Day, 0, "Europe/Berlin", "I/20270101/000001", "20270101:I"},
		{serial.Year, 0, "Asia/Tokyo", "I/2027/000001", "2027:I"},
	} {
		t.Run(c.want, func(t *testing.T) {
			store := &counter{}
			n := numbers(t, serial.NumbersConfig{Prefix: "I", Separator: "/", Digits: c.digits, Period: c.period, Location: zone(t, c.location), Counter: store, Now: func() time.Time { return now }})
			got, err := n.Next(t.Context())
			if err != nil || got != c.want || len(got) != n.Width() || store.at[c.key] != 1 {
				t.Errorf("%v: %q, %v, %v; want %q", c.period, got, err, store.at, c.want)
			}
			start, value, err := n.Parse(got)
			if err != nil || value != 1 || start.After(now) || c.period != serial.Forever && start.Hour() != 0 {
				t.Errorf("%q is %v, %d, %v", got, start, value, err)
			}
		})
	}
}

// A number that would need one more digit is an error, in the middle of a block too,
// and the counter is asked no more.
func TestDigitsUsedUp(t *testing.T) {
	store := &counter{}
	now := at(t, "2026-11-21T12:00:00Z")
	n := numbers(t, serial.NumbersConfig{Prefix: "A", Digits: 1, Block: 4, Counter: store, Now: func() time.Time { return now }})
	for i := range 9 {
		if got, err := n.Next(t.Context()); err != nil || got != "A20261121"+string(rune('1'+i)) {
			t.Fatalf("%q, %v", got, err)
		}
	}
	for range 3 {
		got, err := n.Next(t.Context())
		var used *serial.ExhaustedError
		if !errors.As(err, &used) || got != "" || used.Key != "20261121:A" || used.Digits != 1 {
			t.Errorf("%q, %v", got, err)
		}
	}
	if store.calls != 4 { // 1-4, 5-8, 9-12, and 13-16, which shows that it is over
		t.Errorf("%d round trips", store.calls)
	}
	if got, err := n.NextIn(t.Context(), store); !errors.As(err, new(*serial.ExhaustedError)) || got != "" {
		t.Errorf("%q, %v", got, err)
	}
	now = now.AddDate(0, 0, 1)
	if got, err := n.Next(t.Context()); err != nil || got != "A202611221" {
		t.Errorf("%q, %v", got, err)
	}
}

// Who waits for another's round trip gives up with the own context, and a done one
// gets nothing.
func TestNextAndContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counter{wait: func() { time.Sleep(time.Minute) }}
		n := numbers(t, serial.NumbersConfig{Prefix: "A", Block: 100, Counter: store})
		got := make(chan string, 1)
		go func() {
			s, err := n.Next(context.Background())
			if err != nil {
				t.Error(err)
			}
			got <- s
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if s, err := n.Next(ctx); !errors.Is(err, context.DeadlineExceeded) || s != "" || time.Since(began) != time.Second {
			t.Errorf("%q, %v after %v", s, err, time.Since(began))
		}
		if s := <-got; !strings.HasSuffix(s, "000001") {
			t.Error(s)
		}
		for range 100 { // a free turn and a done context: nothing is issued
			if s, err := n.Next(ctx); err == nil {
				t.Error(s)
			}
			if s, err := n.NextIn(ctx, &counter{}); err == nil {
				t.Error(s)
			}
		}
		if s, err := n.Next(context.Background()); err != nil || !strings.HasSuffix(s, "000002") || store.calls != 1 {
			t.Errorf("%q, %v", s, err)
		}
	})
}

// NextIn takes one number from the given counter, and not from the block.
func TestNextIn(t *testing.T) {
	store, tx := &counter{}, &counter{at: map[string]int64{"19700101:A": 41}}
	n := numbers(t, serial.NumbersConfig{Prefix: "A", Block: 10, Counter: store, Now: func() time.Time { return time.Unix(0, 0) }})
	for _, want := range []string{"A19700101000042", "A19700101000043"} {
		if got, err := n.NextIn(t.Context(), tx); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	if got, err := n.NextIn(t.Context(), tx); err != nil || got != "A19700101000044" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := n.Next(t.Context()); err != nil || got != "A19700101000001" {
		t.Errorf("%q, %v", got, err)
	}
	for _, none := range []serial.Counter{nil, (*counter)(nil), serial.CounterFunc(nil)} {
		var config *core.ConfigError
		if got, err := n.NextIn(t.Context(), none); !errors.As(err, &config) || got != "" {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// A counter that does not count up from 1 is found out where that can be seen.
func TestCounterIsWrong(t *testing.T) {
	for _, first := range []int64{0, -1, math.MinInt64, math.MaxInt64, math.MaxInt64 - 9} {
		c := serial.CounterFunc(func(context.Context, string, int64) (int64, error) { return first, nil })
		n := numbers(t, serial.NumbersConfig{Prefix: "A", Block: 10, Counter: c})
		if got, err := n.Next(t.Context()); err == nil || got != "" || !strings.Contains(err.Error(), "must count up from 1") {
			t.Errorf("%d: %q, %v", first, got, err)
		}
	}
	n := numbers(t, serial.NumbersConfig{Prefix: "A", Counter: &counter{}, Now: func() time.Time { return time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC) }})
	if got, err := n.Next(t.Context()); err == nil || got != "" || !strings.Contains(err.Error(), "must lie in the years 0 to 9999") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := n.NextIn(t.Context(), &counter{}); err == nil || got != "" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestNumbersConfigErrors(t *testing.T) {
	ok := serial.NumbersConfig{Prefix: "INV", Counter: &counter{}}
	for _, c := range []struct {
		change func(*serial.NumbersConfig)
		want   []string
	}{
		{func(*serial.NumbersConfig) {}, nil},
		{func(n *serial.NumbersConfig) { n.Prefix, n.Code = "", "invoices" }, nil},
		{func(n *serial.NumbersConfig) { n.Prefix, n.Code = strings.Repeat("a", 32), strings.Repeat("b", 32) }, nil},
		{func(n *serial.NumbersConfig) { n.Prefix = "" }, []string{`Code "": is required if Prefix is empty`}},
		{func(n *serial.NumbersConfig) { n.Prefix = "A:B" }, []string{`Prefix "A:B": must have at most 32 ASCII letters`}},
		{func(n *serial.NumbersConfig) { n.Period = 4 }, []string{"Period Period(4): must be Day"}},
		{func(n *serial.NumbersConfig) { n.Digits = 19 }, []string{"Digits 19: must be 1 to 18"}},
		{func(n *serial.NumbersConfig) { n.Digits, n.Block = 2, 100 }, []string{"Block 100: must be 1 to 99"}},
		{func(n *serial.NumbersConfig) { n.Block = -1 }, []string{"Block -1: must be 1 to 999999"}},
		{func(n *serial.NumbersConfig) { n.Counter = nil }, nil},
		{func(n *serial.NumbersConfig) { n.Counter = (*counter)(nil) }, []string{"Counter nil"}},
		{func(n *serial.NumbersConfig) {
			*n = serial.NumbersConfig{Prefix: "ä", Code: ":", Period: 9, Location: time.Local, Separator: "0", Digits: 99, Block: -1, Counter: (*counter)(nil)}
		}, []string{"Prefix", "Period", "Location", "Separator", "Digits", "Code", "Block", "Counter"}},
	} {
		t.Run(fmt.Sprint(c.want), func(t *testing.T) {
			n := ok
			c.change(&n)
			made, err := serial.NewNumbers(n)
			checkConfig(t, made != nil, err, c.want)
		})
	}
}

// Format and Parse need no Counter, and neither does NextIn.
func TestParseNumber(t *testing.T) {
	n := numbers(t, serial.NumbersConfig{Prefix: "INV", Separator: "-"})
	for text, want := range map[string]string{
		"":                    `the prefix "": must be "INV"`,
		"INVOICE":             `the length "7": must be 19`,
		"INV_20261121-000123": `the separator "_": must be "-"`,
		"INV-20260229-000123": `the date "20260229": there is no such date`,
		"INV-2026112x-000123": `the date "2026112x": must have digits only`,
		"INV-20261121-00012x": `the number "00012x": must have digits only`,
		"INV-20261121-000000": `the number "000000": must be at least 1`,
	} {
		t.Run(text, func(t *testing.T) {
			when, value, err := n.Parse(text)
			var parse *serial.ParseError
			if !errors.As(err, &parse) || !strings.Contains(err.Error(), want) || !when.IsZero() || value != 0 {
				t.Errorf("%q: %v, %d, %v; want %s", text, when, value, err, want)
			}
		})
	}
	for _, number := range []int64{0, -1, 1_000_000, math.MaxInt64} {
		if text, err := n.Format(time.Now(), number); err == nil || text != "" {
			t.Errorf("%d: %q, %v", number, text, err)
		}
	}
	if _, err := n.Next(t.Context()); !errors.As(err, new(*core.ConfigError)) || !strings.Contains(err.Error(), "Counter nil: is required for Next") {
		t.Error(err)
	}
	if got, err := n.NextIn(t.Context(), &counter{}); err != nil || !strings.HasSuffix(got, "-000001") {
		t.Errorf("%q, %v", got, err)
	}
}
