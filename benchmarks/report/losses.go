package report

import "slices"

// Loss is a benchmark in which a rival is better than we are.
type Loss struct {
	Ours, Rival *Series
	Worse       float64 // how many times better the rival is, above 1; 0 if it needs nothing at all
	Few         bool    // too few runs to exclude chance
}

// Losses returns all losses in the figures that the report's tables show, in the order of the
// series. A difference below 3 %, or one that may be chance, is not a loss. If we have several
// ways, a rival must beat the best of them.
func Losses(p *Parsed) []Loss {
	best := map[string]*Series{}
	for _, s := range p.Series {
		if rank(s.Pivot) > rankOurs {
			continue
		}
		id := s.group()
		if b := best[id]; b == nil || (s.Median-b.Median)*float64(p.direction(s.Unit)) > 0 {
			best[id] = s
		}
	}
	var list []Loss
	for _, s := range p.Series {
		o := best[s.group()]
		if rank(s.Pivot) != rankRival || o == nil || !shown(s) || !differs(o, s) {
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
