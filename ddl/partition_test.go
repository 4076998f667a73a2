package ddl

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/DATA-DOG/go-sqlmock"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// A bound within a tick, written by hand: the tick has ids on both sides.
func TestReadBoundWithinATick(t *testing.T) {
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	first, err := core.Twitter().FirstAt(at)
	if err != nil {
		t.Fatal(err)
	}
	p := Partitioning{Dialect: MySQL, Table: "orders", By: Day}
	db, mock, err := sqlmock.New()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mock.ExpectQuery("SELECT").WillReturnRows(sqlmock.NewRows([]string{"name", "min", "max"}).AddRow("a", nil, first).AddRow("b", first, first+1).AddRow("c", first+1, nil))
	parts, err := p.Read(t.Context(), db)
	if err != nil || len(parts) != 3 {
		t.Fatalf("%+v, %v", parts, err)
	}
	next := at.Add(time.Millisecond)
	for i, want := range [][2]time.Time{{{}, at}, {at, next}, {at, {}}} {
		if got := parts[i]; !got.From.Equal(want[0]) || !got.To.Equal(want[1]) {
			t.Errorf("%s: from %v to %v, want %v", got.Name, got.From, got.To, want)
		}
	}
}

// The nightly job of a table whose layout is younger than what is kept, on each
// day from before the epoch to where the first rows are old: it makes what is
// missing and drops what is old, and until then nothing is.
func TestRetentionOfAYoungLayout(t *testing.T) {
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	layout := core.Layout{Epoch: epoch, TimeBits: 41, WorkerBits: 10, SequenceBits: 12}
	for _, d := range []Dialect{Postgres, MySQL} {
		p := Partitioning{Dialect: d, Layout: layout, Table: "orders", By: Day}
		var have []Partition
		for day := range 120 {
			now := epoch.AddDate(0, 0, day).Add(3 * time.Hour)
			kept := now.AddDate(0, 0, -90)
			l, err := p.lacking(have, kept, now.AddDate(0, 0, 3))
			if err != nil {
				t.Fatalf("%s, day %d: %v", d, day, err)
			}
			if want := 1; day > 0 && len(l.missing) != want {
				t.Fatalf("%s, day %d: %d are missing, want %d", d, day, len(l.missing), want)
			}
			have = append(have, l.missing...)
			old, err := p.Before(have, kept)
			if want := max(0, min(1, day-90)); err != nil || len(old) != want {
				t.Fatalf("%s, day %d: %d are old, %v, want %d", d, day, len(old), err, want)
			}
			have = have[len(old):]
			if first := epoch.AddDate(0, 0, max(0, day-90)); !have[0].From.Equal(first) {
				t.Fatalf("%s, day %d: the first is %s, want %v", d, day, have[0].Name, first)
			}
		}
	}
}

// What is old at any time, the layout's ends included.
func TestBefore(t *testing.T) {
	for _, layout := range []core.Layout{core.Twitter(), core.Sonyflake(), {TimeBits: 41, SequenceBits: 4}} {
		s := compile(new(fields.Errors), layout)
		end, tick := s.End(), s.Tick
		first := func(at time.Time) int64 {
			id, err := layout.FirstAt(at)
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		middle, last := first(s.Epoch.AddDate(1, 0, 0)), first(end.Add(-tick))
		have := []Partition{
			{Name: "below", Min: math.MinInt64, Max: 0},
			{Name: "low", Min: 0, Max: middle},
			{Name: "high", Min: middle, Max: last},
			{Name: "last", Min: last, Max: math.MaxInt64 - 1}, // above or at every id
			{Name: "none", Min: math.MaxInt64 - 1, Max: math.MaxInt64},
			{Name: "rest", Min: math.MinInt64, Max: 0, Default: true},
		}
		for _, c := range []struct {
			at   time.Time
			want int
		}{
			{time.Time{}, 0},
			{time.Unix(-1<<40, 0), 0},
			{s.Epoch.Add(-1), 0},
			{s.Epoch, 1},
			{s.Epoch.Add(1), 1},
			{s.Epoch.AddDate(1, 0, 0).Add(-tick), 1},
			{s.Epoch.AddDate(1, 0, 0), 2},
			{end.Add(-tick).Add(-1), 3}, // rounded up, to where the last tick begins
			{end.Add(-tick), 3},
			{end.Add(-tick + 1), 4},
			{end.Add(-1), 4},
			{end, 4},
			{end.Add(time.Hour), 4},
			{time.Unix(1<<50, 0), 4},
		} {
			t.Run(fmt.Sprint(c.at), func(t *testing.T) {
				old, err := Partitioning{Dialect: MySQL, Layout: layout, Table: "t", By: Day}.Before(have, c.at)
				if err != nil || fmt.Sprint(old) != fmt.Sprint(have[:c.want]) {
					t.Errorf("%v, before %v: %v, %v, want %d", layout, c.at, old, err, c.want)
				}
			})
		}
	}
}

// From may lie before the epoch, and what there is begins there; to may not.
func TestFromBeforeTheEpoch(t *testing.T) {
	for _, by := range []Period{Day, Week, Month} {
		for _, d := range []Dialect{Postgres, MySQL} {
			epoch := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
			p := Partitioning{Dialect: d, Layout: core.Layout{Epoch: epoch, TimeBits: 41, SequenceBits: 12}, Table: "t", By: by}
			to := epoch.AddDate(0, 2, 0)
			want, err := p.Bounds(epoch, to)
			if err != nil || want[0].Min != 0 || want[0].From.After(epoch) {
				t.Fatalf("%+v, %v", want, err)
			}
			for _, from := range []time.Time{epoch.Add(-1), epoch.AddDate(-1000, 0, 0), {}, time.Unix(-1<<50, 0)} {
				if got, err := p.Bounds(from, to); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("from %v: %v, %v", from, got, err)
				}
				if l, err := p.lacking(want[:1], from, to); err != nil || fmt.Sprint(l.missing) != fmt.Sprint(want[1:]) {
					t.Errorf("missing from %v: %v, %v", from, l.missing, err)
				}
				var out *core.RangeError
				if got, err := p.Bounds(from, epoch); !asError(err, &out) {
					t.Errorf("from %v to the epoch: %v, %v", from, got, err)
				}
			}
			// The least that can be asked for after the epoch.
			if got, err := p.Bounds(epoch.Add(-1), epoch.Add(1)); err != nil || fmt.Sprint(got) != fmt.Sprint(want[:1]) {
				t.Errorf("around the epoch: %v, %v", got, err)
			}
		}
	}
}
