package serial_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/serial"
)

// A period begins where a clock first shows its date: at one where midnight is skipped,
// at the first of two midnights; and a date that is skipped is none.
func TestParseInZones(t *testing.T) {
	for _, c := range []struct {
		zone   string
		period serial.Period
		date   string
		want   string // "": the date is skipped
	}{
		{"America/Sao_Paulo", serial.Day, "20181104", "2018-11-04T01:00:00-02:00"},
		{"Africa/Cairo", serial.Day, "20260424", "2026-04-24T01:00:00+03:00"},
		{"America/St_Johns", serial.Day, "20091101", "2009-11-01T00:00:00-02:30"},
		{"Pacific/Apia", serial.Day, "20111230", ""},
		{"Pacific/Apia", serial.Day, "20111231", "2011-12-31T00:00:00+14:00"},
		{"Pacific/Apia", serial.Month, "201112", "2011-12-01T00:00:00-10:00"},
		{"Pacific/Kwajalein", serial.Day, "19690930", "1969-09-30T00:00:00+11:00"}, // it comes twice
		{"far", serial.Day, "20261121", "2026-11-21T00:00:00+48:00"},
		{"Asia/Manila", serial.Day, "18441231", ""},
	} {
		t.Run(c.zone+" "+c.date, func(t *testing.T) {
			loc := time.FixedZone("far", 48*3600)
			if c.zone != "far" {
				loc = zone(t, c.zone)
			}
			n := numbers(t, serial.NumbersConfig{Prefix: "A", Period: c.period, Location: loc})
			start, value, err := n.Parse("A" + c.date + "000007")
			if c.want == "" {
				var parse *serial.ParseError
				if !errors.As(err, &parse) || parse.Part != "date" || !strings.Contains(err.Error(), "clocks in "+c.zone+" never show it") {
					t.Errorf("%s in %s: %v, %v", c.date, c.zone, start, err)
				}
				return
			}
			if err != nil || value != 7 || start.Format(time.RFC3339) != c.want {
				t.Errorf("%s in %s: %v, %v; want %s", c.date, c.zone, start.Format(time.RFC3339), err, c.want)
			}
		})
	}
}

// Many goroutines of many processes, whose clocks go back and forth over midnight, over one store
// that loses every third answer: no number is issued twice, or dated by a day for which it was not
// counted, and how many are skipped follows from how often the day has changed, and how many
// answers are lost.
func TestNoNumberTwice(t *testing.T) {
	const processes, goroutines, each, block = 4, 8, 300, 7
	store := &counter{lose: func(call int) bool { return call%3 == 0 }}
	midnight := at(t, "2026-11-21T00:00:00Z")
	var mu sync.Mutex
	seen := map[string]bool{}
	var changes, lost int64
	var wg sync.WaitGroup
	for range processes {
		var last time.Time
		n := numbers(t, serial.NumbersConfig{Prefix: "A", Block: block, Counter: store, Now: func() time.Time { // called by one at a time
			now := midnight
			if rand.IntN(4) == 0 {
				now = midnight.Add(-time.Nanosecond)
			}
			if mu.Lock(); now != last {
				changes++
			}
			mu.Unlock()
			last = now
			return now
		}})
		for range goroutines {
			wg.Go(func() {
				for range each {
					got, err := n.Next(t.Context())
					mu.Lock()
					switch {
					case errors.Is(err, errLost):
						lost++
					case err != nil || seen[got]:
						t.Errorf("%q, %v; seen %v", got, err, seen[got])
					default:
						seen[got] = true
					}
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	parse := numbers(t, serial.NumbersConfig{Prefix: "A"})
	given := map[string]int64{}
	for text := range seen {
		day, value, err := parse.Parse(text)
		key := day.Format("20060102") + ":A"
		if given[key]++; err != nil || value > store.at[key] {
			t.Errorf("%q, %v, of %v", text, err, store.at)
		}
	}
	if issued := int64(len(seen)); lost == 0 || issued+lost != processes*goroutines*each {
		t.Errorf("%d issued, %d lost", issued, lost)
	}
	taken := store.at["20261120:A"] + store.at["20261121:A"]
	if skipped := taken - int64(len(seen)); len(given) != 2 || skipped < lost*block || skipped > lost*block+changes*(block-1) {
		t.Errorf("%d taken, %v given, %d changes of the day, %d answers lost", taken, given, changes, lost)
	}
}
