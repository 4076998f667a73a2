package redisstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
)

var request = driver.Request{
	Namespace: "orders", Layout: "l", WorkerIDs: 8, Preferred: -1, Exclude: -1, ClaimID: "first",
	Now: 1_000_000, FenceWindow: 1000, TTL: 60_000, MaxSkew: 1000, MaxLead: 1000,
}

// answering returns a store whose client has one answer.
func answering(value any, err error) *redisstore.Store {
	return mustNew(redisstore.New(func(context.Context, string, []string, ...any) (any, error) { return value, err }, redisstore.Config{}))
}

// What the script answers is what Claim returns. An unexpected answer is an error and no grant.
func TestClaimAnswers(t *testing.T) {
	var layout *driver.LayoutError
	var skew *driver.SkewError
	var none *driver.NoWorkerIDError
	var lossy *driver.DurabilityError
	for name, c := range map[string]struct {
		answer any
		as     any
		claim  driver.Claim
	}{
		"ok":     {[]any{"ok", "3", "2", "1000000", "1001000"}, nil, driver.Claim{Worker: 3, FencingToken: 2, From: 1_000_000, Fence: 1_001_000}},
		"layout": {[]any{"layout", "other"}, &layout, driver.Claim{}}, "skew": {[]any{"skew", "5"}, &skew, driver.Claim{}},
		"none": {[]any{"none", "8", "7", "1", "9223372036854775807"}, &none, driver.Claim{}}, "lossy": {[]any{"lossy", "appendonly", "no", "yes"}, &lossy, driver.Claim{}},
		"nil": {nil, nil, driver.Claim{}}, "text": {"ok", nil, driver.Claim{}}, "numbers": {[]any{int64(1)}, nil, driver.Claim{}}, "nothing": {[]any{}, nil, driver.Claim{}},
		"another word": {[]any{"yes"}, nil, driver.Claim{}}, "too short": {[]any{"ok", "1"}, nil, driver.Claim{}}, "no number": {[]any{"ok", "a", "1", "2", "3"}, nil, driver.Claim{}},
	} {
		t.Run(name, func(t *testing.T) {
			claim, err := answering(c.answer, nil).Claim(t.Context(), request)
			if claim != c.claim || (err == nil) != (name == "ok") || c.as != nil && !errors.As(err, c.as) {
				t.Errorf("%+v, %v", claim, err)
			}
		})
	}
	if skew.Store.UnixMilli() != 5 || layout.Have != "other" || none.Leased != 7 || none.Wait < time.Hour || lossy.Want != "yes" {
		t.Errorf("%+v, %+v, %+v, %+v", skew, layout, none, lossy)
	}
	if _, err := answering(nil, errors.New("WRONGPASS invalid")).Claim(t.Context(), request); !driver.IsPermanent(err) {
		t.Error(err)
	}
	large := request
	large.WorkerIDs = 1<<53 + 1
	var config *core.ConfigError
	if _, err := answering([]any{"ok", "3", "2", "1", "2"}, nil).Claim(t.Context(), large); !errors.As(err, &config) {
		t.Error(err)
	}
	for _, n := range []int64{0, 1<<53 + 1} {
		if _, err := answering(nil, nil).WorkerIDOf(t.Context(), "orders", "i", n); !errors.As(err, &config) {
			t.Errorf("%d: %v", n, err)
		}
	}
	if err := answering([]any{"taken"}, nil).Renew(t.Context(), driver.Renewal{Namespace: "orders"}); !errors.Is(err, driver.ErrNotHeld) {
		t.Error(err)
	}
}

// A check of appendfsync that cannot be made refuses; one that Redis does not offer does not.
// What is checked is the setting after the write.
func TestSyncIsChecked(t *testing.T) {
	hidden, lost := errors.New("ERR unknown command 'CONFIG'"), errors.New("connection reset")
	for _, c := range []struct {
		before, after error
		value         string
		ok            bool
	}{
		{nil, nil, "always", true}, {hidden, hidden, "", true}, {errors.New("NOPERM this user has no permissions"), hidden, "", true}, {nil, nil, "", true},
		{lost, nil, "", false}, {nil, lost, "", false}, {nil, nil, "everysec", false},
	} {
		evals := 0
		store := mustNew(redisstore.New(func(context.Context, string, []string, ...any) (any, error) {
			evals++
			return []any{"ok", "3", "2", "1", "2"}, nil
		}, redisstore.Config{ConfigGet: func(context.Context, string) (string, error) {
			if evals == 0 {
				return "always", c.before
			}
			return c.value, c.after
		}}))
		if _, err := store.Claim(t.Context(), request); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestListAnswers(t *testing.T) {
	for _, c := range []struct {
		answer []any
		want   string
	}{
		{[]any{"layout", "l", "5", "2\nfirst\n7\n8\nme"}, ""}, {[]any{"5", "2\nfirst\n7\n8\nme\nnewer"}, "was not written by a store of this version"}, {[]any{"5", "2\n\n"}, "was not written by a store"}, {[]any{"x", "2\na\n7\n8\nme"}, "unexpected answer"},
	} {
		records, err := answering(c.answer, nil).List(t.Context(), "orders")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if want := (driver.Record{Worker: 5, FencingToken: 2, ClaimID: "first", Owner: "me", Fence: 7, Expires: 8}); err == nil && (len(records) != 1 || records[0] != want) {
			t.Errorf("%+v", records)
		}
	}
}
