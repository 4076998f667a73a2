-- Tables as earlier versions and plain gorm created them, with rows.

-- state: without rowid
CREATE TABLE `jsonapi_orders` (`id` bigint NOT NULL CHECK (`id` > 0),`reorder_of` bigint,`customer` text NOT NULL,`note` text NOT NULL,`version` integer NOT NULL,PRIMARY KEY (`id`));
CREATE TABLE `jsonapi_lines` (`id` bigint NOT NULL CHECK (`id` > 0),`order_id` bigint NOT NULL,`sku` text NOT NULL,`quantity` integer NOT NULL,`price_cents` integer NOT NULL,PRIMARY KEY (`id`),CONSTRAINT `fk_jsonapi_orders_lines` FOREIGN KEY (`order_id`) REFERENCES `jsonapi_orders`(`id`) ON DELETE CASCADE) WITHOUT ROWID;
CREATE INDEX `idx_jsonapi_lines_order_id` ON `jsonapi_lines`(`order_id`);
CREATE TABLE `jsonapi_requests` (`key` text,`body` text NOT NULL,`order_id` bigint NOT NULL,PRIMARY KEY (`key`));
CREATE INDEX `idx_jsonapi_requests_order_id` ON `jsonapi_requests`(`order_id`);
INSERT INTO jsonapi_orders (id, reorder_of, customer, note, version) VALUES (11, NULL, 'Ada', '', 1), (12, 11, 'Ada', 'by air', 1);
INSERT INTO jsonapi_lines (id, order_id, sku, quantity, price_cents) VALUES (21, 11, 'S-1', 2, 150), (22, 11, 'S-2', 1, 99), (23, 12, 'S-1', 1, 150);
INSERT INTO jsonapi_requests (key, body, order_id) VALUES ('k', 'b', 11);

-- state: without rowid, customers
CREATE TABLE `jsonapi_orders` (`id` bigint NOT NULL CHECK (`id` > 0),`reorder_of` bigint,`customer_id` bigint,`customer` text NOT NULL,`note` text NOT NULL,`version` integer NOT NULL,PRIMARY KEY (`id`));
CREATE INDEX `idx_jsonapi_orders_customer_id` ON `jsonapi_orders`(`customer_id`);
CREATE TABLE `jsonapi_lines` (`id` bigint NOT NULL CHECK (`id` > 0),`order_id` bigint NOT NULL,`sku` text NOT NULL,`quantity` integer NOT NULL,`price_cents` integer NOT NULL,PRIMARY KEY (`id`),CONSTRAINT `fk_jsonapi_orders_lines` FOREIGN KEY (`order_id`) REFERENCES `jsonapi_orders`(`id`) ON DELETE CASCADE) WITHOUT ROWID;
CREATE INDEX `idx_jsonapi_lines_order_id` ON `jsonapi_lines`(`order_id`);
CREATE TABLE `jsonapi_customers` (`id` bigint NOT NULL CHECK (`id` > 0),`name` text NOT NULL,PRIMARY KEY (`id`)) WITHOUT ROWID;
CREATE TABLE `jsonapi_requests` (`key` text,`body` text NOT NULL,`order_id` bigint NOT NULL,PRIMARY KEY (`key`));
CREATE INDEX `idx_jsonapi_requests_order_id` ON `jsonapi_requests`(`order_id`);
INSERT INTO jsonapi_customers (id, name) VALUES (1, 'Ada');
INSERT INTO jsonapi_orders (id, reorder_of, customer, note, version, customer_id) VALUES (11, NULL, 'Ada', '', 1, 1), (12, 11, 'Ada', 'by air', 1, 1);
INSERT INTO jsonapi_lines (id, order_id, sku, quantity, price_cents) VALUES (21, 11, 'S-1', 2, 150), (22, 11, 'S-2', 1, 99), (23, 12, 'S-1', 1, 150);
INSERT INTO jsonapi_requests (key, body, order_id) VALUES ('k', 'b', 11);

