package pgxtype

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// unencodable is the error of a value that cannot be encoded. It replaces pgx's text,
// which quotes the address of a value behind a pointer, and keeps what others have
// added after it.
func unencodable(m *pgtype.Map, oid uint32, v any, err error) error {
	inner := err
	for next := errors.Unwrap(inner); next != nil && strings.HasPrefix(inner.Error(), next.Error()); next = errors.Unwrap(inner) {
		inner = next
	}
	added := strings.TrimPrefix(err.Error(), inner.Error())
	cause := errors.Unwrap(inner)
	if cause == nil {
		cause = inner
	}
	name := fmt.Sprintf("type %d", oid)
	if t, ok := m.TypeForOID(oid); ok {
		name = t.Name
	}
	return fmt.Errorf("%s (%T) cannot be sent as %s: %w%s", quote(v), v, name, cause, added)
}

// maxQuoted is how much of a value an error has, in bytes.
const maxQuoted = 100

// quote writes a value for an error. It follows pointers and never writes an address.
func quote(v any) string {
	value := reflect.ValueOf(v)
	for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
		if value.IsNil() {
			return "nil"
		}
		value = value.Elem()
	}
	switch value.Kind() {
	case reflect.String:
		return strconv.Quote(short(value.String()))
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return fmt.Sprint(value)
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			b := value.Bytes()
			return fmt.Sprintf("%d bytes %x", len(b), b[:min(len(b), maxQuoted/2)])
		}
	}
	if !value.IsValid() || !value.CanInterface() {
		return "a value"
	}
	text, err := json.Marshal(value.Interface())
	if err != nil {
		return "a value" // such as a channel
	}
	return short(string(text))
}

// short shortens a text, between two characters.
func short(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	return strings.ToValidUTF8(text[:maxQuoted], "") + "…"
}
