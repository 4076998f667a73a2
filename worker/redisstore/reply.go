package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/hung"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A runFunc runs a script, as run does.
type runFunc func(ctx context.Context, what, script, key string, args ...any) (reply, error)

// evalDurable runs a script whose write must last. The script checks what it can see. What it
// cannot see is checked when it has written: a setting that was right only before the write
// proves nothing.
func (s *Store) evalDurable(ctx context.Context, what, script, key string, args ...any) (reply, error) {
	answer, err := s.run(ctx, what, durableScript+script, key, append([]any{s.cfg.AllowDataLoss}, args...)...)
	if v := answer.values; err == nil && answer.is("lossy", 3) {
		return reply{}, &driver.DurabilityError{Setting: v[1], Value: v[2], Want: v[3]}
	}
	if err == nil {
		err = s.checkSync(ctx)
	}
	return answer, err
}

// checkSync checks the setting that a script does not see.
func (s *Store) checkSync(ctx context.Context) error {
	if s.cfg.AllowDataLoss || s.cfg.ConfigGet == nil {
		return nil
	}
	const what = "redisstore: CONFIG GET appendfsync"
	value, err := hung.Do(ctx, &s.calls, what, func() (string, error) {
		return s.cfg.ConfigGet(ctx, "appendfsync")
	})
	switch {
	case err != nil && !isHidden(err):
		return fmt.Errorf("%s, to check that a write is not lost: %w", what, err)
	case err == nil && value != "" && value != "always":
		return &driver.DurabilityError{Setting: "appendfsync", Value: value, Want: "always"}
	}
	return nil
}

// isHidden reports whether Redis does not offer CONFIG, or not to this user.
func isHidden(err error) bool {
	text := err.Error()
	return strings.Contains(text, "unknown command") || strings.Contains(text, "NOPERM ")
}

// run runs a script. A client need not know more types of arguments than strings.
func (s *Store) run(ctx context.Context, what, script, key string, args ...any) (reply, error) {
	for i, a := range args {
		switch a := a.(type) {
		case int64:
			args[i] = strconv.FormatInt(a, 10)
		case bool:
			args[i] = "0"
			if a {
				args[i] = "1"
			}
		}
	}
	what = fmt.Sprintf("redisstore: %s in %s", what, key)
	value, err := hung.Do(ctx, &s.calls, what, func() (any, error) {
		value, err := s.eval(ctx, script, []string{key}, args...)
		if err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
		return value, err
	})
	if err != nil {
		return reply{}, markPermanent(err)
	}
	list, ok := value.([]any)
	if !ok {
		return reply{}, fmt.Errorf("%s: the client returned %T, want []any", what, value)
	}
	answer := reply{what, make([]string, len(list))}
	for i, v := range list {
		switch v := v.(type) {
		case string:
			answer.values[i] = v
		case []byte:
			answer.values[i] = string(v)
		default:
			return reply{}, fmt.Errorf("%s: the client returned %T in a list, want string or []byte", what, v)
		}
	}
	return answer, nil
}

// refusals are errors of Redis that last until somebody changes the login, the rights of its
// user, or what the key holds.
var refusals = []string{"NOAUTH ", "WRONGPASS ", "NOPERM ", "WRONGTYPE "}

func markPermanent(err error) error {
	if slices.ContainsFunc(refusals, func(refusal string) bool { return strings.Contains(err.Error(), refusal) }) {
		return driver.Permanent(err)
	}
	return err
}

// reply is the answer of a script: its kind, and then values.
type reply struct {
	what   string
	values []string
}

// is reports whether the reply has this kind and n values.
func (r reply) is(kind string, n int) bool { return len(r.values) == n+1 && r.values[0] == kind }

var errUnexpected = errors.New("unexpected answer")

// integers returns the values of a reply of this kind, which has n of them.
func (r reply) integers(kind string, n int) ([]int64, error) {
	unexpected := fmt.Errorf("%s: %w %q", r.what, errUnexpected, r.values)
	if !r.is(kind, n) {
		return nil, unexpected
	}
	all := make([]int64, n)
	for i := range all {
		var err error
		if all[i], err = strconv.ParseInt(r.values[i+1], 10, 64); err != nil {
			return nil, unexpected
		}
	}
	return all, nil
}
