package snowkeytest

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// AnyID matches every argument of a statement that can be an id of the layout, as a number or as
// decimal text: WithArgs(snowkeytest.AnyID{}, "Ann"). It implements sqlmock.Argument; for pgxmock
// use Pgx. The zero value is for Twitter's layout.
//
// Small numbers, such as auto-increment keys, do not match: the time of an id must be at least a
// day after the layout's epoch and at most a day ahead of the clock.
type AnyID struct{ Layout core.Layout }

// Match implements sqlmock.Argument.
func (a AnyID) Match(v driver.Value) bool {
	_, ok := a.id(v)
	return ok
}

// Pgx returns the matcher for pgxmock.
func (a AnyID) Pgx() PgxArgument {
	return PgxArgument{func(v any) bool { return a.Match(plain(v)) }}
}

func (a AnyID) id(v any) (id int64, ok bool) {
	switch v := v.(type) {
	case int64:
		id = v
	case string:
		parsed, err := strconv.ParseInt(v, 10, 64)
		if err != nil || strconv.FormatInt(parsed, 10) != v {
			return 0, false
		}
		id = parsed
	default:
		return 0, false
	}
	p, err := a.Layout.Decode(id)
	if err != nil {
		return 0, false
	}
	return id, p.Time.Sub(a.Layout.WithDefaults().Epoch) >= 24*time.Hour && time.Until(p.Time) <= 24*time.Hour
}

// SameID first matches any id, as AnyID does, and from then on only that id. So a mock can check
// that child rows refer to the key of the parent row:
//
//	order := new(snowkeytest.SameID)
//	mock.ExpectExec("INSERT INTO orders").WithArgs(order, "Ann")
//	mock.ExpectExec("INSERT INTO lines").WithArgs(snowkeytest.AnyID{}, order)
//
// The zero value is for Twitter's layout. A SameID must not be copied.
type SameID struct {
	Layout core.Layout

	mu    sync.Mutex
	found bool
	id    int64
}

// Match implements sqlmock.Argument.
func (s *SameID) Match(v driver.Value) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := AnyID{s.Layout}.id(v)
	if !s.found && ok {
		s.found, s.id = true, id
	}
	return ok && id == s.id
}

// Pgx returns the matcher for pgxmock. It shares the id with s.
func (s *SameID) Pgx() PgxArgument {
	return PgxArgument{func(v any) bool { return s.Match(plain(v)) }}
}

// ID returns the id that was matched, or 0 if there was none.
func (s *SameID) ID() sqltype.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sqltype.ID(s.id)
}

func (s *SameID) String() string { return fmt.Sprintf("SameID(%d)", int64(s.ID())) }

// A PgxArgument implements pgxmock.Argument. It comes from AnyID.Pgx and SameID.Pgx; the zero value
// matches nothing.
type PgxArgument struct{ match func(any) bool }

// Match implements pgxmock.Argument.
func (a PgxArgument) Match(v any) bool { return a.match != nil && a.match(v) }

// plain returns what a driver gets for a value, or nil: pgxmock passes the arguments as they are.
func plain(v any) driver.Value {
	value, err := driver.DefaultParameterConverter.ConvertValue(v)
	if err != nil {
		return nil
	}
	return value
}
