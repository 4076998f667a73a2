package redisstore

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/hung"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

//go:embed *.lua
var scripts embed.FS

// A reply is a script's answer: ok or no, then values.
type reply struct {
	what   string // the request, for errors
	ok     bool
	values []string
}

// run runs a script that consists of files, when the limiter allows it. It passes all arguments as
// strings, so a client need not support other types.
func (s *Store) run(ctx context.Context, what string, files, keys []string, args ...any) (r reply, err error) {
	r.what = fmt.Sprintf("redisstore: %s in %s", what, keys[0])
	for i := range args {
		args[i] = fmt.Sprint(args[i])
	}
	script := ""
	for _, file := range files {
		text, _ := scripts.ReadFile(file + ".lua") // it is embedded
		script += string(text)
	}
	err = s.limiter.Do(ctx, func() error {
		value, err := hung.Do(ctx, &s.calls, r.what, func() (any, error) { return s.eval(ctx, script, keys, args...) })
		if err != nil {
			err = fmt.Errorf("%s: %w", r.what, err)
			if slices.ContainsFunc(refusals, func(refusal string) bool { return strings.Contains(err.Error(), refusal) }) {
				err = driver.Permanent(err)
			}
			return err
		}
		list, ok := value.([]any)
		if !ok {
			return fmt.Errorf("%s: the client returned %T, want []any", r.what, value)
		}
		for _, v := range list {
			switch v := v.(type) {
			case string:
				r.values = append(r.values, v)
			case []byte:
				r.values = append(r.values, string(v))
			default:
				return fmt.Errorf("%s: the client returned %T in a list, want string or []byte", r.what, v)
			}
		}
		if len(list) == 0 || r.values[0] != "ok" && r.values[0] != "no" {
			return r.unexpected()
		}
		r.ok, r.values = r.values[0] == "ok", r.values[1:]
		return nil
	})
	return r, err
}

// refusals are Redis's errors that last until the login, the user's rights or the key's content are
// changed, and go-redis's error after Close.
var refusals = []string{"NOAUTH ", "WRONGPASS ", "NOPERM ", "WRONGTYPE ", "redis: client is closed"}

func (r reply) unexpected() error {
	return fmt.Errorf("%s: unexpected answer %.300s", r.what, fmt.Sprintf("%q", r.values))
}

// integer returns the only value, which must be an integer.
func (r reply) integer() (int64, error) {
	if len(r.values) == 1 {
		if n, err := strconv.ParseInt(r.values[0], 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, r.unexpected()
}
