-- name: InsertOrder :exec
INSERT INTO orders (id, number, customer, parent_id) VALUES ($1, $2, $3, $4);

-- name: InsertLine :exec
INSERT INTO order_lines (id, order_id, sku) VALUES ($1, $2, $3);

-- name: PutOrder :one
INSERT INTO orders (id, number, customer, parent_id) VALUES ($1, $2, $3, $4)
ON CONFLICT (number) DO UPDATE SET customer = excluded.customer
RETURNING id;

-- name: Orders :many
SELECT id, number, customer, parent_id FROM orders WHERE id = ANY(sqlc.arg(ids)::bigint[]) ORDER BY id;

-- name: LinesOf :many
SELECT id, order_id, sku FROM order_lines WHERE order_id = ANY(sqlc.arg(ids)::bigint[]) ORDER BY id;

-- name: Roots :many
SELECT id FROM orders WHERE parent_id IS NULL ORDER BY id;

-- name: InsertList :exec
INSERT INTO lists (id, ids) VALUES ($1, $2);

-- name: ListsWith :many
SELECT ids FROM lists WHERE sqlc.arg(wanted)::bigint = ANY(ids);
