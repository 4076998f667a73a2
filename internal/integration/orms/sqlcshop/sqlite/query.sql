-- name: InsertOrder :exec
INSERT INTO orders (id, number, customer, parent_id) VALUES (?, ?, ?, ?);

-- name: InsertLine :exec
INSERT INTO order_lines (id, order_id, sku) VALUES (?, ?, ?);

-- name: PutOrder :one
INSERT INTO orders (id, number, customer, parent_id) VALUES (?, ?, ?, ?)
ON CONFLICT (number) DO UPDATE SET customer = excluded.customer
RETURNING id;

-- name: Orders :many
SELECT id, number, customer, parent_id FROM orders WHERE id IN (sqlc.slice('ids')) ORDER BY id;

-- name: LinesOf :many
SELECT id, order_id, sku FROM order_lines WHERE order_id IN (sqlc.slice('ids')) ORDER BY id;

-- name: Roots :many
SELECT id FROM orders WHERE parent_id IS NULL ORDER BY id;
