package rawconn

import "testing"

type mode int32

func (m mode) String() string {
	if m == 5 {
		return "simple protocol"
	}
	return "invalid"
}

type (
	config    struct{ DefaultQueryExecMode mode }
	client    struct{ config *config }
	pgxConn   struct{ client *client }
	wrapped   struct{ conn any }
	rawConn   struct{ conn any }
	endless   struct{}
	odd       struct{}
	nilConfig struct{}
)

func (c client) Config() *config   { return c.config }
func (c pgxConn) Conn() *client    { return c.client }
func (c wrapped) Unwrap() any      { return c.conn }
func (c rawConn) Raw() any         { return c.conn }
func (c endless) Unwrap() any      { return c }
func (odd) Conn(int) int           { return 0 }
func (nilConfig) Conn() *nilConfig { return nil }
func (*nilConfig) Config() *config { return nil }

// The argument comes from a connection of pgx, however deep it is wrapped, and other connections
// have none.
func TestSimpleProtocol(t *testing.T) {
	pgx := pgxConn{&client{&config{}}}
	for _, c := range []struct {
		conn  any
		found bool
	}{
		{pgx, true}, {&pgx, true}, {wrapped{pgx}, true}, {rawConn{wrapped{&pgx}}, true},
		{nil, false}, {1, false}, {endless{}, false}, {odd{}, false}, {nilConfig{}, false}, {wrapped{nil}, false},
	} {
		args := simpleProtocol(c.conn)
		if (len(args) == 1 && args[0] == mode(5)) != c.found {
			t.Errorf("%T: %v", c.conn, args)
		}
	}
}
