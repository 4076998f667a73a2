// Package rawconn uses reflection to read what drivers show only in their own types, so that programs for
// other databases need not contain these drivers.
package rawconn

import (
	"database/sql"
	"fmt"
	"reflect"
)

const maxWrappers = 4

// unwrap calls found with the connection and those that it wraps, until found returns true.
func unwrap(conn any, found func(reflect.Value) bool) {
	c := reflect.ValueOf(conn)
	for range maxWrappers {
		if !c.IsValid() || found(c) {
			return
		}
		var inner reflect.Value
		for _, name := range []string{"Raw", "Unwrap", "WrappedConn"} { // the names that wrappers use
			if !inner.IsValid() {
				inner = call0(c, name)
			}
		}
		c = inner
	}
}

// call0 calls a method that has no arguments and one result.
func call0(v reflect.Value, method string) (result reflect.Value) {
	if !v.IsValid() {
		return result
	}
	m := v.MethodByName(method)
	if !m.IsValid() || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 {
		return result
	}
	result = m.Call(nil)[0]
	if result.Kind() == reflect.Interface {
		result = result.Elem()
	}
	return result
}

// SimpleProtocol returns the argument that makes pgx send a query without arguments in one message and
// prepare nothing: pgx's QueryExecModeSimpleProtocol. It returns nil for other drivers, which do so
// anyway, and if a wrapper hides the connection: then pgx prepares the queries.
func SimpleProtocol(conn *sql.Conn) (args []any) {
	_ = conn.Raw(func(conn any) error {
		args = simpleProtocol(conn)
		return nil
	})
	return args
}

func simpleProtocol(conn any) (args []any) {
	const value = 5 // of pgx's constant
	unwrap(conn, func(c reflect.Value) bool {
		config := reflect.Indirect(call0(call0(c, "Conn"), "Config"))
		if config.Kind() != reflect.Struct {
			return false
		}
		if field := config.FieldByName("DefaultQueryExecMode"); field.CanInt() {
			mode := reflect.New(field.Type()).Elem()
			if mode.SetInt(value); fmt.Sprint(mode) == "simple protocol" {
				args = []any{mode.Interface()}
			}
		}
		return args != nil
	})
	return args
}

// Flags of MySQL's protocol.
const (
	inTransaction = 1 << iota
	autocommit
)

// Commits reports whether a session of MySQL surely commits each statement by itself. The driver keeps the
// flags of MySQL's last answer in a field; a wrapper may hide it.
func Commits(conn *sql.Conn) (commits bool) {
	_ = conn.Raw(func(conn any) error {
		unwrap(conn, func(c reflect.Value) bool {
			if c = reflect.Indirect(c); c.Kind() != reflect.Struct || c.Type().Name() != "mysqlConn" {
				return false
			}
			status := c.FieldByName("status")
			commits = status.CanUint() && status.Uint()&(inTransaction|autocommit) == autocommit
			return true
		})
		return nil
	})
	return commits
}
