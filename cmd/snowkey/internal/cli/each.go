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
// input, and says where it is from. split splits an argument or a line into texts.
func (a *app) each(cmd *cobra.Command, args []string, split func(string) []string, do func(where, text string)) error {
	if len(args) == 0 || len(args) == 1 && args[0] == "-" {
		return a.eachLine(cmd, split, do)
	}
	if slices.Contains(args, "-") {
		return usage("- means standard input and must be the only argument")
	}
	for i, arg := range args {
		where := fmt.Sprintf("argument %d", i+1)
		texts := split(arg)
		if len(texts) == 0 {
			do(where, "")
		}
		for _, text := range texts {
			do(where, text)
		}
	}
	return nil
}

// maxLine bounds a line of standard input.
const maxLine = 1 << 20

func (a *app) eachLine(cmd *cobra.Command, split func(string) []string, do func(where, text string)) error {
	if a.InTTY {
		a.note("%s", a.errStyle.faint("reading standard input, end with Ctrl-D"))
	}
	ctx := cmd.Context()
	lines, long, found := a.lines(ctx), 0, false
	for n := 1; a.out.err == nil; n++ {
		var l line
		select {
		case l = <-lines:
		case <-ctx.Done():
			return errors.New("interrupted")
		}
		if errors.Is(l.err, errLong) {
			long++
			a.report(cmd, fmt.Sprintf("line %d", n), "", fmt.Errorf("longer than %s, skipped", humanize.IBytes(maxLine)))
			continue
		}
		for _, text := range split(l.text) {
			found = true
			do(fmt.Sprintf("line %d", n), text)
		}
		if a.InTTY {
			_ = a.out.Flush()
		}
		if errors.Is(l.err, io.EOF) {
			break
		}
		if l.err != nil {
			return fmt.Errorf("read standard input: %w", l.err)
		}
	}
	if long > 0 {
		return errReported
	}
	if !found && a.out.err == nil {
		return errors.New("standard input is empty; give arguments, or one per line")
	}
	return nil
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

// report reports a text that cannot be read.
func (a *app) report(cmd *cobra.Command, where, text string, err error) {
	if text != "" {
		text = fmt.Sprintf("%q: ", short(dsn.Hide(text, a.secrets)))
	}
	a.note("%s %s: %s%s", a.errStyle.bad(cmd.CommandPath()+":"), where, text, a.clean(err))
}
