package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
)

// A splitFunc returns the texts in an argument or a line.
type splitFunc func(line string) []string

// each calls do for each text in the arguments or, with none or with -, in standard
// input, and reports errors with the position.
func (a *app) each(cmd *cobra.Command, args []string, split splitFunc, do func(text string) error) (err error) {
	failed := false
	report := func(what string, n int, text string, err error) {
		if err == nil {
			return
		}
		failed = true
		if text != "" {
			text = fmt.Sprintf("%q: ", short(dsn.Hide(text, a.secrets)))
		}
		a.note("%s %s %d: %s%s", a.errStyle.bad(cmd.CommandPath()+":"), what, n, text, a.clean(err))
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
				report("argument", i+1, text, do(text))
			}
		}
	}
	if err == nil && failed {
		return errReported
	}
	return err
}

// maxLine bounds a line of standard input, so that an endless one cannot fill the memory. A
// list of three million IDs fits.
const maxLine = 64 << 20

var errInterrupted = errors.New("interrupted")

func (a *app) eachLine(ctx context.Context, split splitFunc, do func(text string) error, report func(what string, n int, text string, err error)) error {
	if a.InTTY {
		a.note("%s", a.errStyle.faint("reading standard input, end with Ctrl-D"))
	}
	in := bufio.NewScanner(a.In)
	in.Buffer(nil, maxLine)
	lines := make(chan string, 1024) // read in the background, so that an interrupt does not wait for input
	go func() {
		defer close(lines)
		for in.Scan() {
			select {
			case lines <- in.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	found := false
	for n := 1; ; n++ {
		line, ok := a.nextLine(ctx, lines)
		switch _, failed := a.out.Write(nil); {
		case ctx.Err() != nil:
			return errInterrupted
		case failed != nil:
			return nil //nolint:nilerr // finish reports it
		case !ok && in.Err() != nil:
			return fmt.Errorf("read standard input: line %d: %w", n, in.Err())
		case !ok && !found:
			return errors.New("standard input is empty; give arguments, or one per line")
		case !ok:
			return nil
		}
		for _, text := range split(line) {
			found = true
			report("line", n, text, do(text))
		}
	}
}

// nextLine waits for a line, and prints what is there before it waits.
func (a *app) nextLine(ctx context.Context, lines <-chan string) (line string, ok bool) {
	select {
	case line, ok = <-lines:
		return line, ok
	default:
		if a.out.Flush() != nil {
			return "", false
		}
	}
	select {
	case line, ok = <-lines:
	case <-ctx.Done():
	}
	return line, ok
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
