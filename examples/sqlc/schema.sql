CREATE TABLE IF NOT EXISTS orders (
	id       bigint PRIMARY KEY,
	number   text   NOT NULL UNIQUE,
	customer text   NOT NULL,
	replaces bigint REFERENCES orders
);

CREATE TABLE IF NOT EXISTS lines (
	id       bigint PRIMARY KEY,
	order_id bigint NOT NULL REFERENCES orders,
	sku      text   NOT NULL,
	cents    bigint NOT NULL -- no id: sqlc.yaml says so
);

CREATE INDEX IF NOT EXISTS lines_order_id ON lines (order_id);
