// Package rawconn uses reflection to read what drivers show only in their own types, so that programs for
// other databases need not contain these drivers.
package rawconn

import (
	"database/sql"
	"fmt"
	"reflect"
)

const (
	maxWrappers = 4
	maxModes    = 10 // more than pgx has
)

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
// anyway, and if a wrapper hides the connection or pgx refuses the session's encoding: then pgx prepares
// the queries.
func SimpleProtocol(conn *sql.Conn) (args []any) {
	_ = conn.Raw(func(conn any) error {
		args = simpleProtocol(conn)
		return nil
	})
	return args
}

func simpleProtocol(conn any) (args []any) {
	unwrap(conn, func(c reflect.Value) bool {
		pgx := call0(c, "Conn")
		config, session := reflect.Indirect(call0(pgx, "Config")), call0(pgx, "PgConn")
		if config.Kind() != reflect.Struct || !session.IsValid() {
			return false
		}
		status, ok := session.Interface().(interface{ ParameterStatus(key string) string })
		field := config.FieldByName("DefaultQueryExecMode")
		if !ok || status.ParameterStatus("client_encoding") != "UTF8" || status.ParameterStatus("standard_conforming_strings") != "on" || !field.CanInt() {
			return false
		}
		mode := reflect.New(field.Type()).Elem()
		for i := range int64(maxModes) {
			if mode.SetInt(i); fmt.Sprint(mode.Interface()) == "simple protocol" {
				args = []any{mode.Interface()}
			}
		}
		return args != nil
	})
	return args
}

// Flags of MySQL's protocol.
const (
	InTransaction = 1 << iota
	Autocommit
)

// MySQLStatus returns the flags of MySQL's last answer, which the driver keeps in a field. known is false
// if a wrapper hides the field.
func MySQLStatus(conn *sql.Conn) (flags uint64, known bool) {
	_ = conn.Raw(func(conn any) error {
		unwrap(conn, func(c reflect.Value) bool {
			if c = reflect.Indirect(c); c.Kind() == reflect.Struct && c.Type().Name() == "mysqlConn" {
				if status := c.FieldByName("status"); status.CanUint() {
					flags, known = status.Uint(), true
				}
			}
			return known
		})
		return nil
	})
	return flags, known
}
