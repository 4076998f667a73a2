package pgxtype_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// builtin are all types that pgx knows by default.
func builtin() (types []*pgtype.Type) {
	m := pgtype.NewMap()
	for oid := range uint32(20_000) {
		if t, ok := m.TypeForOID(oid); ok {
			types = append(types, t)
		}
	}
	return types
}

// The types for which an ID differs from an int64, and why. For an array, []ID is
// compared with []int64.
var (
	texts  = []string{"text", "varchar", "bpchar", "name"} // they take and give the decimal text
	marked = []string{"xml"}                               // elements are named as the type is
)

func element(t *pgtype.Type) string { return strings.TrimPrefix(t.Name, "_") }

// samples are values that look like an id, for types that have such values.
var samples = map[string]string{
	"bit": "1", "varbit": "101", "bool": "1", "cidr": "10.0.0.0/8", "inet": "10.0.0.7", "macaddr": "08:00:2b:01:02:03", "macaddr8": "08:00:2b:01:02:03:04:05",
	"point": "(1,2)", "line": "{1,2,3}", "lseg": "[(1,2),(3,4)]", "path": "[(1,2)]", "box": "(1,2),(3,4)", "polygon": "((1,2))", "circle": "<(1,2),3>",
	"date": "2026-11-22", "time": "10:11", "timestamp": "2026-11-22", "timestamptz": "2026-11-22", "tid": "(1,2)", "uuid": "00000000-0000-0000-0000-000000000007",
	"int4range": "[5,9)", "int8range": "[5,9)", "numrange": "[5,9)", "daterange": "[2026-11-22,2026-11-23)", "tsrange": "[2026-11-22,2026-11-23)", "tstzrange": "[2026-11-22,2026-11-23)",
	"int4multirange": "{[5,9)}", "int8multirange": "{[5,9)}", "nummultirange": "{[5,9)}", "datemultirange": "{}", "tsmultirange": "{}", "tstzmultirange": "{}",
	"aclitem": "=r/postgres",
}

// unusable are the types that no value can be cast to, that of a literal, which is
// text wherever it is used, and those of newer servers.
var unusable = []string{"record", "unknown", "oid8"}

func sample(t *pgtype.Type) string {
	s, ok := samples[element(t)]
	if !ok {
		s = "7"
	}
	if !strings.HasPrefix(t.Name, "_") {
		return s
	}
	return `{"` + strings.ReplaceAll(s, `"`, `\"`) + `"}`
}

func cast(t *pgtype.Type) string {
	name := pgx.Identifier{element(t)}.Sanitize()
	if t.Name != element(t) {
		name += "[]"
	}
	return name
}

// result is the result of a query: a text, or an error.
type result struct {
	text string
	err  error
}

func (r result) String() string {
	if r.err != nil {
		return "refused: " + r.err.Error()
	}
	return r.text
}

func send(t *testing.T, conn *pgx.Conn, typ *pgtype.Type, v any) (r result) {
	t.Helper()
	r.err = conn.QueryRow(t.Context(), `select coalesce(($1::`+cast(typ)+`)::text, 'NULL')`, v).Scan(&r.text)
	return r
}

func receive(t *testing.T, conn *pgx.Conn, typ *pgtype.Type, target any) (r result) {
	t.Helper()
	r.err = conn.QueryRow(t.Context(), `select '`+sample(typ)+`'::`+cast(typ)).Scan(target)
	if r.err == nil {
		r.text = fmt.Sprint(reflect.Indirect(reflect.ValueOf(target)).Interface())
	}
	return r
}

