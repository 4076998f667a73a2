package cli

import (
	"strings"
	"syscall"
	"testing"
)

// closedPipe is the output of a command whose reader ends after the first write.
type closedPipe struct{ writes int }

func (p *closedPipe) Write(b []byte) (int, error) {
	if p.writes++; p.writes > 1 {
		return 0, syscall.EPIPE
	}
	return len(b), nil
}

// A reader that has read enough, such as head, is no error, however much is left.
func TestClosedPipe(t *testing.T) {
	for _, args := range [][]string{{"parse", "--brief"}, {"parse"}, {"parse", "--to", "hex"}, {"serial", "encode"}} {
		var errs strings.Builder
		env := Env{In: strings.NewReader(strings.Repeat(someID+"\n", 20_000)), Out: &closedPipe{}, Err: &errs, Getenv: environment("", "")}
		if code := Run(t.Context(), args, env); code != 0 || errs.Len() > 0 {
			t.Errorf("%q: exit code %d: %s", args, code, errs.String())
		}
	}
}
