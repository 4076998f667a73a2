package core

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Diagram draws the fields and their bits as a table, from high to low. For an invalid layout
// it returns the text of the error instead.
func (l Layout) Diagram() string {
	c, err := l.compile()
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
	column("0", uint8(64-c.used))
	for _, f := range c.fields() {
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

// Explain draws the bits of one id, with the value of each field below them. It returns the
// errors of [Layout.Decode].
func (l Layout) Explain(id int64) (string, error) {
	c, err := l.compile()
	if err != nil {
		return "", err
	}
	p, err := c.decode(id)
	if err != nil {
		return "", err
	}
	values := map[string]any{
		"time": p.Time.Format("2006-01-02T15:04:05.000Z"), "roll-back": p.Rollback,
		"datacenter": p.Datacenter, "worker": p.Worker, "sequence": p.Sequence,
	}
	digits := fmt.Sprintf("%064b", uint64(id))
	at := 64 - int(c.used)
	var groups []string
	if at > 0 {
		groups = append(groups, digits[:at])
	}
	fields := c.fields()
	var starts []int // the column at which each field begins
	for _, f := range fields {
		starts = append(starts, at+len(groups))
		groups = append(groups, digits[at:at+int(f.bits)])
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
		fmt.Fprintf(&b, "%s└ %s %v\n", strings.Repeat(" ", starts[i]-column), fields[i].name, values[fields[i].name])
	}
	return b.String(), nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
