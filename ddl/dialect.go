package ddl

import (
	"errors"
	"fmt"
	"strings"

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
		if compound(statement) {
			b.WriteString(delimited(statement))
			continue
		}
		b.WriteString(statement + ";\n")
	}
	return b.String()
}

// compound reports whether a statement is one for MySQL or MariaDB with semicolons in it.
func compound(statement string) bool {
	return strings.HasSuffix(statement, "\nEND") && strings.Contains(statement, "BEGIN")
}

// delimited is a compound statement for mysql's client, which otherwise ends it at its first
// semicolon.
func delimited(statement string) string {
	return fmt.Sprintf("DELIMITER //\n%s //\nDELIMITER ;\n", statement)
}
