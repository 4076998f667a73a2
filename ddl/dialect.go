package ddl

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Dialect is a database's SQL. Its values are the names of GORM's dialectors, so
// Dialect(db.Name()) is one. The zero Dialect is an error everywhere.
type Dialect string

// The dialects.
const (
	Postgres Dialect = "postgres" // PostgreSQL 14 or later
	MySQL    Dialect = "mysql"    // MySQL 8.0 or later, MariaDB 10.3 or later
	SQLite   Dialect = "sqlite"   // 3.31 or later
)

// ParseDialect returns the Dialect of a database or a Go driver: postgres, postgresql,
// pgx, mysql, mariadb, sqlite or sqlite3, in any case.
func ParseDialect(name string) (Dialect, error) {
	switch strings.ToLower(name) {
	case "postgres", "postgresql", "pgx":
		return Postgres, nil
	case "mysql", "mariadb":
		return MySQL, nil
	case "sqlite", "sqlite3":
		return SQLite, nil
	}
	var wrong fields.Errors
	Dialect(name).check(&wrong)
	return "", wrong.Err("ddl")
}

// product is the database's name; empty for an unknown dialect.
func (d Dialect) product() string {
	return map[Dialect]string{Postgres: "PostgreSQL", MySQL: "MySQL", SQLite: "SQLite"}[d]
}

func (d Dialect) check(wrong *fields.Errors) {
	if d.product() == "" {
		wrong.Add("Dialect", string(d), "must be postgres, mysql or sqlite")
	}
}

// unsupported is an errors.ErrUnsupported that names the database.
func (d Dialect) unsupported(what string) error {
	return fmt.Errorf("ddl: %s has no %s: %w", d.product(), what, errors.ErrUnsupported)
}

// Script is a list of statements to execute in order. They have no semicolon at the end,
// because drivers expect none.
type Script []string

// String returns the script as a file: each statement with a semicolon and a line break. Some for
// PostgreSQL are DO blocks. For mysql's client, a statement that contains semicolons is between
// two DELIMITER commands.
func (s Script) String() string {
	var b strings.Builder
	for _, statement := range s {
		// A trigger of MySQL has semicolons in it, and mysql's client would end it at the first.
		if strings.HasSuffix(statement, "\nEND") && strings.Contains(statement, "BEGIN") {
			fmt.Fprintf(&b, "DELIMITER //\n%s //\nDELIMITER ;\n", statement)
			continue
		}
		b.WriteString(statement + ";\n")
	}
	return b.String()
}

// The longest names. PostgreSQL truncates a longer one silently.
const (
	postgresName = 63 // bytes
	mysqlName    = 64 // characters
)

// ident quotes one identifier. A name that the database does not accept is an error of the
// field.
func (d Dialect) ident(wrong *fields.Errors, field, name string) string {
	bad := func(format string, args ...any) { wrong.Add(field, name, format, args...) }
	switch {
	case name == "":
		bad("must not be empty")
	case !utf8.ValidString(name):
		bad("must be UTF-8")
	case strings.ContainsRune(name, 0):
		bad("must not contain a NUL")
	case d == Postgres && len(name) > postgresName:
		bad("has %d bytes, PostgreSQL's names have at most %d", len(name), postgresName)
	case d == MySQL && utf8.RuneCountInString(name) > mysqlName:
		bad("has %d characters, MySQL's names have at most %d", utf8.RuneCountInString(name), mysqlName)
	case d == MySQL && strings.HasSuffix(name, " "):
		bad("ends in a space, which MySQL does not allow")
	case d == MySQL && strings.ContainsFunc(name, func(r rune) bool { return r > 0xFFFF }):
		bad("has a character beyond U+FFFF, which MySQL does not allow")
	}
	return d.quote(name)
}

// identWith quotes a name that begins with the value of a field. An error quotes that value, because
// it is what the caller wrote.
func (d Dialect) identWith(wrong *fields.Errors, field, value, after string) string {
	var bad fields.Errors
	quoted := d.ident(&bad, field, value+after)
	for _, e := range bad {
		wrong.Add(field, value, "with %q after it %s", after, e.Reason)
	}
	return quoted
}

func (d Dialect) quote(name string) string {
	if d == Postgres {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	// In SQLite too, where a misspelt column in double quotes would be a string.
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// qualify quotes a name with its schema, if there is one.
func (d Dialect) qualify(schema, name string) string {
	if schema == "" {
		return d.quote(name)
	}
	return d.quote(schema) + "." + d.quote(name)
}

// Quote quotes the name of a table, a view or a column for your own statement. The name
// may be qualified: schema and table, table and column, or schema, table and column. It is
// case-sensitive. If the first of several names is empty, it is left out.
func (d Dialect) Quote(names ...string) (string, error) {
	var wrong fields.Errors
	d.check(&wrong)
	if len(names) > 1 && names[0] == "" {
		names = names[1:]
	}
	quoted := d.path(&wrong, "name", names)
	if err := wrong.Err("ddl"); err != nil {
		return "", err
	}
	return quoted, nil
}

// path quotes a qualified name, of at most three names.
func (d Dialect) path(wrong *fields.Errors, field string, path []string) string {
	if len(path) == 0 || len(path) > 3 {
		wrong.Add(field, fmt.Sprintf("%q", path), "must be one name, a table and a column, or a schema, a table and a column")
		return ""
	}
	quoted := make([]string, len(path))
	for i, name := range path {
		quoted[i] = d.ident(wrong, field, name)
	}
	return strings.Join(quoted, ".")
}

// text is a string constant, safe however the server reads backslashes.
func (d Dialect) text(s string) string {
	plain := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	switch {
	case !strings.Contains(s, `\`):
		return plain
	case d == Postgres:
		return "E" + strings.ReplaceAll(plain, `\`, `\\`)
	case d == MySQL:
		return "CONVERT(x'" + hex.EncodeToString([]byte(s)) + "' USING utf8mb4)"
	}
	return plain
}
