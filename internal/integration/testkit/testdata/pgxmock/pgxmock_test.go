package pgxmock

import (
	"testing"

	"github.com/pashagolub/pgxmock/v4"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
	"github.com/seed-299c1d6b/snowkey/snowkeytest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

var _ pgxload.Beginner = pgxmock.PgxPoolIface(nil)

// The matchers of docs/testing.md.
func TestMatchers(t *testing.T) {
	for _, same := range []bool{true, false} {
		mock, err := pgxmock.NewPool()
		if err != nil {
			t.Fatal(err)
		}
		order := new(snowkeytest.SameID)
		mock.ExpectExec("INSERT INTO orders").WithArgs(order.Pgx(), "by air").WillReturnResult(pgxmock.NewResult("INSERT", 1))
		mock.ExpectExec("INSERT INTO order_lines").WithArgs(snowkeytest.AnyID{}.Pgx(), order.Pgx()).WillReturnResult(pgxmock.NewResult("INSERT", 1))
		id, foreign := snowkeytest.ID(1), snowkeytest.ID(1)
		if !same {
			foreign = snowkeytest.ID(3)
		}
		_, err = mock.Exec(t.Context(), "INSERT INTO orders VALUES ($1, $2)", id, "by air")
		if err != nil {
			t.Fatal(err)
		}
		_, err = mock.Exec(t.Context(), "INSERT INTO order_lines VALUES ($1, $2)", sqltype.ID(snowkeytest.ID(2)), foreign)
		if (err == nil) != same {
			t.Errorf("same %t: %v", same, err)
		}
	}
}
