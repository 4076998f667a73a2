package report

import (
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
)

// pivots are the keys of what is compared.
var pivots = []string{"lib", "key", "way"}

// Series is all that was measured of one benchmark in one unit.
type Series struct {
	Function  string
	Condition string // all keys but the pivot: "db=postgres batch=100"
	Keys      []Key
	Pivot     string // the value of the pivot: who
	Unit      string
	Runs      []float64 // in the order of the text

	Median  float64
	Spread  float64 // half the range between the quartiles as a share of the median
	sample  *benchmath.Sample
	isFloor bool
	isOurs  bool
}

func floor(pivot string) bool { return strings.HasPrefix(pivot, "floor") }

// base tells whether a value of the pivot is what ratios are taken to.
func base(pivot string) bool { return pivot == "snowkey" || pivot == "snowflake" }

func ours(pivot string) bool {
	return base(pivot) || strings.HasPrefix(pivot, "snowkey-") || strings.HasPrefix(pivot, "snowflake-")
}

// Collect joins the runs of each benchmark and unit, in the order in which they
// first appear. A name without a pivot stands for itself, with no rival.
func Collect(p *Parsed) []*Series {
	var all []*Series
	index := map[string]*Series{}
	for _, r := range p.Results {
		var condition []string
		var pivot string
		var keys []Key
		for _, k := range r.Name.Keys {
			if slices.Contains(pivots, k.Name) {
				pivot = k.Value
				continue
			}
			keys = append(keys, k)
			condition = append(condition, strings.TrimPrefix(k.Name+"="+k.Value, "="))
		}
		for _, unit := range units(r) {
			id := strings.Join([]string{r.Name.Function, strings.Join(condition, " "), pivot, unit}, "\x00")
			s := index[id]
			if s == nil {
				s = &Series{
					Function: r.Name.Function, Condition: strings.Join(condition, " "), Keys: keys,
					Pivot: pivot, Unit: unit, isFloor: floor(pivot), isOurs: ours(pivot),
				}
				index[id] = s
				all = append(all, s)
			}
			s.Runs = append(s.Runs, r.Values[unit])
		}
	}
	for _, s := range all {
		s.sum()
	}
	return all
}

func units(r Result) []string {
	var list []string
	for u := range r.Values {
		list = append(list, u)
	}
	slices.Sort(list) // a map has no order, and the report is to have one
	return list
}

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

// differs reports whether two series differ by more than chance. Too few runs
// cannot tell, and then whatever is not equal differs.
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
