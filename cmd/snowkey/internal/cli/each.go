package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
)

// A splitFunc appends the texts in an argument or a line to texts.
type splitFunc func(texts []string, line string) []string

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
			texts := split(nil, arg)
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

func (a *app) eachLine(ctx context.Context, split splitFunc, do func(text string) error, report func(what string, n int, text string, err error)) error {
	if a.InTTY {
		a.note("%s", a.errStyle.faint("reading standard input, end with Ctrl-D"))
	}
	blocks, found, n := a.blocks(ctx), false, 0
	var texts []string
	for a.writable() {
		b, err := a.nextBlock(ctx, blocks)
		if err != nil {
			return err
		}
		if errors.Is(b.err, errLong) {
			found = true
			n++
			report("line", n, "", fmt.Errorf("longer than %s, skipped", humanize.IBytes(maxLine)))
			continue
		}
		for line := range strings.Lines(b.text) {
			n++
			texts = split(texts[:0], line)
			for _, text := range texts {
				found = true
				report("line", n, text, do(text))
				if ctx.Err() != nil {
					return errInterrupted
				}
			}
			if !a.writable() {
				return nil
			}
		}
		switch {
		case errors.Is(b.err, io.EOF) && !found:
			return errors.New("standard input is empty; give arguments, or one per line")
		case errors.Is(b.err, io.EOF):
			return nil
		case b.err != nil:
			return fmt.Errorf("read standard input: %w", b.err)
		}
	}
	return nil // finish reports the error of the output
}

// nextBlock waits for a block, and prints what is there before it waits. If that fails, it
// returns an empty block.
func (a *app) nextBlock(ctx context.Context, blocks <-chan block) (b block, err error) {
	select {
	case b = <-blocks:
	default:
		_ = a.out.Flush()
		if !a.writable() {
			return block{}, nil
		}
		select {
		case b = <-blocks:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return block{}, errInterrupted
	}
	return b, nil
}

// writable reports whether standard output has no error yet.
func (a *app) writable() bool {
	_, err := a.out.Write(nil)
	return err == nil
}

// A block is one or more whole lines.
type block struct {
	text string
	err  error // io.EOF at the last, errLong for a skipped line
}

// blocks reads in the background, so that an interrupt does not wait for input, and the
// lines that are there at once together.
func (a *app) blocks(ctx context.Context) <-chan block {
	blocks := make(chan block, 4)
	go func() {
		in := bufio.NewReaderSize(a.In, 64<<10)
		for {
			text, err := readLine(in)
			if err == nil {
				more, _ := in.Peek(in.Buffered())
				end := bytes.LastIndexByte(more, '\n') + 1
				text += string(more[:end])
				_, _ = in.Discard(end)
			}
			select {
			case blocks <- block{text, err}:
			case <-ctx.Done():
				return
			}
			if err != nil && !errors.Is(err, errLong) {
				return
			}
		}
	}()
	return blocks
}

var (
	errLong        = errors.New("too long")
	errInterrupted = errors.New("interrupted")
)

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
