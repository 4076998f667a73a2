package cli

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// who names the owner of a present claim, and of a past one.
func TestWho(t *testing.T) {
	dsn := filepath.Join(t.TempDir(), "ids.db")
	db := openDB(t, "sqlite", dsn)
	var ids []string
	for _, owner := range []string{"pod-1 v2\\", "pod-2"} {
		gen, err := sqlstore.Open(t.Context(), db, worker.Config{Owner: owner, Preferred: new(int64), RequirePreferred: true})
		must(t, err)
		id, err := gen.Next(t.Context())
		if err == nil {
			err = gen.Close(t.Context())
		}
		must(t, err)
		ids = append(ids, strconv.FormatInt(id, 10))
	}
	for i, id := range ids {
		info := decoded[whoInfo](t, run(t, "who", id, "--dsn", dsn, "--json"))
		if info.Owner != []string{"pod-1 v2\\", "pod-2"}[i] || info.ID != id ||
			info.Present != (i == 1) || info.Claimed == "" || info.End == "" || info.Time < info.Start || info.Time >= info.End {
			t.Errorf("%+v", info)
		}
	}
	if got := run(t, "who", ids[0], "--dsn", dsn); got.code != 0 || !strings.Contains(got.out, "pod-1 v2") || !strings.Contains(got.out, `0 of namespace "default"`) {
		t.Errorf("%d: %s%s", got.code, got.out, got.err)
	}
	other, err := core.Twitter().FirstAt(core.Twitter().Epoch.AddDate(1, 0, 0))
	must(t, err)
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{1, "no claim of worker ID 0", []string{strconv.FormatInt(other, 10)}},
		{1, `has no namespace "orders"; --namespace may be ["default"]`, []string{ids[0], "--namespace", "orders"}},
		{1, "give the layout's flags", []string{ids[0], "--preset", "sonyflake"}},
		{2, "ID", []string{"abc!"}},
		{2, "one id", nil},
	} {
		run(t, append([]string{"who", "--dsn", dsn}, c.args...)...).says(t, c.code, c.says)
	}
}
