package report

import "slices"

// Loss is a benchmark in which a rival is better than we are.
type Loss struct {
	Ours, Rival *Series
	Worse       float64 // how many times better the rival is, above 1; 0 if it needs nothing at all
	Few         bool    // too few runs to tell it from chance
}

// Losses are all of them, in the order of the series, in the figures that stand
// in the report's tables. A difference below 3 % or one that may be chance is
// none. Where we have several ways, the best of them is what a rival must beat.
func Losses(p *Parsed, all []*Series) []Loss {
	best := map[string]*Series{}
	for _, s := range all {
		if !s.isOurs {
			continue
		}
		id := s.place()
		if b := best[id]; b == nil || (s.Median-b.Median)*float64(p.direction(s.Unit)) > 0 {
			best[id] = s
		}
	}
	var list []Loss
	for _, s := range all {
		o := best[s.place()]
		if s.isOurs || s.isFloor || o == nil || !shown(s) || !differs(o, s) {
			continue
		}
		more, less := o.Median, s.Median // where less is better, the rival has less
		if p.direction(s.Unit) > 0 {
			more, less = less, more
		}
		if more < 1.03*less || more == less {
			continue
		}
		loss := Loss{Ours: o, Rival: s, Few: min(len(o.Runs), len(s.Runs)) < enough}
		if less > 0 {
			loss.Worse = more / less
		}
		list = append(list, loss)
	}
	return list
}

// place is where series are compared with one another.
func (s *Series) place() string { return s.Function + "\x00" + s.Condition + "\x00" + s.Unit }

// shown reports whether the figure has a table. A benchmark without a section
// shows all of its own.
func shown(s *Series) bool {
	for _, section := range sections() {
		if section.Function == s.Function {
			return slices.Contains(section.Units, s.Unit)
		}
	}
	return true
}
