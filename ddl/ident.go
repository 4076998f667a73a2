package ddl

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The longest names. PostgreSQL would cut a longer one off in silence.
const (
	postgresName = 63 // bytes
	mysqlName    = 64 // characters
)

// ident quotes one identifier. What the database cannot have for a name is a
// fault of the field it was given in.
func (d Dialect) ident(f *faults, field, name string) string {
	bad := func(format string, args ...any) {
		value := name
		if len(value) > 80 {
			value = strings.ToValidUTF8(value[:80], "") + "…"
		}
		f.add(field, fmt.Sprintf("%q", value), format, args...)
	}
	switch {
	case name == "":
		bad("must not be empty")
	case !utf8.ValidString(name):
		bad("must be UTF-8")
	case strings.ContainsRune(name, 0):
		bad("must not hold a NUL")
	case d == Postgres && len(name) > postgresName:
		bad("has %d bytes, PostgreSQL's names have at most %d", len(name), postgresName)
	case d == MySQL && utf8.RuneCountInString(name) > mysqlName:
		bad("has %d characters, MySQL's names have at most %d", utf8.RuneCountInString(name), mysqlName)
	case d == MySQL && strings.HasSuffix(name, " "):
		bad("ends in a space, which MySQL allows no name")
	case d == MySQL && strings.ContainsFunc(name, func(r rune) bool { return r > 0xFFFF }):
		bad("has a character beyond U+FFFF, which MySQL allows no name")
	}
	if d == Postgres {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	// In SQLite too: a misspelt column in double quotes would be a string to it.
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// object quotes a name with its schema, if there is one.
func (d Dialect) object(f *faults, schema, field, name string) string {
	quoted := d.ident(f, field, name)
	if schema == "" {
		return quoted
	}
	return d.ident(f, "Schema", schema) + "." + quoted
}

// Quote quotes the name of a table, a view or a column for your own statement. The name
// may be qualified: schema and table, table and column, or schema, table and column. Its
// case matters. If the first of several names is empty, it is left out.
func (d Dialect) Quote(names ...string) (string, error) {
	var f faults
	if !d.known() {
		f = append(f, d.fault())
	}
	if len(names) > 1 && names[0] == "" {
		names = names[1:]
	}
	quoted := d.path(&f, "name", names)
	if err := f.err(); err != nil {
		return "", err
	}
	return quoted, nil
}

// path quotes a qualified name, of at most three names.
func (d Dialect) path(f *faults, field string, path []string) string {
	if len(path) == 0 || len(path) > 3 {
		f.add(field, fmt.Sprintf("%q", path), "must be one name, or a table and a column, or a schema, a table and a column")
		return ""
	}
	quoted := make([]string, len(path))
	for i, name := range path {
		quoted[i] = d.ident(f, field, name)
	}
	return strings.Join(quoted, ".")
}

// text is a string constant, safe in whatever way the server reads backslashes.
func (d Dialect) text(s string) string {
	if !strings.Contains(s, `\`) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	switch d {
	case Postgres:
		return "E'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(s) + "'"
	case MySQL:
		return "CONVERT(x'" + hex.EncodeToString([]byte(s)) + "' USING utf8mb4)"
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}
