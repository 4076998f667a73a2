package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
)

// each calls do for each text in the arguments or, with none or with -, in standard
// input, and reports errors with the position. split splits an argument or a line.
func (a *app) each(cmd *cobra.Command, args []string, split func(string) []string, do func(text string) error) (err error) {
	failed := false
	report := func(where, text string, err error) {
		if err == nil {
			return
		}
		failed = true
		if text != "" {
			text = fmt.Sprintf("%q: ", short(dsn.Hide(text, a.secrets)))
		}
		a.note("%s %s: %s%s", a.errStyle.bad(cmd.CommandPath()+":"), where, text, a.clean(err))
	}
	switch {
	case len(args) == 0 || len(args) == 1 && args[0] == "-":
		err = a.eachLine(cmd.Context(), split, do, report)
	case slices.Contains(args, "-"):
		err = usage("- means standard input and must be the only argument")
	default:
		for i, arg := range args {
			texts := split(arg)
			if len(texts) == 0 {
				texts = []string{""}
			}
			for _, text := range texts {
				report(fmt.Sprintf("argument %d", i+1), text, do(text))
			}
		}
	}
	if err == nil && failed {
		return errReported
	}
	return err
}

// maxLine bounds a line of standard input.
const maxLine = 1 << 20

func (a *app) eachLine(ctx context.Context, split func(string) []string, do func(text string) error, report func(where, text string, err error)) error {
	if a.InTTY {
		a.note("%s", a.errStyle.faint("reading standard input, end with Ctrl-D"))
	}
	lines, found := a.lines(ctx), false
	writable := func() bool { _, err := a.out.Write(nil); return err == nil }
	for n := 1; writable(); n++ {
		var l line
		select {
		case l = <-lines:
		case <-ctx.Done():
			return errors.New("interrupted")
		}
		where := fmt.Sprintf("line %d", n)
		if errors.Is(l.err, errLong) {
			found = true
			report(where, "", fmt.Errorf("longer than %s, skipped", humanize.IBytes(maxLine)))
			continue
		}
		for _, text := range split(l.text) {
			found = true
			report(where, text, do(text))
		}
		if a.InTTY {
			_ = a.out.Flush()
		}
		switch {
		case errors.Is(l.err, io.EOF) && !found:
			return errors.New("standard input is empty; give arguments, or one per line")
		case errors.Is(l.err, io.EOF):
			return nil
		case l.err != nil:
			return fmt.Errorf("read standard input: %w", l.err)
		}
	}
	return nil // finish reports the error of the output
}

type line struct {
	text string
	err  error // io.EOF at the last, errLong for a skipped one
}

// lines reads in the background, so that an interrupt does not wait for input.
func (a *app) lines(ctx context.Context) <-chan line {
	lines := make(chan line, 64)
	go func() {
		in := bufio.NewReaderSize(a.In, 64<<10)
		for {
			text, err := readLine(in)
			select {
			case lines <- line{text, err}:
			case <-ctx.Done():
				return
			}
			if err != nil && !errors.Is(err, errLong) {
				return
			}
		}
	}()
	return lines
}

var errLong = errors.New("too long")

// readLine reads a line and skips one that is too long. bufio.Scanner would stop there.
func readLine(r *bufio.Reader) (string, error) {
	var text []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(text)+len(part) > maxLine; long {
			text = nil
		} else {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return "", errLong // the next read finds the end again
		default:
			return string(text), err
		}
	}
}
