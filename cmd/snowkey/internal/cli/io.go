package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
)

// style adds colours to text, or none.
type style bool

const (
	bold   = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (s style) paint(code, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// object prints indented JSON.
func (a *app) object(v any) error {
	enc := newEncoder(a.out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// line prints JSON on one line.
func (a *app) line(v any) error { return a.lines.Encode(v) }

func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// table prints rows in columns; the first is the head.
func (a *app) table(rows [][]string) {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
	_ = w.Flush()
}

// plural counts things: 1 id, 2,000 ids.
func plural(n int64, what string) string {
	return humanize.Comma(n) + " " + english.PluralWord(int(min(n, 2)), what, "")
}

// progress returns a function that shows the progress of a fill by a bar, if standard error is a
// terminal, and one that removes the bar, which must be called before anything is printed.
func (a *app) progress() (show func(what string, filled, total int64), done func()) {
	var bar *progressbar.ProgressBar
	show = func(what string, filled, total int64) {
		if bar == nil && a.ErrTTY {
			bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(a.Err), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
				progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true))
		}
		if bar != nil {
			_ = bar.Set64(filled)
		}
	}
	return show, func() {
		if bar != nil {
			_ = bar.Finish()
			bar = nil
		}
	}
}

// A usageError reports a wrong command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

// usage returns a usageError.
func usage(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// invalidValue reports the value of a flag or an argument.
func invalidValue(name, value string, err error) error {
	return usage("%s %q: %w", name, truncate(value), err)
}

// moment parses the time in a flag or an argument.
func (a *app) moment(name, text string, zone *time.Location) (time.Time, error) {
	t, err := timetext.Parse(text, a.now(), zone)
	if err != nil {
		return time.Time{}, invalidValue(name, text, err)
	}
	return t, nil
}

var (
	// errReported is returned by a command that has reported its errors.
	errReported = errors.New("already reported")
	// errCheck is returned when a check failed; the output says which.
	errCheck = errors.New("a check failed")
)

// truncate shortens a value for a message. Passwords are hidden first, because half of one
// would not be found later.
func truncate(s string) string {
	s = dsn.Hide(s, dsn.Secrets(s))
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}

// finish reports the error, if any, and returns the exit code.
func (a *app) finish(path string, err error) int {
	flushed := a.out.Flush()
	if errors.Is(flushed, syscall.EPIPE) && !a.failed && (err == nil || errors.Is(err, syscall.EPIPE)) {
		return exitOK // the reader has ended; other errors still count
	}
	if err == nil && flushed != nil {
		a.started, err = true, fmt.Errorf("write standard output: %w", dsn.Bare(flushed))
	}
	var bad *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errReported):
		return exitFailed
	case errors.Is(err, errCheck):
		return exitCheck
	case errors.As(err, &bad) || !a.started: // cobra's own errors come before a command starts
		fmt.Fprintf(a.Err, "%s %s\nSee %s.\n", a.errStyle.paint(red, path+":"), a.clean(err), a.errStyle.paint(bold, path+" --help"))
		return exitUsage
	}
	fmt.Fprintf(a.Err, "%s %s\n", a.errStyle.paint(red, path+":"), a.clean(err))
	return exitFailed
}

// flagOf has the flag of each field in a *core.ConfigError.
var flagOf = map[string]string{ //nolint:gochecknoglobals // constant
	"Layout.Epoch": "--epoch", "Layout.Tick": "--tick", "Layout.TimeBits": "--time-bits", "Layout.SequenceBits": "--sequence-bits", "Layout.Unsigned": "--unsigned",
	"Layout.TimeBits+RollbackBits+DatacenterBits+WorkerBits+SequenceBits": "the layout's widths",
	"NotBefore": "--not-before", "Worker": "--worker", "Workers": "--worker", "Datacenter": "--datacenter", "Sequence": "--sequence", "Count": "--count",
	"Prefix": "--prefix", "Separator": "--separator", "Location": "--tz", "Hosts": "--host", "Token": "--token-file",
	"Table": "--table", "table": "--table", "name": "--table", "Column": "--column", "column": "--column", "Schema": "--schema", "schema": "--schema", "prefix": "--prefix",
	"Dialect": "--dialect", "dialect": "--dialect", "View": "--view", "view": "--view", "From": "--from", "from": "--from", "To": "--to", "to": "--to", "By": "--by", "by": "--by",
	"Servers": "--server", "Field": "--by", "Namespace": "--namespace", "MaxAhead": "--max-ahead",
	"Generator": "--generator", "StopBefore": "--stop-before", "Finish": "--finish", "References": "--references",
	"LockTimeout": "--lock-timeout", "HoldTimeout": "--hold-timeout", "Patience": "--patience", "BatchSize": "--batch", "FireTriggers": "--fire-triggers",
	"Pause": "--pause", "Backfill.CreatedAt": "--created-at", "CreatedAt": "--created-at", "Unit": "--unit",
	"Backfill.Namespace": "--namespace", "Store": "--lease",
}

// byFlag turns a *core.ConfigError into a usage error that names flags instead of fields.
func byFlag(err error) error {
	var config *core.ConfigError
	if !errors.As(err, &config) {
		return err
	}
	var all []string
	for _, f := range config.Fields {
		f.Field = cmp.Or(flagOf[f.Field], f.Field)
		all = append(all, f.String())
	}
	return usage("%s", strings.Join(all, "; "))
}

// clean returns an error's text without passwords.
func (a *app) clean(err error) string { return dsn.Hide(err.Error(), a.secrets) }

// note prints a message to standard error.
func (a *app) note(format string, args ...any) {
	_ = a.out.Flush() // keeps the order on a terminal
	fmt.Fprintf(a.Err, "%s\n", dsn.Hide(fmt.Sprintf(format, args...), a.secrets))
}

// A splitFunc returns the texts in an argument or a line.
type splitFunc func(line string) []string

// maxLine bounds a line of standard input. A list of fifty thousand ids fits.
const maxLine = 1 << 20

var errInterrupted = errors.New("interrupted")

// each calls do for each text in the arguments or, with none or with -, in the lines of standard
// input, and reports the first errors with the position.
func (a *app) each(cmd *cobra.Command, args []string, split splitFunc, do func(text string) error) error {
	const shown = 10 // more errors are counted
	ctx, what, failed := cmd.Context(), "argument", 0
	var stop error // a wrong command line
	defer func() {
		if failed > shown {
			a.note("%s … and %d more", a.errStyle.paint(red, cmd.CommandPath()+":"), failed-shown)
		}
	}()
	broken := func() bool {
		_, err := a.out.Write(nil)
		return err != nil
	}
	each := func(n int, texts []string) {
		for _, text := range texts {
			if err := do(text); err != nil {
				if errors.As(err, new(*usageError)) {
					stop = err
				}
				if broken() || stop != nil {
					return
				}
				if failed++; failed > shown {
					continue
				}
				if text != "" {
					text = fmt.Sprintf("%q: ", truncate(dsn.Hide(text, a.secrets)))
				}
				a.note("%s %s %d: %s%s", a.errStyle.paint(red, cmd.CommandPath()+":"), what, n, text, a.clean(err))
			}
		}
	}
	switch {
	case len(args) == 0 || len(args) == 1 && args[0] == "-":
		what = "line"
		if a.InTTY {
			a.note("%s", a.errStyle.paint(faint, "reading standard input, end with Ctrl-D"))
		}
		n, found := 0, false
		lines := bufio.NewScanner(&input{ctx, a.out, a.In})
		lines.Buffer(make([]byte, 64<<10), maxLine)
		for stop == nil && lines.Scan() && ctx.Err() == nil && !broken() {
			n++
			texts := split(lines.Text())
			found = found || len(texts) > 0
			each(n, texts)
		}
		switch err := lines.Err(); {
		case stop != nil:
			return stop
		case ctx.Err() != nil:
			return errInterrupted
		case broken(): // finish reports it
			return nil
		case errors.Is(err, bufio.ErrTooLong):
			return fmt.Errorf("read standard input: line %d is longer than %d bytes: put fewer on a line", n+1, maxLine)
		case err != nil:
			return fmt.Errorf("read standard input: line %d: %w", n+1, err)
		case !found:
			return errors.New("standard input is empty; give arguments, or one per line")
		}
	case slices.Contains(args, "-"):
		return usage("- means standard input and must be the only argument")
	default:
		for i, arg := range args {
			texts := split(arg)
			if len(texts) == 0 {
				texts = []string{""}
			}
			each(i+1, texts)
		}
	}
	if stop == nil && failed > 0 {
		return errReported
	}
	return stop
}

// input is standard input. Before it waits, it prints what is there; an interrupt ends the wait.
type input struct {
	ctx context.Context //nolint:containedctx // of one command
	out *bufio.Writer
	in  io.Reader
}

func (r *input) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	if err := r.out.Flush(); err != nil {
		return 0, err
	}
	done := make(chan result, 1)
	go func() {
		n, err := r.in.Read(p)
		done <- result{n, err}
	}()
	select {
	case got := <-done:
		return got.n, got.err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}

// convert turns each text of the input into a line, or into what --json prints instead.
func (a *app) convert(cmd *cobra.Command, args []string, split splitFunc, turn func(text string) (object any, line string, err error)) error {
	return a.each(cmd, args, split, func(text string) error {
		object, line, err := turn(text)
		switch {
		case err != nil:
			return err
		case a.json:
			return a.line(object)
		}
		fmt.Fprint(a.out, line, "\n")
		return nil
	})
}
