-- Tables as earlier versions and plain gorm created them, with rows.

-- state: without rowid
CREATE TABLE `quickstart_customers` (`id` bigint NOT NULL CHECK (`id` > 0),`email` text,`name` text,PRIMARY KEY (`id`)) WITHOUT ROWID;
CREATE UNIQUE INDEX `idx_quickstart_customers_email` ON `quickstart_customers`(`email`);
CREATE TABLE `quickstart_orders` (`id` bigint NOT NULL CHECK (`id` > 0),`number` text,`customer_id` integer,`placed_at` datetime,PRIMARY KEY (`id`),CONSTRAINT `fk_quickstart_orders_customer` FOREIGN KEY (`customer_id`) REFERENCES `quickstart_customers`(`id`)) WITHOUT ROWID;
CREATE INDEX `idx_quickstart_orders_customer_id` ON `quickstart_orders`(`customer_id`);
CREATE UNIQUE INDEX `idx_quickstart_orders_number` ON `quickstart_orders`(`number`);
CREATE TABLE `quickstart_order_lines` (`id` bigint NOT NULL CHECK (`id` > 0),`order_id` bigint NOT NULL,`position` integer,`sku` text,`product` text,`quantity` integer,`unit_price` integer,PRIMARY KEY (`id`),CONSTRAINT `fk_quickstart_orders_lines` FOREIGN KEY (`order_id`) REFERENCES `quickstart_orders`(`id`)) WITHOUT ROWID;
CREATE INDEX `idx_quickstart_order_lines_order_id` ON `quickstart_order_lines`(`order_id`);
INSERT INTO quickstart_customers (id, email, name) VALUES (1, 'ada@example.com', 'Ada');
INSERT INTO quickstart_orders (id, number, customer_id, placed_at) VALUES (11, 'A-1', 1, '2026-11-22 10:00:00'), (12, 'A-2', 1, '2026-11-22 11:00:00');
INSERT INTO quickstart_order_lines (id, order_id, position, sku, product, quantity, unit_price) VALUES (21, 11, 1, 'S-1', 'a pen', 2, 150), (22, 11, 2, 'S-2', NULL, 1, 99), (23, 12, 1, 'S-1', 'a pen', 1, 150);

-- state: integer
CREATE TABLE `quickstart_customers` (`id` integer,`email` text,`name` text,PRIMARY KEY (`id`));
CREATE UNIQUE INDEX `idx_quickstart_customers_email` ON `quickstart_customers`(`email`);
CREATE TABLE `quickstart_orders` (`id` integer,`number` text,`customer_id` integer,`placed_at` datetime,PRIMARY KEY (`id`),CONSTRAINT `fk_quickstart_orders_customer` FOREIGN KEY (`customer_id`) REFERENCES `quickstart_customers`(`id`));
CREATE INDEX `idx_quickstart_orders_customer_id` ON `quickstart_orders`(`customer_id`);
CREATE UNIQUE INDEX `idx_quickstart_orders_number` ON `quickstart_orders`(`number`);
CREATE TABLE `quickstart_order_lines` (`id` integer,`order_id` bigint NOT NULL,`position` integer,`sku` text,`product` text,`quantity` integer,`unit_price` integer,PRIMARY KEY (`id`),CONSTRAINT `fk_quickstart_orders_lines` FOREIGN KEY (`order_id`) REFERENCES `quickstart_orders`(`id`));
CREATE INDEX `idx_quickstart_order_lines_order_id` ON `quickstart_order_lines`(`order_id`);
INSERT INTO quickstart_customers (id, email, name) VALUES (1, 'ada@example.com', 'Ada');
INSERT INTO quickstart_orders (id, number, customer_id, placed_at) VALUES (11, 'A-1', 1, '2026-11-22 10:00:00'), (12, 'A-2', 1, '2026-11-22 11:00:00');
INSERT INTO quickstart_order_lines (id, order_id, position, sku, product, quantity, unit_price) VALUES (21, 11, 1, 'S-1', 'a pen', 2, 150), (22, 11, 2, 'S-2', NULL, 1, 99), (23, 12, 1, 'S-1', 'a pen', 1, 150);

