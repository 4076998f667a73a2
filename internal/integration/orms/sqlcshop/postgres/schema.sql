CREATE TABLE orders (
	id          bigint PRIMARY KEY,
	number      varchar(40) NOT NULL UNIQUE,
	customer    varchar(40) NOT NULL,
	parent_id   bigint REFERENCES orders
);

CREATE TABLE order_lines (
	id       bigint PRIMARY KEY,
	order_id bigint NOT NULL REFERENCES orders,
	sku      varchar(40) NOT NULL
);

CREATE TABLE lists (
	id  bigint PRIMARY KEY,
	ids bigint[] NOT NULL
);
