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

// run runs a script that consists of files, when the limiter lets it. A client need not know more
// types of arguments than strings.
func (s *Store) run(ctx context.Context, what string, files, keys []string, args ...any) (reply, error) {
	for i, a := range args {
		switch a := a.(type) {
		case int64:
			args[i] = strconv.FormatInt(a, 10)
		case bool:
			args[i] = strconv.FormatBool(a)
		}
	}
	var script strings.Builder
	for _, file := range files {
		text, _ := scripts.ReadFile(file + ".lua") // it is embedded
		script.Write(text)
	}
	answer := reply{what: fmt.Sprintf("redisstore: %s in %s", what, keys[0])}
	err := s.limiter.Do(ctx, func() error {
		value, err := hung.Do(ctx, &s.calls, answer.what, func() (any, error) { return s.eval(ctx, script.String(), keys, args...) })
		if err != nil {
			return markPermanent(fmt.Errorf("%s: %w", answer.what, err))
		}
		list, ok := value.([]any)
		if !ok {
			return fmt.Errorf("%s: the client returned %T, want []any", answer.what, value)
		}
		for _, v := range list {
			switch v := v.(type) {
			case string:
				answer.values = append(answer.values, v)
			case []byte:
				answer.values = append(answer.values, string(v))
			default:
				return fmt.Errorf("%s: the client returned %T in a list, want string or []byte", answer.what, v)
			}
		}
		return nil
	})
	return answer, err
}

// refusals are errors of Redis that last until somebody changes the login, the rights of its
// user, or what the key holds; and that of go-redis after its Close.
var refusals = []string{"NOAUTH ", "WRONGPASS ", "NOPERM ", "WRONGTYPE ", "redis: client is closed"}

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

func (r reply) unexpected() error {
	return fmt.Errorf("%s: %w %.300s", r.what, errUnexpected, fmt.Sprintf("%q", r.values))
}

// integers returns the values of a reply of this kind, which has n of them.
func (r reply) integers(kind string, n int) ([]int64, error) {
	if !r.is(kind, n) {
		return nil, r.unexpected()
	}
	all := make([]int64, n)
	for i := range all {
		var err error
		if all[i], err = strconv.ParseInt(r.values[i+1], 10, 64); err != nil {
			return nil, r.unexpected()
		}
	}
	return all, nil
}
