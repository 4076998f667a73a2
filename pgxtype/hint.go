package pgxtype

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"
)

// hint adds Register to pgx's error about a value that it could not encode, if the
// call is missing and would mend it.
func hint(m *pgtype.Map, oid uint32, v any, err error) error {
	if _, done := m.TypeForValue(registered{}); done || err == nil {
		return err
	}
	full := m.Copy()
	Register(full)
	if _, other := full.Encode(oid, pgtype.BinaryFormatCode, v, nil); other != nil {
		return err
	}
	return fmt.Errorf("%w: call pgxtype.Register for the connection, such as by AfterConnect", err)
}