-- state: integer, customers
CREATE TABLE `jsonapi_orders` (`id` integer,`reorder_of` bigint,`customer_id` bigint,`customer` text NOT NULL,`note` text NOT NULL,`version` integer NOT NULL,PRIMARY KEY (`id`));
CREATE INDEX `idx_jsonapi_orders_customer_id` ON `jsonapi_orders`(`customer_id`);
CREATE TABLE `jsonapi_lines` (`id` integer,`order_id` bigint NOT NULL,`sku` text NOT NULL,`quantity` integer NOT NULL,`price_cents` integer NOT NULL,PRIMARY KEY (`id`),CONSTRAINT `fk_jsonapi_orders_lines` FOREIGN KEY (`order_id`) REFERENCES `jsonapi_orders`(`id`) ON DELETE CASCADE);
CREATE INDEX `idx_jsonapi_lines_order_id` ON `jsonapi_lines`(`order_id`);
CREATE TABLE `jsonapi_customers` (`id` integer,`name` text NOT NULL,PRIMARY KEY (`id`));
CREATE TABLE `jsonapi_requests` (`key` text,`body` text NOT NULL,`order_id` bigint NOT NULL,PRIMARY KEY (`key`));
CREATE INDEX `idx_jsonapi_requests_order_id` ON `jsonapi_requests`(`order_id`);
INSERT INTO jsonapi_customers (id, name) VALUES (1, 'Ada');
INSERT INTO jsonapi_orders (id, reorder_of, customer, note, version, customer_id) VALUES (11, NULL, 'Ada', '', 1, 1), (12, 11, 'Ada', 'by air', 1, 1);
INSERT INTO jsonapi_lines (id, order_id, sku, quantity, price_cents) VALUES (21, 11, 'S-1', 2, 150), (22, 11, 'S-2', 1, 99), (23, 12, 'S-1', 1, 150);
INSERT INTO jsonapi_requests (key, body, order_id) VALUES ('k', 'b', 11);

-- state: integer
CREATE TABLE `jsonapi_orders` (`id` integer,`reorder_of` bigint,`customer` text NOT NULL,`note` text NOT NULL,PRIMARY KEY (`id`));
CREATE TABLE `jsonapi_lines` (`id` integer,`order_id` bigint NOT NULL,`sku` text NOT NULL,`quantity` integer NOT NULL,`price_cents` integer NOT NULL,PRIMARY KEY (`id`),CONSTRAINT `fk_jsonapi_orders_lines` FOREIGN KEY (`order_id`) REFERENCES `jsonapi_orders`(`id`) ON DELETE CASCADE);
CREATE INDEX `idx_jsonapi_lines_order_id` ON `jsonapi_lines`(`order_id`);
CREATE TABLE `jsonapi_requests` (`key` text,`body` text NOT NULL,`order_id` bigint NOT NULL,PRIMARY KEY (`key`));
CREATE INDEX `idx_jsonapi_requests_order_id` ON `jsonapi_requests`(`order_id`);
INSERT INTO jsonapi_orders (id, reorder_of, customer, note) VALUES (11, NULL, 'Ada', ''), (12, 11, 'Ada', 'by air');
INSERT INTO jsonapi_lines (id, order_id, sku, quantity, price_cents) VALUES (21, 11, 'S-1', 2, 150), (22, 11, 'S-2', 1, 99), (23, 12, 'S-1', 1, 150);
INSERT INTO jsonapi_requests (key, body, order_id) VALUES ('k', 'b', 11);

-- state: bigint, a version
CREATE TABLE `jsonapi_orders` (`id` bigint,`reorder_of` bigint,`customer` text NOT NULL,`note` text NOT NULL,`version` integer NOT NULL,PRIMARY KEY (`id`));
CREATE TABLE `jsonapi_lines` (`id` bigint,`order_id` bigint NOT NULL,`sku` text NOT NULL,`quantity` integer NOT NULL,`price_cents` integer NOT NULL,PRIMARY KEY (`id`),CONSTRAINT `fk_jsonapi_orders_lines` FOREIGN KEY (`order_id`) REFERENCES `jsonapi_orders`(`id`) ON DELETE CASCADE);
CREATE INDEX `idx_jsonapi_lines_order_id` ON `jsonapi_lines`(`order_id`);
CREATE TABLE `jsonapi_requests` (`key` text,`body` text NOT NULL,`order_id` bigint NOT NULL,PRIMARY KEY (`key`));
CREATE INDEX `idx_jsonapi_requests_order_id` ON `jsonapi_requests`(`order_id`);
INSERT INTO jsonapi_orders (id, reorder_of, customer, note, version) VALUES (11, NULL, 'Ada', '', 1), (12, 11, 'Ada', 'by air', 1);
INSERT INTO jsonapi_lines (id, order_id, sku, quantity, price_cents) VALUES (21, 11, 'S-1', 2, 150), (22, 11, 'S-2', 1, 99), (23, 12, 'S-1', 1, 150);
INSERT INTO jsonapi_requests (key, body, order_id) VALUES ('k', 'b', 11);

