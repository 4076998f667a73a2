package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
)

// output is standard output; it remembers the first error.
type output struct {
	*bufio.Writer
	err error
}

func newOutput(w io.Writer) *output {
	o := &output{}
	o.Writer = bufio.NewWriterSize(writer{o, w}, 64<<10)
	return o
}

type writer struct {
	o *output
	w io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	if err != nil && w.o.err == nil {
		w.o.err = err
	}
	return n, err
}

// style colours text, or leaves it as it is.
type style bool

func (s style) paint(code, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string  { return s.paint("1", text) }
func (s style) faint(text string) string { return s.paint("2", text) }
func (s style) good(text string) string  { return s.paint("32", text) }
func (s style) warn(text string) string  { return s.paint("33", text) }
func (s style) bad(text string) string   { return s.paint("31", text) }

// object writes a value as indented JSON.
func (a *app) object(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// line writes a value as JSON on a line.
func (a *app) line(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// table writes rows in columns; the first is the head. Cells may be coloured.
func (a *app) table(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], visible(cell))
		}
	}
	for i, row := range rows {
		var b strings.Builder
		for j, cell := range row {
			if i == 0 {
				b.WriteString(a.style.faint(cell))
			} else {
				b.WriteString(cell)
			}
			if j < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[j]-visible(cell)+2))
			}
		}
		fmt.Fprintln(a.out, strings.TrimRight(b.String(), " "))
	}
}

// visible is how many places a text takes: those of its colours are none.
func visible(text string) int {
	n := utf8.RuneCountInString(text)
	for {
		_, after, ok := strings.Cut(text, "\x1b[")
		if !ok {
			return n
		}
		code, rest, _ := strings.Cut(after, "m")
		n -= len("\x1b[") + len(code) + len("m")
		text = rest
	}
}

// progress shows a bar on standard error if that is a terminal. The first result adds
// to it, the second takes it away; only then may something be printed.
func (a *app) progress(total int64, what string) (add func(int), done func()) {
	if !a.ErrTTY {
		return func(int) {}, func() {}
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(a.Err), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionSetWidth(30),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true),
	}
	if what == "ids" {
		options = append(options, progressbar.OptionShowIts(), progressbar.OptionSetItsString(what))
	}
	bar := progressbar.NewOptions64(total, options...)
	return func(n int) { _ = bar.Add(n) }, func() { _ = bar.Finish() }
}
