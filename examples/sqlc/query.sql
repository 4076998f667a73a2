-- name: InsertOrders :batchexec
INSERT INTO orders (id, number, customer, replaces) VALUES ($1, $2, $3, $4);

-- name: InsertLines :copyfrom
INSERT INTO lines (id, order_id, sku, cents) VALUES ($1, $2, $3, $4);

-- name: PutOrder :one
INSERT INTO orders (id, number, customer) VALUES ($1, $2, $3)
ON CONFLICT (number) DO UPDATE SET customer = excluded.customer
RETURNING id;

-- name: PageOfOrders :many
SELECT id, number, customer, replaces FROM orders WHERE id > sqlc.arg(after) ORDER BY id LIMIT sqlc.arg(size);

-- name: OrdersBetween :many
SELECT id, number, customer, replaces FROM orders WHERE id >= sqlc.arg(low) AND id < sqlc.arg(high) ORDER BY id;

-- name: LinesOf :many
SELECT id, order_id, sku, cents FROM lines WHERE order_id = ANY(sqlc.arg(order_ids)::bigint[]) ORDER BY id;

-- name: Replaced :many
SELECT o.id, o.customer, r.id AS replaced_by FROM orders o LEFT JOIN orders r ON r.replaces = o.id
WHERE o.id = ANY(sqlc.arg(ids)::bigint[]) ORDER BY o.id;

-- name: CountLines :one
SELECT count(*) FROM lines;
