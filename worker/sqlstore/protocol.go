package sqlstore

import (
	"database/sql"
	"fmt"
	"reflect"
)

// simple is simpleProtocol for a connection of a pool.
func simple(conn *sql.Conn) (args []any) {
	_ = conn.Raw(func(driver any) error {
		args = simpleProtocol(driver)
		return nil
	})
	return args
}

// simpleProtocol returns the argument that makes pgx send a query without arguments in one message
// and prepare nothing; for other drivers none, since they do so anyway. The argument is pgx's
// QueryExecModeSimpleProtocol. It comes from the connection, so that programs for other databases need
// not contain pgx. If the connection is wrapped in a way that hides it, or pgx refuses the session's
// encoding, pgx prepares the queries.
func simpleProtocol(conn any) (args []any) {
	unwrap(conn, func(c reflect.Value) bool {
		pgx := call0(c, "Conn")
		config := reflect.Indirect(call0(pgx, "Config"))
		found := config.IsValid() && config.Kind() == reflect.Struct && allowsSimple(call0(pgx, "PgConn"))
		if found {
			args = simpleMode(config.FieldByName("DefaultQueryExecMode"))
		}
		return found
	})
	return args
}

// unwrap calls found with the connection, and with those that it wraps, until that returns true.
func unwrap(conn any, found func(reflect.Value) bool) {
	c := reflect.ValueOf(conn)
	for range maxWrappers {
		if !c.IsValid() || found(c) {
			return
		}
		inner := call0(c, "Raw") // as such wrappers call it
		for _, name := range []string{"Unwrap", "WrappedConn"} {
			if !inner.IsValid() {
				inner = call0(c, name)
			}
		}
		c = inner
	}
}

// Flags of MySQL's protocol.
const (
	inTransactionFlag = 1 << iota
	autocommitFlag
)

// serverStatus returns the flags of a session of MySQL that its last answer had. The driver has them in a
// field. They are not known if a wrapper hides it.
func serverStatus(conn *sql.Conn) (flags uint64, known bool) {
	_ = conn.Raw(func(driver any) error {
		unwrap(driver, func(c reflect.Value) bool {
			if c = reflect.Indirect(c); c.Kind() == reflect.Struct && c.Type().Name() == "mysqlConn" {
				if status := c.FieldByName("status"); status.IsValid() && status.CanUint() {
					flags, known = status.Uint(), true
				}
			}
			return known
		})
		return nil
	})
	return flags, known
}

// allowsSimple reports whether pgx uses the simple protocol in this session.
func allowsSimple(pgconn reflect.Value) bool {
	if !pgconn.IsValid() {
		return false
	}
	status, ok := pgconn.Interface().(interface{ ParameterStatus(key string) string })
	return ok && status.ParameterStatus("client_encoding") == "UTF8" && status.ParameterStatus("standard_conforming_strings") == "on"
}

const (
	maxWrappers = 4
	maxModes    = 10 // more than pgx has
)

// simpleMode finds the mode by its name.
func simpleMode(field reflect.Value) []any {
	if !field.IsValid() || !field.CanInt() {
		return nil
	}
	mode := reflect.New(field.Type()).Elem()
	for i := range int64(maxModes) {
		if mode.SetInt(i); fmt.Sprint(mode.Interface()) == "simple protocol" {
			return []any{mode.Interface()}
		}
	}
	return nil
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
