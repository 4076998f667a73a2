package readme

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestShortForms(t *testing.T) {
	const id sqltype.ID = 1996573624012345677
	if got, err := orderOf(strings.TrimPrefix(path(id), "/o/")); got != id || err != nil {
		t.Errorf("%s: %d, %v", path(id), got, err)
	}
	if path(id) >= path(id+1) {
		t.Errorf("%s does not sort before %s", path(id), path(id+1))
	}
	if _, err := orderOf("zzzzzzzzzzz"); !errors.Is(err, sqltype.ErrRange) || !strings.Contains(err.Error(), `"zzzzzzzzzzz"`) {
		t.Error(err)
	}
}
