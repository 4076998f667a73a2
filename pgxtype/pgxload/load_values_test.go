package pgxload_test

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
)

type valuer func() (driver.Value, error)

func (f valuer) Value() (driver.Value, error) { return f() }

// Load stores the value that it was given, or refuses it. pgx alone stores another value for each of these.
func TestLoadRefusesOtherValues(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create domain amount as bigint;
		create table v (vb varbit, b8 bit(8), i2 smallint, i4 int, i8 bigint, dom amount, o oid, f4 real, f8 double precision, num numeric, at timestamptz, wall timestamp,
			day date, clock time, span interval, pair point, b box, u uuid, flag bool, net inet, ints bigint[], floats real[], ranges int8range, times timestamptz[], bits varbit[])`)
	late, later := time.Date(700_000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(7_000_000, 1, 1, 0, 0, 0, 0, time.UTC)
	early := time.Date(-300_000, 1, 1, 0, 0, 0, 0, time.UTC)
	type number float64
	for _, tt := range []struct {
		column string
		values row
	}{
		{"vb", row{"abc", "0b1", new("12"), " 01", valuer(func() (driver.Value, error) { return "abc", nil })}},
		{"b8", row{"0000000x"}},
		{"f8", row{"1_000", new("1_0"), "0x_1p2", int64(1<<53 + 1), new(int64(1<<53 + 1)), new(int(math.MaxInt64)), pgtype.Int8{Int64: 1<<53 + 1, Valid: true}, uint64(1<<53 + 1)}},
		{"f4", row{1e300, new(1e300), -1e300, 1e-300, number(1e300), "1e300", int64(1<<24 + 1), new(1<<24 + 1), sql.NullFloat64{Float64: 1e300, Valid: true}, pgtype.Float8{Float64: 1e300, Valid: true}}},
		{"i8", row{math.NaN(), new(math.NaN()), math.Inf(-1), math.Inf(1), 1.5, new(1.5), float32(1.5), number(0.5), -1e300, float64(1 << 63), pgtype.Float8{Float64: math.NaN(), Valid: true},
			sql.NullFloat64{Float64: 1.5, Valid: true}, "1.5", "1_000", valuer(func() (driver.Value, error) { return 1.5, nil })}},
		{"i4", row{1.5, math.NaN(), new(-0.5)}},
		{"i2", row{1.5, new(1.5)}},
		{"dom", row{1.5, new(1.5), "x"}},
		{"o", row{1.5, -0.5, math.NaN()}},
		{"num", row{"1_000", ".-5", "1.-5", "x"}},
		{"at", row{late, new(late), early, "700000-01-01 00:00:00Z", pgtype.Timestamptz{Time: late, Valid: true}, "2026-02-30 00:00:00Z", sql.NullTime{Time: late, Valid: true}}},
		{"wall", row{late, new(late), early, pgtype.Timestamp{Time: late, Valid: true}, "2026-02-30 00:00:00"}},
		{"day", row{later, new(later), pgtype.Date{Time: later, Valid: true}, "2026-02-30", "2026-01-01 23:00:00"}},
		{"clock", row{"01:-5:00", "00:61:00", "+1:00:00", "01:00:99"}},
		{"span", row{"1 day 2 day", "00:99:99", "5000000000 days"}},
		{"pair", row{"[1,5)", "(1_0,5)", "x1,5x"}},
		{"b", row{"[1,2),(3,4]"}},
		{"u", row{"6ba7b810x9dad-11d1-80b4-00c04fd430c8"}},
		{"net", row{"10.0.0.256", "010.0.0.1", "fe80::1%eth0"}},
		{"flag", row{" ", "o", " O ", "x"}},
		{"ints", row{[]float64{1, 1.5}, new([]float64{math.NaN()}), "{1.5}"}},
		{"floats", row{[]float64{1e300}, "{1_000}", []int64{1<<24 + 1}}},
		{"ranges", row{pgtype.Range[float64]{Lower: 1.5, Upper: 2.5, LowerType: pgtype.Inclusive, UpperType: pgtype.Exclusive, Valid: true}}},
		{"times", row{[]time.Time{late}}},
		{"bits", row{[]string{"abc"}, "{abc}"}},
	} {
		for name, method := range methods {
			for _, v := range tt.values {
				_, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method}, writeRows("v", tt.column, row{v}))
				if err == nil {
					t.Errorf("%s: %T %v to %s became %s", name, v, v, tt.column, ask[string](t, s, `select `+tt.column+`::text from v`))
					s.exec(t, `truncate v`)
				} else if at(err).Column != tt.column {
					t.Errorf("%s: %T %v to %s: %v", name, v, v, tt.column, err)
				}
			}
		}
	}
}

// What is given in another type is stored where both mean the same.
func TestLoadOtherTypes(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table v (vb varbit, i2 smallint, i8 bigint, o oid, f4 real, f8 double precision, num numeric, at timestamptz, wall timestamp,
			day date, clock time, span interval, pair point, u uuid, flag bool, net inet, mac macaddr, raw bytea, ints bigint[], texts text[], doc jsonb)`)
	last := time.Date(294_000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		column string
		value  any
		want   string
	}{
		{"vb", "0101", "0101"}, {"i8", 7.0, "7"}, {"i8", new(-7.0), "-7"}, {"i8", float32(1 << 20), "1048576"}, {"i8", -float64(1 << 63), "-9223372036854775808"}, {"i8", "007", "7"}, {"i2", 7.0, "7"},
		{"i8", pgtype.Float8{Float64: 3, Valid: true}, "3"}, {"i8", pgtype.Float8{}, "-"}, {"i8", sql.NullFloat64{}, "-"}, {"o", 7.0, "7"},
		{"f4", 0.1, "0.1"}, {"f4", math.Inf(1), "Infinity"}, {"f4", 0.0, "0"}, {"f4", int64(1 << 30), "1.0737418e+09"}, {"f4", math.NaN(), "NaN"}, {"f8", "1e3", "1000"}, {"f8", "0.50", "0.5"}, {"f8", 7, "7"}, {"f8", "NaN", "NaN"},
		{"num", 1.5, "1.5"}, {"num", "1.50", "1.50"}, {"num", "-0.5", "-0.5"}, {"num", "100", "100"}, {"num", ".5", "0.5"}, {"num", "007", "7"}, {"num", "+1.5", "1.5"}, {"num", "-.5", "-0.5"}, {"span", "1 day", "1 day"}, {"flag", "off", "f"}, {"flag", " t", "t"}, {"num", math.MaxInt64, "9223372036854775807"}, {"num", new(5), "5"},
		{"at", last, "294000-01-01 00:00:00+00"}, {"at", "2026-11-21 08:00:00+02", "2026-11-21 06:00:00+00"}, {"at", pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}, "infinity"}, {"wall", "2026-11-21 08:00:00.5", "2026-11-21 08:00:00.5"},
		{"wall", new(time.Date(2026, 7, 1, 1, 30, 0, 1500, time.FixedZone("", -3*3600))), "2026-07-01 01:30:00.000001"}, {"day", new(time.Date(1600, 2, 29, 23, 0, 0, 0, time.FixedZone("", -3*3600))), "1600-02-29"},
		{"day", "2026-11-21", "2026-11-21"}, {"day", last, "294000-01-01"}, {"clock", "08:09:10", "08:09:10"}, {"clock", "08:09:10.5", "08:09:10.5"}, {"span", time.Minute, "00:01:00"},
		{"pair", "(1,5)", "(1,5)"}, {"u", "6BA7B810-9dad-11d1-80b4-00c04fd430c8", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}, {"flag", "yes", "t"}, {"net", "10.0.0.1", "10.0.0.1/32"}, {"net", "10.0.0.0/8", "10.0.0.0/8"},
		{"mac", "08:00:2b:01:02:03", "08:00:2b:01:02:03"}, {"raw", `\x74`, `\x74`}, {"raw", []byte("t"), `\x74`}, {"ints", []float64{1, 2}, "{1,2}"}, {"ints", "{1,2}", "{1,2}"}, {"texts", []string{"a", "b c"}, `{a,"b c"}`}, {"doc", `{"n": 1.50}`, `{"n": 1.50}`},
	} {
		for name, method := range methods {
			if method == pgxload.Unnest && (tt.column == "ints" || tt.column == "texts") {
				continue
			}
			_, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method}, writeRows("v", tt.column, row{tt.value}))
			if err != nil {
				t.Errorf("%s: %T %v to %s: %v", name, tt.value, tt.value, tt.column, err)
			} else if got := ask[string](t, s, fmt.Sprintf(`select coalesce(string_agg(coalesce(%s::text, '-'), '; '), 'no row') from v`, tt.column)); got != tt.want && (tt.column != "flag" || got[:1] != tt.want) {
				t.Errorf("%s: %T %v to %s: %s, want %s", name, tt.value, tt.value, tt.column, got, tt.want)
			}
			s.exec(t, `truncate v`)
		}
	}
}
