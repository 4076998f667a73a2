package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Markdown is the whole report; charts are the names of the pictures' files,
// which it shows.
func Markdown(p *Parsed, all []*Series, charts []string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# Benchmarks: the figures\n\nMade by a command from the text beside this file; do not edit.\n\n| | |\n|---|---|\n")
	for _, k := range p.Head {
		fmt.Fprintf(&b, "| %s | %s |\n", k.Name, cell(k.Value))
	}
	b.WriteString("\nA cell is the median of all runs, ± half the range between the quartiles, and in brackets its ratio to ours " +
		"(**bold**). More is better where the unit ends in /s, less is in all others. `floor…` is the bare work that anything of the kind must do; where " +
		"goroutines contend for one word it is no bound, since lost swaps count for more than the work.\n\n")
	writeLosses(&b, p, all)
	for _, c := range charts {
		fmt.Fprintf(&b, "![%s](%s)\n\n", strings.TrimSuffix(c, ".svg"), c)
	}
	known := map[string]bool{}
	for _, s := range sections() {
		known[s.Function] = true
		writeSection(&b, s, all)
	}
	for _, s := range all { // what has no section is not left out
		if !known[s.Function] {
			known[s.Function] = true
			var units []string
			for _, other := range all {
				if other.Function == s.Function && !slices.Contains(units, other.Unit) {
					units = append(units, other.Unit)
				}
			}
			writeSection(&b, section{Function: s.Function, Title: s.Function, Units: units}, all)
		}
	}
	return b.Bytes(), nil
}

func writeLosses(w io.Writer, p *Parsed, all []*Series) {
	losses := Losses(p, all)
	if len(losses) == 0 {
		fmt.Fprint(w, "## Where we lose\n\nNowhere by more than 3 % and more than chance, in what was measured here.\n\n")
		return
	}
	fmt.Fprint(w, "## Where we lose\n\nEvery rival that is better than the best of our ways by more than 3 % and more than chance. "+
		"That includes keys that are less work by nature, such as a counter that the database keeps, and settings that nobody would choose.\n\n"+
		"| benchmark | | rival | its figure | ours | times | |\n|---|---|---|--:|--:|--:|---|\n")
	for _, l := range losses {
		times, few := "–", ""
		if l.Worse > 0 {
			times = number(l.Worse)
		}
		if l.Few {
			few = "few runs"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s %s | %s | %s | %s |\n", l.Ours.Function, cell(l.Ours.Condition), cell(l.Rival.Pivot),
			number(l.Rival.Median), l.Rival.Unit, number(l.Ours.Median), times, few)
	}
	fmt.Fprintln(w)
}

func writeSection(w io.Writer, s section, all []*Series) {
	titled := false
	for _, unit := range s.Units {
		var list []*Series
		for _, x := range all {
			if x.Function == s.Function && x.Unit == unit {
				list = append(list, x)
			}
		}
		if len(list) == 0 {
			continue
		}
		if !titled {
			titled = true
			fmt.Fprintf(w, "## %s\n\n", s.Title)
			if s.About != "" {
				fmt.Fprintf(w, "%s\n\n", s.About)
			}
		}
		for _, part := range split(list) {
			writeTable(w, unit, part)
		}
	}
}

// split makes several tables of what would be too wide or too long for one: by
// the first key.
func split(list []*Series) [][]*Series {
	conditions, pivots := names(list)
	if len(conditions) <= 8 || len(list[0].Keys) < 2 && len(pivots) < 8 {
		return [][]*Series{list}
	}
	var parts [][]*Series
	index := map[string]int{}
	for _, s := range list {
		first := ""
		if len(s.Keys) > 0 {
			first = s.Keys[0].Value
		}
		i, ok := index[first]
		if !ok {
			i = len(parts)
			index[first] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], s)
	}
	return parts
}

// names are the conditions and the values of the pivot: ours first, floors last.
// Runs begin at another case each time, so the order of appearance means nothing
// for the rivals.
func names(list []*Series) (conditions, pivots []string) {
	for _, s := range list {
		if !slices.Contains(conditions, s.Condition) {
			conditions = append(conditions, s.Condition)
		}
		if !slices.Contains(pivots, s.Pivot) {
			pivots = append(pivots, s.Pivot)
		}
	}
	slices.SortFunc(conditions, natural)
	slices.SortFunc(pivots, func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return natural(a, b)
	})
	return conditions, pivots
}

func rank(pivot string) int {
	switch {
	case base(pivot):
		return 0
	case ours(pivot):
		return 1
	case floor(pivot):
		return 3
	default:
		return 2
	}
}

// natural compares texts, with the numbers in them by their value.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x > 0 && y > 0 {
			m, errM := strconv.ParseUint(a[:x], 10, 64)
			n, errN := strconv.ParseUint(b[:y], 10, 64)
			if errM == nil && errN == nil && m != n {
				if m < n {
					return -1
				}
				return 1
			}
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// writeTable has a row for each rival, or for each condition where those are
// more, so that tables are long rather than wide.
func writeTable(w io.Writer, unit string, list []*Series) {
	conditions, pivots := names(list)
	at := map[[2]string]*Series{}
	for _, s := range list {
		at[[2]string{s.Condition, s.Pivot}] = s
	}
	rows, columns, turned := pivots, conditions, false
	if len(conditions) > len(pivots) {
		rows, columns, turned = conditions, pivots, true
	}
	fmt.Fprintf(w, "| %s |", unit)
	for _, c := range columns {
		fmt.Fprintf(w, " %s |", cell(c))
	}
	fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("--:|", len(columns)))
	for _, r := range rows {
		fmt.Fprintf(w, "| %s |", cell(r))
		for _, c := range columns {
			condition, pivot := c, r
			if turned {
				condition, pivot = r, c
			}
			s := at[[2]string{condition, pivot}]
			if s == nil {
				fmt.Fprint(w, " |")
				continue
			}
			b := at[[2]string{condition, "snowkey"}]
			if b == nil {
				b = at[[2]string{condition, "snowflake"}]
			}
			fmt.Fprintf(w, " %s |", figure(s, b))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}

func figure(s, ours *Series) string {
	text := number(s.Median)
	if s == ours {
		text = "**" + text + "**"
	}
	if s.Spread >= 0.005 {
		text += fmt.Sprintf(" ±%.0f%%", 100*s.Spread)
	}
	if ours != nil && s != ours && ours.Median != 0 {
		text += " (" + number(s.Median/ours.Median) + "×)"
	}
	return text
}

// cell is a text that may stand in a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// number has three digits that count, or all before the point, in groups.
func number(v float64) string {
	switch {
	case v < 0:
		return "-" + number(-v)
	case v == 0:
		return "0"
	case v < 0.01:
		return fmt.Sprintf("%.2g", v)
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	case v >= 1e18 || v != v:
		return fmt.Sprintf("%.3g", v)
	}
	text := fmt.Sprintf("%.0f", v)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
