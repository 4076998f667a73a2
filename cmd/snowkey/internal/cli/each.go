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

// A splitFunc returns the texts in an argument or a line.
type splitFunc func(line string) []string

// maxLine bounds a line of standard input. A list of fifty thousand IDs fits.
const maxLine = 1 << 20

var errInterrupted = errors.New("interrupted")

// each calls do for each text in the arguments or, with none or with -, in the lines of standard
// input, and reports errors with the position.
func (a *app) each(cmd *cobra.Command, args []string, split splitFunc, do func(text string) error) error {
	ctx, what, failed := cmd.Context(), "argument", false
	each := func(n int, texts []string) {
		for _, text := range texts {
			if err := do(text); err != nil {
				failed = true
				if text != "" {
					text = fmt.Sprintf("%q: ", short(dsn.Hide(text, a.secrets)))
				}
				a.note("%s %s %d: %s%s", a.errStyle.bad(cmd.CommandPath()+":"), what, n, text, a.clean(err))
			}
		}
	}
	switch {
	case len(args) == 0 || len(args) == 1 && args[0] == "-":
		what = "line"
		if a.InTTY {
			a.note("%s", a.errStyle.faint("reading standard input, end with Ctrl-D"))
		}
		n, found := 0, false
		lines := bufio.NewScanner(&input{ctx, a.out, a.In})
		lines.Buffer(make([]byte, 64<<10), maxLine)
		broken := func() bool {
			_, err := a.out.Write(nil)
			return err != nil
		}
		for lines.Scan() && ctx.Err() == nil && !broken() {
			n++
			texts := split(lines.Text())
			found = found || len(texts) > 0
			each(n, texts)
		}
		switch err := lines.Err(); {
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
	if failed {
		return errReported
	}
	return nil
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
		a.print(line, "\n")
		return nil
	})
}
