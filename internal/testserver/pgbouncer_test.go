//go:build unix

package testserver

import (
	"errors"
	"fmt"
	"testing"
)

// In transaction mode, two clients share one server connection, so one sees what the other has set;
// in session mode, each has its own. It is the settings that make the difference.
func TestPgBouncer(t *testing.T) {
	postgres := NewPostgres(t)
	for mode, shared := range map[string]bool{"transaction": true, "session": false} {
		t.Run(mode, func(t *testing.T) {
			s := NewPgBouncer(t, postgres, "pool_mode = "+mode, fmt.Sprintf("default_pool_size = %d", map[bool]int{true: 1, false: 2}[shared]))
			if err := errors.Join(s.Kill(), s.Start(), s.Restart()); err != nil {
				t.Fatal(err)
			}
			dsn := s.DSN + "&default_query_exec_mode=simple_protocol"
			one, other := connect(t, dsn), connect(t, dsn)
			if _, err := one.ExecContext(t.Context(), "SET work_mem = '1234kB'"); err != nil {
				t.Fatal(err)
			}
			var seen string
			if err := other.QueryRowContext(t.Context(), "SHOW work_mem").Scan(&seen); err != nil || (seen == "1234kB") != shared {
				t.Errorf("the other client sees %q, %v; want the first one's setting: %t", seen, err, shared)
			}
		})
	}
}