// Each type that pgx knows is encoded from and scanned into an ID if it is for an int64.
// The exceptions are listed above.
func TestEveryType(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			conn, plain := connect(t, mode), connect(t, mode)
			pgxtype.Register(conn.TypeMap())
			described := mode != pgx.QueryExecModeExec && mode != pgx.QueryExecModeSimpleProtocol
			for _, typ := range builtin() {
				if slices.Contains(unusable, element(typ)) {
					continue
				}
				if err := plain.QueryRow(t.Context(), `select '`+sample(typ)+`'::`+cast(typ)).Scan(new(pgtype.UndecodedBytes)); err != nil {
					t.Errorf("%s: the server does not take the sample: %v", typ.Name, err)
					continue
				}
				checkSent(t, conn, plain, typ, described)
				checkReceived(t, conn, plain, typ)
			}
		})
	}
}

// checkSent compares parameters. If pgx does not know the column, the server gets the
// decimal text of both.
func checkSent(t *testing.T, conn, plain *pgx.Conn, typ *pgtype.Type, described bool) {
	name := element(typ)
	array := name != typ.Name
	is := func(types []string) bool { return slices.Contains(types, name) }
	for _, p := range []struct{ ours, number any }{
		{ID(7), int64(7)},
		{new(ID(7)), int64(7)},
		{valid(7), int64(7)},
		{new(valid(7)), int64(7)},
		{[]ID{7}, []int64{7}},
		{&[]ID{7}, []int64{7}},
		{[]*ID{new(ID(7))}, []int64{7}},
		{[]NullID{valid(7)}, []int64{7}},
		{(*ID)(nil), (*int64)(nil)},
		{NullID{}, (*int64)(nil)},
		{[]ID(nil), []int64(nil)},
	} {
		slice := reflect.Indirect(reflect.ValueOf(p.ours)).Kind() == reflect.Slice
		bare, got, keys := send(t, plain, typ, p.ours), send(t, conn, typ, p.ours), send(t, conn, typ, keyed(p.ours))
		want := send(t, plain, typ, p.number)
		switch null := reflect.ValueOf(p.ours).IsZero(); {
		case bare.err == nil: // then registering changes nothing
			want = bare
		case null || !described:
		case is(texts) && slice == array:
			want = result{text: "7"}
			if array {
				want.text = "{7}"
			}
		}
		if (got.err == nil) != (want.err == nil) || got.text != want.text {
			t.Errorf("%T to %s: %v; want %v", p.ours, typ.Name, got, want)
		}
		named := is(marked) && slice && !array // elements of xml have the name of the Go type
		if !named && ((keys.err == nil) != (got.err == nil) || keys.text != got.text) {
			t.Errorf("%T to %s: %v; want %v", keyed(p.ours), typ.Name, keys, got)
		}
		if got.err != nil && described && !strings.Contains(got.err.Error(), typ.Name) {
			t.Errorf("%T to %s: %v does not name the type", p.ours, typ.Name, got.err)
		}
	}
}

// checkReceived compares results. What they are, pgx knows in every mode. What can be scanned into an ID
// without registration gives the same with it, and bigint and text can be.
func checkReceived(t *testing.T, conn, plain *pgx.Conn, typ *pgtype.Type) {
	name := element(typ)
	targets := []any{new(ID), new(*ID), new(NullID)}
	if name != typ.Name {
		targets = []any{new([]ID), new([]*ID), new([]NullID)}
	}
	must := name == "int8" || slices.Contains(texts, name)
	for _, target := range append(targets, each(keyed, targets)...) {
		bare := receive(t, plain, typ, reflect.New(reflect.TypeOf(target).Elem()).Interface())
		got := receive(t, conn, typ, target)
		addresses := strings.Contains(got.text, "0x") && strings.Contains(bare.text, "0x")
		if bare.err == nil && got.text != bare.text && !addresses || bare.err != nil && (got.err == nil) != must || must && got.err != nil {
			t.Errorf("%s into %T: %v; %v if not registered", typ.Name, target, got, bare)
		}
		if got.err != nil && !strings.Contains(got.err.Error(), name) {
			t.Errorf("%s into %T: %v does not name the type", typ.Name, target, got.err)
		}
	}
}
