package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
)

// each gives `do` every text that the arguments hold or, with none or with -, that
// standard input holds, and says where it stands. split takes the texts out of an
// argument or a line.
func (a *app) each(cmd *cobra.Command, args []string, split func(string) []string, do func(where, text string)) error {
	if len(args) == 0 || len(args) == 1 && args[0] == "-" {
		return a.eachLine(cmd, split, do)
	}
	if slices.Contains(args, "-") {
		return usage("- stands for standard input, and must be alone")
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

// mostLine bounds a line of standard input.
const mostLine = 1 << 20

func (a *app) eachLine(cmd *cobra.Command, split func(string) []string, do func(where, text string)) error {
	if a.InTTY {
		a.note("%s", a.errStyle.faint("reading standard input, Ctrl-D ends"))
	}
	ctx := cmd.Context()
	lines, long, any := a.lines(ctx), 0, false
	for n := 1; a.out.err == nil; n++ {
		var l line
		select {
		case l = <-lines:
		case <-ctx.Done():
			return errors.New("interrupted")
		}
		if errors.Is(l.err, errLong) {
			long++
			a.report(cmd, fmt.Sprintf("line %d", n), "", fmt.Errorf("longer than %s bytes, left out", grouped(mostLine)))
			continue
		}
		for _, text := range split(l.text) {
			any = true
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
		return errTold
	}
	if !any && a.out.err == nil {
		return errors.New("there is nothing on standard input; give arguments, or a line each")
	}
	return nil
}

type line struct {
	text string
	err  error // io.EOF at the last, errLong for one that was left out
}

// lines reads standard input aside, so that an interrupt need not wait for it.
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

// readLine reads a line; one that is too long is read to its end and left out.
func readLine(r *bufio.Reader) (string, error) {
	var text []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(text)+len(part) > mostLine; long {
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

// report tells of an input that cannot be taken; the others go on.
func (a *app) report(cmd *cobra.Command, where, text string, err error) {
	if text != "" {
		text = quote(dsn.Hide(text, a.secrets)) + ": "
	}
	a.note("%s %s: %s%s", a.errStyle.bad(cmd.CommandPath()+":"), where, text, a.clean(err))
}
