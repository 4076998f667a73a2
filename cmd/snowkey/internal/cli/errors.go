package cli

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/core"
)

// A usageError is a command line that is wrong, whatever the world is like.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

// usage makes a usageError.
func usage(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// wrong is the value of a flag or an argument that cannot be taken.
func wrong(name, value string, err error) error { return usage("%s %q: %w", name, short(value), err) }

var (
	// errTold is returned by a command that has told already what went wrong.
	errTold = errors.New("told already")
	// errCheck is returned when a check failed, which the output says.
	errCheck = errors.New("a check failed")
)

// short cuts a value of which nobody wants to see a megabyte. A password in it goes
// first, for half of one would not be known again.
func short(s string) string {
	s = dsn.Hide(s, dsn.Secrets(s))
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}

// finish ends a run: it tells the error, if any, and gives the exit code.
func (a *app) finish(path string, err error) int {
	flushed := a.out.Flush()
	if errors.Is(a.out.err, syscall.EPIPE) && !a.failed && (err == nil || errors.Is(err, syscall.EPIPE)) {
		return exitOK // who read it has had enough; what else went wrong counts all the same
	}
	if err == nil && flushed != nil {
		a.started, err = true, fmt.Errorf("write standard output: %w", bare(flushed))
	}
	var bad *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errTold):
		return exitFailed
	case errors.Is(err, errCheck):
		return exitCheck
	case errors.As(err, &bad) || !a.started: // cobra's own complaints come before a command starts
		fmt.Fprintf(a.Err, "%s %s\nSee %s.\n", a.errStyle.bad(path+":"), a.clean(err), a.errStyle.bold(path+" --help"))
		return exitUsage
	}
	fmt.Fprintf(a.Err, "%s %s\n", a.errStyle.bad(path+":"), a.clean(err))
	return exitFailed
}

// byFlag says faults by the flags that they come from.
func byFlag(faults []core.FieldError, flags map[string]string) string {
	var all []string
	for _, f := range faults {
		if flag, ok := flags[f.Field]; ok {
			f.Field = flag
		}
		all = append(all, f.String())
	}
	return strings.Join(all, "; ")
}

// clean is an error's text without passwords and without our marks in arguments.
func (a *app) clean(err error) string { return dsn.Hide(unmark(err.Error()), a.secrets) }

// note tells something that is no data.
func (a *app) note(format string, args ...any) {
	_ = a.out.Flush() // on a terminal the two stand in their order
	fmt.Fprintf(a.Err, "%s\n", dsn.Hide(fmt.Sprintf(format, args...), a.secrets))
}
