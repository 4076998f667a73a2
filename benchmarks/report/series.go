package report

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
)

// Series is all that was measured of one benchmark in one unit.
type Series struct {
	Function  string // without "Benchmark"
	Condition string // all keys but the pivot: "db=postgres batch=100"
	Keys      []Key  // those of the condition
	Pivot     string // the value of the pivot: what is compared; or none, and there is no rival
	Unit      string
	Runs      []float64 // in the order of the text

	Median float64
	Spread float64 // half the range between the quartiles as a share of the median
	sample *benchmath.Sample
}

// Get returns the value of a key, or "".
func (s *Series) Get(key string) string {
	for _, k := range s.Keys {
		if k.Name == key {
			return k.Value
		}
	}
	return ""
}

// group identifies the series that are compared with one another.
func (s *Series) group() string { return s.Function + "\x00" + s.Condition + "\x00" + s.Unit }

// Ranks of a pivot's values, in the order of tables.
const (
	rankBase = iota // ratios are relative to it
	rankOurs        // another way of ours
	rankRival
	rankFloor
)

func rank(pivot string) int {
	switch {
	case pivot == "snowkey" || pivot == "snowflake":
		return rankBase
	case strings.HasPrefix(pivot, "snowkey-") || strings.HasPrefix(pivot, "snowflake-"):
		return rankOurs
	case strings.HasPrefix(pivot, "floor"):
		return rankFloor
	default:
		return rankRival
	}
}

// byRank sorts values of the pivot for tables and charts.
func byRank(a, b string) int { return cmp.Or(rank(a)-rank(b), natural(a, b)) }

func (s *Series) sum() {
	s.sample = benchmath.NewSample(slices.Clone(s.Runs), &benchmath.DefaultThresholds)
	sorted := s.sample.Values
	s.Median = quantile(sorted, 0.5)
	if s.Median != 0 {
		s.Spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2 / s.Median
	}
}

// quantile of sorted values, between neighbours in proportion.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// differs reports whether two series differ by more than chance. With too few runs for the
// test, any difference counts.
func differs(a, b *Series) bool {
	if a.Median == b.Median {
		return false
	}
	if min(len(a.Runs), len(b.Runs)) < enough {
		return true
	}
	c := benchmath.AssumeNothing.Compare(a.sample, b.sample)
	return c.P < c.Alpha
}

// enough runs for the test to come below 5 % at all.
const enough = 4

// direction is 1 where more is better, -1 where less is.
func (p *Parsed) direction(unit string) int8 {
	if d, ok := p.Better[unit]; ok && d != 0 {
		return d
	}
	if strings.HasSuffix(unit, "/s") {
		return 1
	}
	return -1
}
