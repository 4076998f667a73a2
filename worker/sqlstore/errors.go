package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// The drivers of PostgreSQL report an SQLSTATE, and MySQL's a number. SQLite has one code for
// all the errors that are distinguished here, so their texts are compared.

func hasText(err error, texts ...string) bool {
	return err != nil && slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(err.Error(), text) })
}

const noTable = 1146 // MySQL's number

var (
	// A login or a right is refused; a database, schema, table or column is missing.
	permanentStates  = []string{"28000", "28P01", "42501", "3D000", "3F000", "42P01", "42703"}
	permanentNumbers = []uint16{1044, 1045, 1049, 1054, 1142, 1193, noTable} // the same for MySQL
	// The same for SQLite, and a closed pool of database/sql or pgxpool.
	permanentText = regexp.MustCompile(`\bno such (table|column)\b|\bunable to open database file\b|\breadonly database\b|\bsql: database is closed$|\bclosed pool$`)
)

// markPermanent marks errors that last until somebody changes the database or how it is opened.
// A database that is starting, or full, is not one of them.
func markPermanent(err error) error {
	if err != nil && (slices.Contains(permanentStates, retry.SQLState(err)) || slices.Contains(permanentNumbers, retry.MySQLNumber(err)) || permanentText.MatchString(err.Error())) {
		return driver.Permanent(err)
	}
	return err
}

// denied reports whether the role lacks a right.
func denied(err error) bool {
	if state := retry.SQLState(err); state != "" || err == nil {
		return state == "42501"
	}
	return slices.Contains([]uint16{1044, 1142}, retry.MySQLNumber(err))
}

// readOnly reports whether the database takes no writes, or none on this connection.
func readOnly(err error) bool {
	if state := retry.SQLState(err); state != "" {
		return state == "25006" || state == notReady
	}
	if errors.Is(err, errStandby) {
		return true
	}
	return slices.Contains([]uint16{1290, readOnlyTransaction, 1836}, retry.MySQLNumber(err))
}

// notReady is the SQLSTATE of functions that a standby refuses.
const notReady = "55000"

// isLocked reports whether the statement was undone, because another transaction kept a lock for too
// long.
func isLocked(err error) bool {
	return retry.SQLState(err) == "55P03" || slices.Contains([]uint16{1205, 3572}, retry.MySQLNumber(err))
}

// named adds what was done to an error, unless that says it.
func named(what string, err error) error {
	if prefix, _, _ := strings.Cut(err.Error(), ":"); slices.Contains([]string{"sqlstore", "worker", "driver"}, prefix) {
		return err
	}
	return fmt.Errorf("sqlstore: %s: %w", what, err)
}

// unknown reports whether PostgreSQL's error is for a function, a setting, a table or a column that
// does not exist, as in a database that is only compatible with it.
func unknown(err error) bool {
	return slices.Contains([]string{"42883", "42704", "42P01", "42703"}, retry.SQLState(err))
}

// forbidden is the error if the role lacks the rights to create or read the tables. It ends
// with the statements that another role has to run.
func (x session) forbidden(ctx context.Context, verb string, missing []table, err error) error {
	role := x.role(ctx)
	var script, grants []string
	for _, t := range missing {
		script = append(script, x.cfg.ddl()[t]+";")
		if role != "" {
			grants = append(grants, "GRANT "+rights+" ON "+x.cfg.table(t)+" TO "+role+";")
		}
	}
	subject := "the role"
	if role != "" {
		subject += " " + role
	}
	return fmt.Errorf("%s cannot %s the table %s: %w; as a role that may create it, run: %s", subject, verb, x.cfg.table(missing[0]), err, strings.Join(append(script, grants...), " "))
}

// role returns the quoted role, or "" if the database has none.
func (x session) role(ctx context.Context) (role string) {
	query := "SELECT quote_ident(CAST(current_user AS TEXT))"
	switch x.cfg.Dialect {
	case MySQL:
		query = "SELECT CURRENT_USER()"
	case SQLite:
		return ""
	}
	if x.row(ctx, query, &role) != nil {
		return "" // the error says enough without it
	}
	if i := strings.LastIndexByte(role, '@'); x.cfg.Dialect == MySQL && i >= 0 {
		role = "'" + strings.ReplaceAll(role[:i], "'", "''") + "'@'" + role[i+1:] + "'"
	}
	return role
}

// withRights adds the rights that the role needs to an error that it lacks one.
func (x session) withRights(wanted []table, err error) error {
	if retry.SQLState(err) == "" || !denied(err) || len(wanted) == 0 { // MySQL's error names both
		return err
	}
	var names []string
	for _, t := range wanted {
		names = append(names, x.cfg.table(t))
	}
	return fmt.Errorf("%w; the role needs USAGE on the schema %s, and %s on %s: GRANT it", err, x.cfg.schema(), rights, strings.Join(names, ", "))
}
