package extension

import (
	"errors"
	"fmt"
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/entc/gen"
)

const (
	sqltypePath = "github.com/seed-299c1d6b/snowkey/sqltype"
	keyPrefix   = "sqltype.Key["
	nullPrefix  = "sqltype.NullKey["
)

// goType is the type of a field as reflection prints it, or empty if it is none of package sqltype.
func goType(f *gen.Field) string {
	if !f.HasGoType() || f.Type.RType.PkgPath != sqltypePath {
		return ""
	}
	return f.Type.RType.Ident
}

func isKey(name string) bool { return name == "sqltype.ID" || strings.HasPrefix(name, keyPrefix) }

// nullable is the type for a key of this type or NULL.
func nullable(name string) string { return strings.Replace(name, "sqltype.", "sqltype.Null", 1) }

// checkID finds ids that would be auto-increment.
func checkID(node *gen.Type, exempt bool) error {
	id := node.ID
	if !isKey(goType(id)) {
		if id.Type.Type.Integer() && !exempt {
			return fmt.Errorf("this %s is auto-increment: add entkey.Mixin{} or entkey.Typed[%s]{} to the schema, or add its name to Config.Exempt", id.Type, node.Name)
		}
		return nil
	}
	if column := id.PK(); column.Increment || column.SchemaType[dialect.MySQL] != "bigint" || column.SchemaType[dialect.SQLite] != "bigint" || id.Default || !id.Immutable || id.StructTag != `json:"id"` {
		return errors.New("declare the key with entkey.Mixin or entkey.Typed: without the mixin it may be auto-increment")
	}
	return nil
}

// checkField finds fields that cannot hold NULL, and foreign keys of another type than their key.
func checkField(f *gen.Field) error {
	name := goType(f)
	if isKey(name) && f.Optional && !f.Nillable {
		return fmt.Errorf("Optional() without Nillable() cannot read NULL: add Nillable(), or give it the type %s", nullable(name))
	}
	if strings.HasPrefix(name, "sqltype.Null") && (!f.Optional || f.Nillable) {
		return fmt.Errorf("a %s needs Optional() without Nillable()", name)
	}
	if !f.IsEdgeField() {
		return nil
	}
	edge, err := f.Edge()
	if err != nil || !edge.Type.HasOneFieldID() {
		return err
	}
	want := goType(edge.Type.ID)
	switch {
	case name == want: // also if neither is a key
		return nil
	case isKey(want) && name == nullable(want):
		return fmt.Errorf("the foreign key of an edge must not be a %s: want GoType(%s) with Optional().Nillable()", name, want)
	case want == "":
		want = edge.Type.ID.Type.String()
	}
	return fmt.Errorf("a foreign key to %s must have the type of its key: want GoType(%s), not %s", edge.Type.Name, want, f.Type)
}
