package pgxtype_test

import (
	"database/sql/driver"
	"errors"
	"reflect"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestRegisterTwice(t *testing.T) {
	m := registered()
	before, _ := m.TypeForOID(pgtype.Int8OID)
	array, _ := m.TypeForName("_int8")
	encoders, scanners := len(m.TryWrapEncodePlanFuncs), len(m.TryWrapScanPlanFuncs)
	pgxtype.Register(m)
	pgxtype.Register(m)
	after, _ := m.TypeForOID(pgtype.Int8OID)
	if before != after {
		t.Error("int8 was registered anew")
	}
	if again, _ := m.TypeForName("_int8"); again != array {
		t.Error("_int8 was registered anew")
	}
	if len(m.TryWrapEncodePlanFuncs) != encoders || len(m.TryWrapScanPlanFuncs) != scanners {
		t.Error("wrappers were added anew")
	}
	works(t, m)
	copied := m.Copy() // which loses the default types
	pgxtype.Register(copied)
	works(t, copied)
	pgxtype.Register(nil)
	if err := pgxtype.AfterConnect(t.Context(), nil); !errors.Is(err, sqltype.ErrNil) {
		t.Error(err)
	}
}

// works encodes what only a registered map can.
func works(t *testing.T, m *pgtype.Map) {
	t.Helper()
	for _, oid := range []uint32{0, pgtype.Int8ArrayOID} {
		if b, err := m.Encode(oid, pgtype.TextFormatCode, []ID{1, 2}, nil); err != nil || string(b) != "{1,2}" {
			t.Errorf("array as oid %d: %q, %v", oid, b, err)
		}
	}
	if b, err := m.Encode(pgtype.TextOID, pgtype.BinaryFormatCode, ID(7), nil); err != nil || string(b) != "7" {
		t.Errorf("text: %q, %v", b, err)
	}
	typ, _ := m.TypeForOID(pgtype.Int8OID)
	if got := reflect.TypeOf(typ.Codec).String(); got != "pgxtype.codec" {
		t.Errorf("int8 has the codec %s", got)
	}
}

// custom is a program's own codec.
type custom struct{ pgtype.Int8Codec }

func (custom) DecodeValue(*pgtype.Map, uint32, int16, []byte) (any, error) { return "custom", nil }

func (custom) DecodeDatabaseSQLValue(*pgtype.Map, uint32, int16, []byte) (driver.Value, error) {
	return "custom", nil
}

func TestRegisterDecoratesWhatIsThere(t *testing.T) {
	m := pgtype.NewMap()
	m.RegisterType(&pgtype.Type{Name: "int8", OID: pgtype.Int8OID, Codec: custom{}})
	pgxtype.Register(m)
	works(t, m)
	var v any
	if err := m.Scan(pgtype.Int8OID, pgtype.TextFormatCode, []byte("7"), &v); err != nil || v != "custom" {
		t.Errorf("the program's codec decodes %v, %v", v, err)
	}

	// A later codec replaces the decorated one; registering again decorates it.
	m.RegisterType(&pgtype.Type{Name: "int8", OID: pgtype.Int8OID, Codec: pgtype.Int8Codec{}})
	pgxtype.Register(m)
	works(t, m)
}

func TestRegisterKeepsForeignArrays(t *testing.T) {
	m := pgtype.NewMap()
	foreign := &pgtype.Type{Name: "_int8", OID: pgtype.Int8ArrayOID, Codec: custom{}}
	m.RegisterType(foreign)
	pgxtype.Register(m)
	if got, _ := m.TypeForName("_int8"); got != foreign {
		t.Error("a codec of the program's own was replaced")
	}
}
