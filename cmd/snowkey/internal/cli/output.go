package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/schollz/progressbar/v3"
)

// style adds colours to text, or none.
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

// object prints indented JSON.
func (a *app) object(v any) error { return a.encode(v, "  ") }

// line prints JSON on one line.
func (a *app) line(v any) error { return a.encode(v, "") }

func (a *app) encode(v any, indent string) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(v)
}

// table prints rows in columns; the first is the head. Cells have no colours, which
// tabwriter would count as text.
func (a *app) table(rows [][]string) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush()
	for i, line := range strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n") {
		line = strings.TrimRight(line, " ")
		if i == 0 {
			line = a.style.faint(line)
		}
		fmt.Fprintln(a.out, line)
	}
}

// plural counts things: 1 ID, 2,000 IDs.
func plural(n int64, what string) string {
	return humanize.Comma(n) + " " + english.PluralWord(int(min(n, 2)), what, "")
}

// progress shows a bar if standard error is a terminal. add advances it; done removes it
// and must be called before anything is printed.
func (a *app) progress(total int64, what string) (add func(int), done func()) {
	if !a.ErrTTY {
		return func(int) {}, func() {}
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(a.Err), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionSetWidth(30),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true),
	}
	if what == "IDs" {
		options = append(options, progressbar.OptionShowIts(), progressbar.OptionSetItsString(what))
	}
	bar := progressbar.NewOptions64(total, options...)
	return func(n int) { _ = bar.Add(n) }, func() { _ = bar.Finish() }
}
