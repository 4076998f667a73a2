package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
)

// An answer that no Redis can have sent is an error, never a number.
func TestReserveAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer any
		err    error
		first  int64
		want   string
	}{
		"the first":        {answer: []any{"ok", "10"}, first: 1},
		"bytes":            {answer: []any{[]byte("ok"), []byte("123456789012345678")}, first: 123456789012345669},
		"the last":         {answer: []any{"ok", fmt.Sprint(int64(math.MaxInt64))}, first: math.MaxInt64 - 9},
		"lost":             {err: errors.New("connection reset"), want: "reserve in snowkey:counter:{20261121:INV}: connection reset"},
		"lossy":            {answer: []any{"no", "appendonly", "no", "yes"}, want: "appendonly = no"},
		"set back":         {answer: []any{"ok", "3"}, want: "it is only 3 afterwards"},
		"negative":         {answer: []any{"ok", "-5"}, want: "it is only -5 afterwards"},
		"no number":        {answer: []any{"ok", "1e3"}, want: "unexpected answer"},
		"too large":        {answer: []any{"ok", "9223372036854775808"}, want: "unexpected answer"},
		"no list":          {answer: "ok", want: "want []any"},
		"too short":        {answer: []any{"ok"}, want: "unexpected answer"},
		"another word":     {answer: []any{"taken", "1"}, want: "unexpected answer"},
		"a list of a list": {answer: []any{"ok", []any{}}, want: "want string or []byte"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []any
			store := mustNew(redisstore.New(func(_ context.Context, _ string, keys []string, args ...any) (any, error) {
				got = append(slices.Clone(args), keys[0])
				return c.answer, c.err
			}, redisstore.Config{}))
			first, err := store.Reserve(t.Context(), "20261121:INV", 10)
			if first != c.first || (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d, %v; want %d, %s", first, err, c.first, c.want)
			}
			if fmt.Sprint(got) != "[10 snowkey:counter:{20261121:INV}]" {
				t.Errorf("%q were sent", got)
			}
		})
	}
}

func TestReserveFaults(t *testing.T) {
	store := mustNew(redisstore.New(func(context.Context, string, []string, ...any) (any, error) {
		return nil, errors.New("asked all the same")
	}, redisstore.Config{}))
	for want, c := range map[string]struct {
		key string
		n   int64
	}{
		`key ""`: {"", 1}, `key "a b"`: {"a b", 1}, "n 0: must be 1 to 1099511627776": {"a", 0}, "n -1": {"a", -1}, "n 1099511627777": {"a", 1<<40 + 1},
	} {
		t.Run(want, func(t *testing.T) {
			_, err := store.Reserve(t.Context(), c.key, c.n)
			var config *core.ConfigError
			if !errors.As(err, &config) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
	if _, err := new(redisstore.Store).Reserve(t.Context(), "a", 1); err == nil || !strings.Contains(err.Error(), "Store nil") {
		t.Error(err)
	}
}

// mustNew returns a store that New has made.
func mustNew[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}
