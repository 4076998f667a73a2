package outcome_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/outcome"
)

type state string

func (s state) Error() string    { return "state " + string(s) }
func (s state) SQLState() string { return string(s) }

func TestIsRefused(t *testing.T) {
	my := func(number uint16) error { return &mysql.MySQLError{Number: number} }
	for err, want := range map[error]bool{
		state("23505"): true, state("22003"): true, state("42P01"): true, state("40001"): true, state("40P01"): true,
		state("25P02"): true, state("P0001"): true, state("57014"): true,
		state("40003"): false, state("08006"): false, state("08P01"): false, state("57P01"): false,
		state("58030"): false, state("53100"): false, state("XX000"): false, state(""): false, state("23"): false,
		my(1062): true, my(1452): true, my(1213): true, my(1205): true, my(1644): true,
		my(1053): false, my(1105): false, my(1180): false, my(2013): false,
		gorm.ErrDuplicatedKey: true, gorm.ErrForeignKeyViolated: true, sql.ErrTxDone: true,
		errors.New("constraint failed: UNIQUE constraint failed: a.b (2067)"): true,
		errors.New("database is locked (5) (SQLITE_BUSY)"):                    true,
		errors.New("disk I/O error (10)"):                                     false,
		errors.New("sql: Scan error on column index 0"):                       false,
		context.Canceled: false, context.DeadlineExceeded: false, io.ErrUnexpectedEOF: false,
		driver.ErrBadConn: false, mysql.ErrInvalidConn: false,
	} {
		if got := outcome.IsRefused(fmt.Errorf("wrapped: %w", err)); got != want {
			t.Errorf("%v: %t, want %t", err, got, want)
		}
	}
	if outcome.IsRefused(nil) {
		t.Error("no error is a refusal")
	}
}
