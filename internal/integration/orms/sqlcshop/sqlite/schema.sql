CREATE TABLE orders (
	id          bigint NOT NULL PRIMARY KEY,
	number      varchar(40) NOT NULL UNIQUE,
	customer    varchar(40) NOT NULL,
	parent_id   bigint REFERENCES orders
) WITHOUT ROWID;

CREATE TABLE order_lines (
	id       bigint NOT NULL PRIMARY KEY,
	order_id bigint NOT NULL REFERENCES orders,
	sku      varchar(40) NOT NULL
) WITHOUT ROWID;
