package ddl

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// The tables of the leases, which a generator in SQL has too, tell names and tokens apart by case, whatever the
// server's collation.
func TestCaseInLeases(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		tables := ok(sqlstore.Config{Dialect: s.Dialect}.DDL())(t)
		s.Run(t, tables...)
		s.Run(t, "INSERT INTO snow_lease (namespace, worker_id, claim_id, fencing_token, start, fence, owner, state) VALUES ('orders', 1, 'tok', 0, 0, 0, '', 'held'), ('Orders', 1, '', 0, 0, 0, '', 'held')")
		if n := one[int](t, s, "SELECT count(*) FROM snow_lease WHERE claim_id = 'TOK' OR namespace = 'ORDERS'"); n != 0 {
			t.Errorf("%d rows have another case", n)
		}
	})
}