-- state: bigint
CREATE TABLE `quickstart_customers` (`id` integer,`email` text,`name` text,PRIMARY KEY (`id`));
CREATE UNIQUE INDEX `idx_quickstart_customers_email` ON `quickstart_customers`(`email`);
CREATE TABLE `quickstart_orders` (`id` bigint,`number` text,`customer_id` integer,`placed_at` datetime,PRIMARY KEY (`id`),CONSTRAINT `fk_quickstart_orders_customer` FOREIGN KEY (`customer_id`) REFERENCES `quickstart_customers`(`id`));
CREATE INDEX `idx_quickstart_orders_customer_id` ON `quickstart_orders`(`customer_id`);
CREATE UNIQUE INDEX `idx_quickstart_orders_number` ON `quickstart_orders`(`number`);
CREATE TABLE `quickstart_order_lines` (`id` bigint,`order_id` bigint NOT NULL,`position` integer,`sku` text,`product` text,`quantity` integer,`unit_price` integer,PRIMARY KEY (`id`),CONSTRAINT `fk_quickstart_orders_lines` FOREIGN KEY (`order_id`) REFERENCES `quickstart_orders`(`id`));
CREATE INDEX `idx_quickstart_order_lines_order_id` ON `quickstart_order_lines`(`order_id`);
INSERT INTO quickstart_customers (id, email, name) VALUES (1, 'ada@example.com', 'Ada');
INSERT INTO quickstart_orders (id, number, customer_id, placed_at) VALUES (11, 'A-1', 1, '2026-11-22 10:00:00'), (12, 'A-2', 1, '2026-11-22 11:00:00');
INSERT INTO quickstart_order_lines (id, order_id, position, sku, product, quantity, unit_price) VALUES (21, 11, 1, 'S-1', 'a pen', 2, 150), (22, 11, 2, 'S-2', NULL, 1, 99), (23, 12, 1, 'S-1', 'a pen', 1, 150);

-- state: auto-increment
CREATE TABLE `quickstart_customers` (`id` integer PRIMARY KEY AUTOINCREMENT,`email` text,`name` text);
CREATE UNIQUE INDEX `idx_quickstart_customers_email` ON `quickstart_customers`(`email`);
CREATE TABLE `quickstart_orders` (`id` integer PRIMARY KEY AUTOINCREMENT,`number` text,`customer_id` integer,`placed_at` datetime,CONSTRAINT `fk_quickstart_orders_customer` FOREIGN KEY (`customer_id`) REFERENCES `quickstart_customers`(`id`));
CREATE INDEX `idx_quickstart_orders_customer_id` ON `quickstart_orders`(`customer_id`);
CREATE UNIQUE INDEX `idx_quickstart_orders_number` ON `quickstart_orders`(`number`);
CREATE TABLE `quickstart_order_lines` (`id` integer PRIMARY KEY AUTOINCREMENT,`order_id` integer NOT NULL,`position` integer,`sku` text,`product` text,`quantity` integer,`unit_price` integer,CONSTRAINT `fk_quickstart_orders_lines` FOREIGN KEY (`order_id`) REFERENCES `quickstart_orders`(`id`));
CREATE INDEX `idx_quickstart_order_lines_order_id` ON `quickstart_order_lines`(`order_id`);
INSERT INTO quickstart_customers (id, email, name) VALUES (1, 'ada@example.com', 'Ada');
INSERT INTO quickstart_orders (id, number, customer_id, placed_at) VALUES (11, 'A-1', 1, '2026-11-22 10:00:00'), (12, 'A-2', 1, '2026-11-22 11:00:00');
INSERT INTO quickstart_order_lines (id, order_id, position, sku, product, quantity, unit_price) VALUES (21, 11, 1, 'S-1', 'a pen', 2, 150), (22, 11, 2, 'S-2', NULL, 1, 99), (23, 12, 1, 'S-1', 'a pen', 1, 150);
