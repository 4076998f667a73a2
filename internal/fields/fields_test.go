package fields

import (
	"strings"
	"testing"
	"time"
)

func TestErrors(t *testing.T) {
	var wrong Errors
	if err := wrong.Err("serial"); err != nil {
		t.Errorf("an empty list is the error %v", err)
	}
	wrong.Add("Block", -3, "must be at least %d", 1)
	wrong.Add("Prefix", strings.Repeat("é", 200), "is 100% too long")
	wrong.Add("Window", 3*time.Second, "must be less")
	want := `serial: Block -3: must be at least 1; Prefix "` + strings.Repeat("é", 100) + `"…: is 100% too long; Window 3s: must be less`
	if err := wrong.Err("serial"); err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}
