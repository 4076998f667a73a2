package redisstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
)

// answering returns a store whose client gives these answers, and repeats the last one.
func answering(err error, answers ...any) *redisstore.Store {
	n := 0
	return mustNew(redisstore.New(func(context.Context, string, []string, ...any) (any, error) {
		n++
		return answers[min(n, len(answers))-1], err
	}, redisstore.Config{}))
}

// An answer that no Redis can have sent is an error and no lease.
func TestStrangeAnswers(t *testing.T) {
	const state = `{"age":-1,"claimed":"","now":1000,"server":"s","count":0,"missing":true,"namespace":{},"records":[]}`
	missing := []any{"ok", state}
	other := func(part, by string) []any { return []any{[]any{"ok", strings.Replace(state, part, by, 1)}} }
	for name, answers := range map[string][]any{
		"nil": {nil}, "text": {"ok"}, "numbers": {[]any{int64(1)}}, "nothing": {[]any{}}, "another word": {[]any{"yes", state}}, "too short": {[]any{"ok"}}, "too long": {append(missing, "1")},
		"no clock": other("1000", `"x"`), "no count": other(`:0`, `:""`), "half a namespace": other(":{}", ":{"), "no records": other("[]", "{}"), "no server": other(`"s"`, `""`), "no state": {[]any{"ok", "{}"}},
		"a write that says nothing": {missing, []any{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := claim("orders", "a")
			c.Now = 1000
			if l, err := answering(nil, answers...).Claim(t.Context(), c); err == nil || l.Fence != 0 || !strings.HasPrefix(err.Error(), "redisstore: ") {
				t.Errorf("%+v, %v", l, err)
			}
			if l, err := answering(nil, answers...).Renew(t.Context(), driver.Renewal{Namespace: "orders"}); err == nil || l != (driver.Lease{}) {
				t.Errorf("%+v, %v", l, err)
			}
		})
	}
	if _, err := answering(errors.New("WRONGPASS invalid"), nil).Claim(t.Context(), claim("orders", "a")); !driver.IsPermanent(err) {
		t.Error(err)
	}
	if l, err := answering(nil, []any{"ok", "7"}).Renew(t.Context(), driver.Renewal{Namespace: "orders", Worker: 3, FencingToken: 4}); err != nil || l != (driver.Lease{Worker: 3, FencingToken: 4, Fence: 7}) {
		t.Errorf("%+v, %v", l, err)
	}
	var config *core.ConfigError
	large := claim("orders", "a")
	large.WorkerIDs = 1<<53 + 1
	if _, err := answering(nil, missing).Claim(t.Context(), large); !errors.As(err, &config) {
		t.Error(err)
	}
}

// Reserve fails if the check of appendfsync fails, but not if Redis does not offer the check.
func TestSyncIsChecked(t *testing.T) {
	hidden, lost := errors.New("ERR unknown command 'CONFIG'"), errors.New("connection reset")
	for _, c := range []struct {
		err   error
		value string
		ok    bool
	}{
		{nil, "always", true}, {hidden, "", true}, {errors.New("NOPERM this user has no permissions"), "", true}, {nil, "", true}, {lost, "", false}, {nil, "everysec", false},
	} {
		evals := 0
		store := mustNew(redisstore.New(func(context.Context, string, []string, ...any) (any, error) {
			evals++
			return []any{"ok", "3"}, nil
		}, redisstore.Config{ConfigGet: func(context.Context, string) (string, error) {
			if evals == 0 { // what is checked is the setting after the write
				return "always", nil
			}
			return c.value, c.err
		}}))
		if _, err := store.Reserve(t.Context(), "n", 1); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
