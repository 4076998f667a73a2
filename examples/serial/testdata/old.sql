-- Tables as earlier versions and plain gorm created them, with rows.

-- state: without rowid
CREATE TABLE `payments` (`id` bigint NOT NULL CHECK (`id` > 0),`serial` char(34) NOT NULL,`cents` integer,PRIMARY KEY (`id`)) WITHOUT ROWID;
CREATE UNIQUE INDEX `idx_payments_serial` ON `payments`(`serial`);
CREATE TABLE `invoices` (`id` bigint NOT NULL CHECK (`id` > 0),`number` text NOT NULL,`cents` integer,PRIMARY KEY (`id`),CONSTRAINT `chk_invoices_cents` CHECK (cents > 0)) WITHOUT ROWID;
CREATE UNIQUE INDEX `idx_invoices_number` ON `invoices`(`number`);
INSERT INTO payments (id, serial, cents) VALUES (1, 'PAY-1', 1250), (2, 'PAY-2', 99);
INSERT INTO invoices (id, number, cents) VALUES (1, 'INV-1', 1250);

-- state: integer
CREATE TABLE `payments` (`id` integer,`serial` char(34) NOT NULL,`cents` integer,PRIMARY KEY (`id`));
CREATE UNIQUE INDEX `idx_payments_serial` ON `payments`(`serial`);
CREATE TABLE `invoices` (`id` integer,`number` text NOT NULL,`cents` integer,PRIMARY KEY (`id`),CONSTRAINT `chk_invoices_cents` CHECK (cents > 0));
CREATE UNIQUE INDEX `idx_invoices_number` ON `invoices`(`number`);
INSERT INTO payments (id, serial, cents) VALUES (1, 'PAY-1', 1250), (2, 'PAY-2', 99);
INSERT INTO invoices (id, number, cents) VALUES (1, 'INV-1', 1250);

-- state: bigint
CREATE TABLE `payments` (`id` bigint,`serial` char(34) NOT NULL,`cents` integer,PRIMARY KEY (`id`));
CREATE UNIQUE INDEX `idx_payments_serial` ON `payments`(`serial`);
CREATE TABLE `invoices` (`id` bigint,`number` text NOT NULL,`cents` integer,PRIMARY KEY (`id`),CONSTRAINT `chk_invoices_cents` CHECK (cents > 0));
CREATE UNIQUE INDEX `idx_invoices_number` ON `invoices`(`number`);
INSERT INTO payments (id, serial, cents) VALUES (1, 'PAY-1', 1250), (2, 'PAY-2', 99);
INSERT INTO invoices (id, number, cents) VALUES (1, 'INV-1', 1250);

-- state: auto-increment
CREATE TABLE `payments` (`id` integer PRIMARY KEY AUTOINCREMENT,`serial` char(34) NOT NULL,`cents` integer);
CREATE UNIQUE INDEX `idx_payments_serial` ON `payments`(`serial`);
CREATE TABLE `invoices` (`id` integer PRIMARY KEY AUTOINCREMENT,`number` text NOT NULL,`cents` integer,CONSTRAINT `chk_invoices_cents` CHECK (cents > 0));
CREATE UNIQUE INDEX `idx_invoices_number` ON `invoices`(`number`);
INSERT INTO payments (id, serial, cents) VALUES (1, 'PAY-1', 1250), (2, 'PAY-2', 99);
INSERT INTO invoices (id, number, cents) VALUES (1, 'INV-1', 1250);
