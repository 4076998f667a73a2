package ddl

import (
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

type sqlNull = sql.NullString

// randomTimes lie in the layout, at the beginnings of ticks, a microsecond
// next to them, and anywhere, as far as the database's times go.
func randomTimes(d ddl.Dialect, l core.Layout, n int) []time.Time {
	last := lastID(l)
	step := time.Microsecond
	if d == ddl.SQLite {
		step = time.Millisecond
	}
	// PostgreSQL's times end 30 years later, but there EXTRACT(EPOCH) drops the last digits,
	// as the microseconds since 1970 are no bigint any more.
	end := map[ddl.Dialect]int{ddl.Postgres: 294246, ddl.MySQL: 9999, ddl.SQLite: 9999}[d]
	var times []time.Time
	for tries := 0; len(times) < n && tries < 100*n; tries++ {
		p, err := l.Decode(rand.Int64() & last >> (rand.IntN(2) * rand.IntN(20)))
		if err != nil {
			panic(err)
		}
		at := p.Time
		switch rand.IntN(5) {
		case 0:
			at = at.Add(step)
		case 1:
			at = at.Add(-step)
		case 2:
			at = at.Add(time.Duration(rand.Int64N(int64(24 * time.Hour)))).Truncate(step)
		}
		if _, err := l.FirstAt(at); err == nil && at.Year() <= end {
			times = append(times, at)
		}
	}
	return times
}

// The least id of a time equals FirstAt.
func TestMinIsFirstAt(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		kind := map[ddl.Dialect]string{ddl.Postgres: "timestamptz", ddl.MySQL: "datetime(6)", ddl.SQLite: "text"}[s.Dialect]
		s.Run(t, "CREATE TABLE times (n integer PRIMARY KEY, t "+kind+" NOT NULL)")
		for _, c := range layouts() {
			t.Run(c.name, func(t *testing.T) {
				config := ddl.Config{Dialect: s.Dialect, Layout: c.layout}
				times := randomTimes(s.Dialect, c.layout, perLayout)
				if len(times) < 100 {
					t.Fatalf("only %d times were found", len(times))
				}
				rows := make([]string, len(times))
				for i, at := range times {
					rows[i] = fmt.Sprintf("(%d, '%s')", i, literal(s.Dialect, at))
				}
				s.Run(t, "DELETE FROM times", "INSERT INTO times VALUES "+strings.Join(rows, ","))
				calls := []string{ok(config.Min("times", "t"))(t)}
				if s.Dialect != ddl.SQLite {
					s.Run(t, ok(config.Functions())(t)...)
					calls = append(calls, "snowflake_min(t)")
				}
				for _, call := range calls {
					got := s.Lines(t, "SELECT "+call+" FROM times ORDER BY n")
					faults := 0
					for i, at := range times {
						want := ok(c.layout.FirstAt(at))(t)
						if got[i] != fmt.Sprint(want) {
							if faults++; faults < 5 {
								t.Errorf("%s of %v: %s, want %d", call, at, got[i], want)
							}
						}
					}
				}
			})
		}
	})
}

func literal(d ddl.Dialect, at time.Time) string {
	switch d {
	case ddl.Postgres:
		return at.UTC().Format("2006-01-02 15:04:05.000000+00")
	case ddl.MySQL:
		return at.UTC().Format("2006-01-02 15:04:05.000000")
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}

// Outside the layout the least id continues, so that comparisons stay right, to the ends of
// bigint.
func TestMinOutsideTheLayout(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		least := func(l core.Layout, at time.Time) (got float64, err error) {
			t.Helper()
			call := ok(ddl.Config{Dialect: s.Dialect, Layout: l}.Min("t"))(t)
			from := map[ddl.Dialect]string{ddl.Postgres: "timestamptz '%s'", ddl.MySQL: "CAST('%s' AS datetime(6))", ddl.SQLite: "'%s'"}[s.Dialect]
			err = s.QueryRow("SELECT " + call + " FROM (SELECT " + fmt.Sprintf(from, literal(s.Dialect, at)) + " AS t) x").Scan(&got)
			return got, err
		}
		seconds := core.Layout{Tick: time.Second, TimeBits: 30, SequenceBits: 10, Epoch: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)}
		for _, c := range []struct {
			ms   int64
			tick float64
		}{{-1, 0}, {-999, 0}, {-1000, -1}, {-1001, -1}, {-59_999, -59}, {-60_000, -60}, {-6_311_520_000_001, -6_311_520_000}, {1 << 30 * 1000, 1 << 30}, {1<<30*1000 + 1, 1<<30 + 1}} {
			got, err := least(seconds, seconds.Epoch.Add(time.Duration(c.ms)*time.Millisecond))
			if err != nil || got != c.tick*1024 {
				t.Errorf("%d ms from the epoch: %v, %v, want %v", c.ms, got, err, c.tick*1024)
			}
		}
		twitter := core.Twitter()
		got, err := least(twitter, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
		if s.Dialect == ddl.SQLite {
			if err != nil || got < 1<<63 {
				t.Errorf("after the end: %v, %v, want more than any bigint", got, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("after the end: %v, %v, want an error", got, err)
		}
		if got, err := least(twitter, twitter.End().Add(-time.Millisecond)); err != nil || got != float64(int64(1<<41-1)<<22) {
			t.Errorf("the last tick: %v, %v", got, err)
		}
	})
}

// MinNow is the least id of the server's time. It continues before the epoch, to the end of bigint.
func TestMinNow(t *testing.T) {
	const year = 365 * 24 * time.Hour
	onEvery(t, func(t *testing.T, s *server) {
		for _, c := range layouts()[:9] {
			config := ddl.Config{Dialect: s.Dialect, Layout: c.layout}
			for _, ago := range []time.Duration{0, 36 * time.Hour, -time.Hour} {
				before := time.Now().Add(-ago - 2*time.Millisecond)
				got := one[int64](t, s, "SELECT "+ok(config.MinNow(ago))(t))
				low, errLow := c.layout.FirstAt(before)
				high, errHigh := c.layout.FirstAt(time.Now().Add(-ago + 2*time.Millisecond))
				if errLow != nil || errHigh != nil || got < low || got > high {
					t.Errorf("%s, %v ago: %d, want %d to %d", c.name, ago, got, low, high)
				}
			}
		}
		for _, ago := range []time.Duration{60 * year, 100 * year, -100 * year, math.MaxInt64, math.MinInt64} {
			var got float64
			err := s.QueryRow("SELECT " + ok(ddl.Config{Dialect: s.Dialect}.MinNow(ago))(t)).Scan(&got)
			ok := err == nil && got < 0
			switch {
			case ago == 60*year:
			case s.Dialect == ddl.SQLite:
				ok = err == nil && (got > 0) == (ago < 0) && math.Abs(got) >= 1<<63
			default:
				ok = err != nil && strings.Contains(err.Error(), "out of range")
			}
			if !ok {
				t.Errorf("%v ago: %v, %v", ago, got, err)
			}
		}
	})
}
