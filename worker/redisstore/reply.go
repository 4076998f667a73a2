package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/internal/bounded"
)

// reply is a script's answer: what it is, and then the details.
type reply []string

func (s *Store) run(ctx context.Context, what, script, key string, args ...any) (reply, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, a := range args { // a client need not know more than strings
		if n, ok := a.(int64); ok {
			args[i] = strconv.FormatInt(n, 10)
		} else if n, ok := a.(int); ok {
			args[i] = strconv.Itoa(n)
		}
	}
	what = fmt.Sprintf("redisstore: %s in %s", what, key)
	value, err := bounded.Do(ctx, &s.calls, what, func() (any, error) {
		value, err := s.eval.Eval(ctx, script, []string{key}, args...)
		if err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
		return value, err
	})
	if err != nil {
		return nil, lasting(err)
	}
	list, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("%s: the client gave %T, want []any", what, value)
	}
	answer := make(reply, len(list))
	for i, v := range list {
		switch v := v.(type) {
		case string:
			answer[i] = v
		case []byte:
			answer[i] = string(v)
		default:
			return nil, fmt.Errorf("%s: the client gave %T in a list, want string or []byte", what, v)
		}
	}
	return answer, nil
}

// refusals are what Redis answers until somebody has changed what the client logs in
// with, what its user may do, or what the key holds.
var refusals = []string{"NOAUTH ", "WRONGPASS ", "NOPERM ", "WRONGTYPE "}

func lasting(err error) error {
	if slices.ContainsFunc(refusals, func(refusal string) bool { return strings.Contains(err.Error(), refusal) }) {
		return driver.Permanent(err)
	}
	return err
}

func (r reply) is(word string, length int) bool { return len(r) == length && r[0] == word }

func (r reply) lossy() error {
	return &driver.DurabilityError{Setting: r[1], Value: r[2], Want: r[3]}
}

var errUnexpected = errors.New("redisstore: unexpected answer")

func (r reply) unexpected(what string) error {
	return fmt.Errorf("%w to %s: %q", errUnexpected, what, []string(r))
}

// numbers reads what stands behind the first word.
func (r reply) numbers(n []int64) error {
	if len(r) != len(n)+1 {
		return r.unexpected("a script")
	}
	for i := range n {
		var err error
		if n[i], err = strconv.ParseInt(r[i+1], 10, 64); err != nil {
			return r.unexpected("a script")
		}
	}
	return nil
}
