package migrate

import (
	"fmt"
	"testing"
)

// shop makes tables that refer to orders: by a foreign key with an action, by a key of two columns,
// by a key that others refer to, by a wider column, and to itself.
func (db *engine) shop(t testing.TB, n int) {
	t.Helper()
	db.Run(t,
		"CREATE TABLE orders (id serial PRIMARY KEY, parent_id int, note text NOT NULL, CONSTRAINT orders_parent FOREIGN KEY (parent_id) REFERENCES orders (id))",
		"CREATE TABLE order_lines (order_id int NOT NULL, line int NOT NULL, amount int NOT NULL DEFAULT 1, PRIMARY KEY (order_id, line), CONSTRAINT order_lines_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE)",
		"CREATE TABLE shipments (order_id int PRIMARY KEY, place int, CONSTRAINT shipments_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE)",
		"CREATE TABLE parcels (id serial PRIMARY KEY, shipment_id int, CONSTRAINT parcels_shipment FOREIGN KEY (shipment_id) REFERENCES shipments (order_id) ON DELETE CASCADE)",
		"CREATE INDEX orders_parent_id ON orders (parent_id)",
		"CREATE INDEX parcels_shipment_id ON parcels (shipment_id DESC)",
		"CREATE TABLE order_notes (id serial PRIMARY KEY, order_id bigint REFERENCES orders ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED)",
		"CREATE INDEX order_lines_big ON order_lines (order_id, (lower(amount::text))) INCLUDE (line) WHERE amount > 1",
		"COMMENT ON COLUMN orders.id IS 'It''s the key'",
		fmt.Sprintf("INSERT INTO orders (note) SELECT 'old' FROM generate_series(1, %d)", n),
		"INSERT INTO order_notes (order_id) SELECT id FROM orders WHERE id % 100 = 0",
		"INSERT INTO order_lines (order_id, line, amount) SELECT id, 1, id % 3 FROM orders",
		"INSERT INTO shipments (order_id) SELECT id FROM orders WHERE id % 2 = 0",
		"INSERT INTO parcels (shipment_id) SELECT order_id FROM shipments WHERE order_id % 4 = 0",
		"UPDATE orders SET parent_id = id - 1 WHERE id % 10 = 3 AND id - 1 IN (SELECT order_id FROM shipments)")
}
