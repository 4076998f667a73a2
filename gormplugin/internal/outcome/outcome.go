// Package outcome tells from an error of a database whether rows may have been written.
package outcome

import (
	"database/sql"
	"errors"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/internal/retry"
)

// IsRefused reports whether the error of an INSERT or a COMMIT proves that it wrote nothing: the database
// refused it, or it was never sent. After any other error, such as a lost connection, a timeout or a returned
// value that cannot be scanned, the rows may be there.
func IsRefused(err error) bool {
	if s := retry.SQLState(err); s != "" {
		// Errors of these classes undo the statement and keep the session. So does 57014, query_canceled, which
		// statement_timeout causes. Others may come after a commit.
		const undone = "0A 21 22 23 25 3D 3F 40 42 44 54 55 P0"
		return len(s) == 5 && (strings.Contains(undone, s[:2]) || s == "57014") && s != "40003"
	}
	if n := retry.MySQLNumber(err); n != 0 && slices.Contains([]uint16{
		1062, 1586, 1451, 1452, 3819, 4025, // constraints
		1048, 1364, 1264, 1265, 1292, 1366, 1406, // values
		1205,             // a lock's timeout
		1644, 1690, 3140, // a trigger's SIGNAL, an expression, JSON
		1054, 1136, 1142, 1143, 1146, // columns, rights, tables
	}, n) {
		return true
	}
	known := []error{gorm.ErrDuplicatedKey, gorm.ErrForeignKeyViolated, gorm.ErrCheckConstraintViolated, sql.ErrTxDone}
	return slices.ContainsFunc(known, func(e error) bool { return errors.Is(err, e) }) ||
		retry.IsUndone(err) || err != nil && strings.Contains(err.Error(), "constraint failed") // SQLite's
}
