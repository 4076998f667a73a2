package sqlstore

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// PostgreSQL's drivers report an SQLSTATE, and MySQL's a number. SQLite has one code for all the errors
// below, so their texts are compared.

var (
	// A login or a privilege is refused; a database, schema, table or column is missing.
	permanentStates  = []string{"28000", "28P01", denied, "3D000", "3F000", "42P01", "42703"}
	permanentNumbers = []uint16{1044, 1045, 1049, 1054, 1142, 1193, 1146} // the same for MySQL
	// The same for SQLite, and a closed pool of database/sql or pgxpool.
	permanentText = regexp.MustCompile(`\bno such (table|column)\b|\bunable to open database file\b|\breadonly database\b|\bsql: database is closed$|\bclosed pool$`)

	errNoAnswer = errors.New("the answer lacks what was asked for")
	errTaken    = errors.New("something else has its name")
	errMissing  = driver.Permanent(errors.New("it does not exist, and NoCreate is set"))
	errOpen     = errors.New("the connection is in a transaction that was left open, which could undo what this store writes: end it before its connection returns to the pool, or give the store its own pool")
	// A driver may send a query in several messages, each with its own time.
	errNotOwn = fmt.Errorf("%w; or the driver prepares statements: give the store pgx or lib/pq without a wrapper, in an encoding of UTF8, or set pgx's default_query_exec_mode to simple_protocol", errOpen)
	// It was changed for new sessions since the store inspected the server; the next request sets it.
	errAutocommit = errors.New("nothing was written, because the session has autocommit off: try again")
	errStandby    = errors.New("the server is a standby, which takes no writes: connect to the primary, for example with target_session_attrs=read-write")
	errReplaced   = errors.New("the database's file was replaced, and this program may have connections to the old one: start it again")
	errPrivate    = driver.Permanent(errors.New("each connection has its own database in memory: call SetMaxOpenConns(1), or open file::memory:?cache=shared"))
)

func hasText(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

// denied is PostgreSQL's SQLSTATE if the role lacks a privilege.
const denied = "42501"

// classified marks an error as permanent if it lasts until the database, or the way it is opened, is
// changed. A database that is starting, or full, is not permanent.
func classified(err error) error {
	if retry.SQLState(err) == denied { // MySQL names the missing privilege
		err = fmt.Errorf("%w; the role needs USAGE on the schema, SELECT, INSERT, UPDATE on the tables, and EXECUTE on the functions of the store: GRANT it", err)
	}
	if hasText(err, "client_encoding=UTF8") { // pgx's, in databases of another encoding
		return driver.Permanent(fmt.Errorf("%w: add client_encoding=UTF8 to the DSN", err))
	}
	if slices.Contains(permanentStates, retry.SQLState(err)) || slices.Contains(permanentNumbers, retry.MySQLNumber(err)) || permanentText.MatchString(err.Error()) {
		return driver.Permanent(err)
	}
	return err
}

// readOnly reports whether the database takes no writes, or none on this connection.
func readOnly(err error) bool {
	return slices.Contains([]string{"25006", "55000"}, retry.SQLState(err)) || slices.Contains([]uint16{1290, 1792, 1836}, retry.MySQLNumber(err)) || errors.Is(err, errStandby)
}

// named adds the failed operation to an error, unless the error already names it.
func named(what string, err error) error {
	if prefix, _, _ := strings.Cut(err.Error(), ":"); slices.Contains([]string{"sqlstore", "worker", "driver"}, prefix) {
		return err
	}
	return fmt.Errorf("sqlstore: %s: %w", what, err)
}

// openError adds errOpen to SQLite's error about a statement that is not allowed in a transaction.
func openError(err error) error {
	if hasText(err, "within a transaction") || hasText(err, "inside a transaction") {
		return fmt.Errorf("%w: %w", errOpen, err)
	}
	return err
}

// explained adds the cause to an error, or the driver's error that a lease acts on.
func (x session) explained(err error) error {
	switch state, number := retry.SQLState(err), retry.MySQLNumber(err); {
	case err == nil:
		return nil
	case state == "25P02": // in_failed_sql_transaction
		return fmt.Errorf("%w: %w", errOpen, err)
	case x.Dialect == ddl.Postgres && readOnly(err):
		return fmt.Errorf("%w: it is a standby, or default_transaction_read_only is on for the session, the role or the database: set it off", err)
	case x.incarnation.inMemory && hasText(err, "no such table"):
		return errPrivate
	case state == "55P03" || number == 1205 || number == 3572: // undone, because another transaction kept a lock for too long
		return fmt.Errorf("%w: %w", driver.ErrLocked, err)
	}
	return err
}
