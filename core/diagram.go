package core

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Diagram draws the fields with their bits, from high to low. For a layout that
// is not valid it says why.
func (l Layout) Diagram() string {
	s, err := l.shape()
	if err != nil {
		return err.Error() + "\n"
	}
	var top, names, widths []string
	high := 63
	column := func(name string, bits uint8) {
		if bits == 0 {
			return
		}
		low := high - int(bits) + 1
		if bits == 1 {
			top = append(top, fmt.Sprint(high))
		} else {
			top = append(top, fmt.Sprintf("%d … %d", high, low))
		}
		names, widths = append(names, name), append(widths, plural(int(bits), "bit"))
		high = low - 1
	}
	column("0", uint8(64-s.total))
	column("time", s.layout.TimeBits)
	for _, f := range s.layout.fieldsBelowTime() {
		column(f.name, f.bits)
	}
	var b strings.Builder
	row := func(left, between, right string, cell func(i, width int) string) {
		cells := make([]string, len(names))
		for i := range names {
			cells[i] = cell(i, 2+max(utf8.RuneCountInString(top[i]), len(names[i]), len(widths[i])))
		}
		b.WriteString(strings.TrimRight(left+strings.Join(cells, between)+right, " ") + "\n")
	}
	padded := func(of []string) func(i, width int) string {
		return func(i, width int) string {
			return " " + of[i] + strings.Repeat(" ", width-1-utf8.RuneCountInString(of[i]))
		}
	}
	line := func(_, width int) string { return strings.Repeat("─", width) }
	row(" ", " ", "", padded(top))
	row("┌", "┬", "┐", line)
	row("│", "│", "│", padded(names))
	row("│", "│", "│", padded(widths))
	row("└", "┴", "┘", line)
	return b.String()
}

// Explain draws one id: its bits, field by field, and what each field says.
// An id that is not of this layout is an error, as in Decode.
func (l Layout) Explain(id int64) (string, error) {
	s, err := l.shape()
	if err != nil {
		return "", err
	}
	p, err := s.decompose(id)
	if err != nil {
		return "", err
	}
	values := map[string]any{"roll-back": p.Rollback, "datacenter": p.Datacenter, "worker": p.Worker, "sequence": p.Sequence}
	fields := []field{{"time", s.layout.TimeBits}}
	legend := []string{p.Time.Format("2006-01-02T15:04:05.000Z")}
	for _, f := range s.layout.fieldsBelowTime() {
		if f.bits > 0 {
			fields, legend = append(fields, f), append(legend, fmt.Sprint(values[f.name]))
		}
	}
	all := fmt.Sprintf("%064b", uint64(id))
	at := 64 - int(s.total)
	groups := []string{}
	if at > 0 {
		groups = append(groups, all[:at])
	}
	var starts []int // the column at which each field's bits begin
	for _, f := range fields {
		starts = append(starts, at+len(groups))
		groups = append(groups, all[at:at+int(f.bits)])
		at += int(f.bits)
	}
	var b strings.Builder
	b.WriteString(strings.Join(groups, " ") + "\n")
	for i := len(fields) - 1; i >= 0; i-- {
		column := 0
		for _, start := range starts[:i] {
			b.WriteString(strings.Repeat(" ", start-column) + "│")
			column = start + 1
		}
		b.WriteString(strings.Repeat(" ", starts[i]-column) + "└ " + fields[i].name + " " + legend[i] + "\n")
	}
	return b.String(), nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
