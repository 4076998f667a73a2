package ddl

import (
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/core"
)

// A Dialect says whose SQL is written. Its values are the names that GORM's
// dialectors give themselves, so Dialect(db.Name()) is one. The zero Dialect is
// an error everywhere.
type Dialect string

// The dialects.
const (
	Postgres Dialect = "postgres" // PostgreSQL 14 or later
	MySQL    Dialect = "mysql"    // MySQL 8.0 or later, MariaDB 10.3 or later
	SQLite   Dialect = "sqlite"   // 3.31 or later
)

// ParseDialect takes the names that databases and their Go drivers go by:
// postgres, postgresql, pgx, mysql, mariadb, sqlite and sqlite3, in any case.
func ParseDialect(name string) (Dialect, error) {
	switch strings.ToLower(name) {
	case "postgres", "postgresql", "pgx":
		return Postgres, nil
	case "mysql", "mariadb":
		return MySQL, nil
	case "sqlite", "sqlite3":
		return SQLite, nil
	}
	return "", faults{Dialect(name).fault()}.err()
}

func (d Dialect) known() bool { return d == Postgres || d == MySQL || d == SQLite }

func (d Dialect) fault() core.FieldError {
	return core.FieldError{Field: "Dialect", Value: fmt.Sprintf("%q", string(d)), Reason: "must be postgres, mysql or sqlite"}
}

// product is the dialect's name in a sentence.
func (d Dialect) product() string {
	switch d {
	case Postgres:
		return "PostgreSQL"
	case MySQL:
		return "MySQL"
	case SQLite:
		return "SQLite"
	}
	return string(d)
}

// A Script is a list of statements to be executed in order. They bear no
// semicolon at their end, as drivers want them.
type Script []string

// String is the script as a file: each statement with a semicolon and a line
// break. No statement for MySQL or SQLite has a semicolon within its code, so mysql's client
// needs no DELIMITER; some of PostgreSQL are DO blocks.
func (s Script) String() string {
	var b strings.Builder
	for _, statement := range s {
		b.WriteString(statement + ";\n")
	}
	return b.String()
}