-- state: bigint, customers
CREATE TABLE `jsonapi_orders` (`id` bigint,`reorder_of` bigint,`customer_id` bigint,`customer` text NOT NULL,`note` text NOT NULL,`version` integer NOT NULL,PRIMARY KEY (`id`));
CREATE INDEX `idx_jsonapi_orders_customer_id` ON `jsonapi_orders`(`customer_id`);
CREATE TABLE `jsonapi_lines` (`id` bigint,`order_id` bigint NOT NULL,`sku` text NOT NULL,`quantity` integer NOT NULL,`price_cents` integer NOT NULL,PRIMARY KEY (`id`),CONSTRAINT `fk_jsonapi_orders_lines` FOREIGN KEY (`order_id`) REFERENCES `jsonapi_orders`(`id`) ON DELETE CASCADE);
CREATE INDEX `idx_jsonapi_lines_order_id` ON `jsonapi_lines`(`order_id`);
CREATE TABLE `jsonapi_customers` (`id` bigint,`name` text NOT NULL,PRIMARY KEY (`id`));
CREATE TABLE `jsonapi_requests` (`key` text,`body` text NOT NULL,`order_id` bigint NOT NULL,PRIMARY KEY (`key`));
CREATE INDEX `idx_jsonapi_requests_order_id` ON `jsonapi_requests`(`order_id`);
INSERT INTO jsonapi_customers (id, name) VALUES (1, 'Ada');
INSERT INTO jsonapi_orders (id, reorder_of, customer, note, version, customer_id) VALUES (11, NULL, 'Ada', '', 1, 1), (12, 11, 'Ada', 'by air', 1, 1);
INSERT INTO jsonapi_lines (id, order_id, sku, quantity, price_cents) VALUES (21, 11, 'S-1', 2, 150), (22, 11, 'S-2', 1, 99), (23, 12, 'S-1', 1, 150);
INSERT INTO jsonapi_requests (key, body, order_id) VALUES ('k', 'b', 11);

-- state: bigint
CREATE TABLE `jsonapi_orders` (`id` bigint,`reorder_of` bigint,`customer` text NOT NULL,`note` text NOT NULL,PRIMARY KEY (`id`));
CREATE TABLE `jsonapi_lines` (`id` bigint,`order_id` bigint NOT NULL,`sku` text NOT NULL,`quantity` integer NOT NULL,`price_cents` integer NOT NULL,PRIMARY KEY (`id`),CONSTRAINT `fk_jsonapi_orders_lines` FOREIGN KEY (`order_id`) REFERENCES `jsonapi_orders`(`id`) ON DELETE CASCADE);
CREATE INDEX `idx_jsonapi_lines_order_id` ON `jsonapi_lines`(`order_id`);
CREATE TABLE `jsonapi_requests` (`key` text,`body` text NOT NULL,`order_id` bigint NOT NULL,PRIMARY KEY (`key`));
CREATE INDEX `idx_jsonapi_requests_order_id` ON `jsonapi_requests`(`order_id`);
INSERT INTO jsonapi_orders (id, reorder_of, customer, note) VALUES (11, NULL, 'Ada', ''), (12, 11, 'Ada', 'by air');
INSERT INTO jsonapi_lines (id, order_id, sku, quantity, price_cents) VALUES (21, 11, 'S-1', 2, 150), (22, 11, 'S-2', 1, 99), (23, 12, 'S-1', 1, 150);
INSERT INTO jsonapi_requests (key, body, order_id) VALUES ('k', 'b', 11);

-- state: auto-increment
CREATE TABLE `jsonapi_orders` (`id` integer PRIMARY KEY AUTOINCREMENT,`reorder_of` integer,`customer` text NOT NULL,`note` text NOT NULL);
CREATE TABLE `jsonapi_lines` (`id` integer PRIMARY KEY AUTOINCREMENT,`order_id` integer NOT NULL,`sku` text NOT NULL,`quantity` integer NOT NULL,`price_cents` integer NOT NULL,CONSTRAINT `fk_jsonapi_orders_lines` FOREIGN KEY (`order_id`) REFERENCES `jsonapi_orders`(`id`) ON DELETE CASCADE);
CREATE INDEX `idx_jsonapi_lines_order_id` ON `jsonapi_lines`(`order_id`);
CREATE TABLE `jsonapi_requests` (`key` text,`body` text NOT NULL,`order_id` integer NOT NULL,PRIMARY KEY (`key`));
CREATE INDEX `idx_jsonapi_requests_order_id` ON `jsonapi_requests`(`order_id`);
INSERT INTO jsonapi_orders (id, reorder_of, customer, note) VALUES (11, NULL, 'Ada', ''), (12, 11, 'Ada', 'by air');
INSERT INTO jsonapi_lines (id, order_id, sku, quantity, price_cents) VALUES (21, 11, 'S-1', 2, 150), (22, 11, 'S-2', 1, 99), (23, 12, 'S-1', 1, 150);
INSERT INTO jsonapi_requests (key, body, order_id) VALUES ('k', 'b', 11);
