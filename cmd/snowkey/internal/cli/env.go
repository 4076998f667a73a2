// Package cli implements the command snowkey: its commands, flags, output and exit codes.
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/term"
)

// Env is the environment of one execution.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	// Whether they are terminals.
	InTTY, OutTTY, ErrTTY bool
	Getenv                func(string) string
	Clock                 func() time.Time // nil: the system's
	Build                 func() (*debug.BuildInfo, bool)
}

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitCheck  = 3
)

// Main executes os.Args and returns the exit code. The first SIGINT or SIGTERM shuts the
// command down gracefully, the second kills it.
func Main() int {
	// A closed pipe is then an error of the write, so the worker ID is still released.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	tty := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	return Run(ctx, os.Args[1:], Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY: tty(os.Stdin), OutTTY: tty(os.Stdout), ErrTTY: tty(os.Stderr),
		Getenv: os.Getenv, Build: debug.ReadBuildInfo,
	})
}

func (e Env) now() time.Time {
	if e.Clock != nil {
		return e.Clock()
	}
	return time.Now()
}
