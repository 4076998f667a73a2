CREATE TABLE orders (
	id          bigint PRIMARY KEY,
	number      varchar(40) NOT NULL UNIQUE,
	customer    varchar(40) NOT NULL,
	parent_id   bigint REFERENCES orders (id)
);

CREATE TABLE order_lines (
	id       bigint PRIMARY KEY,
	order_id bigint NOT NULL REFERENCES orders (id),
	sku      varchar(40) NOT NULL
);
