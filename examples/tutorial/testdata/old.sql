-- Tables as earlier versions and plain gorm created them, with rows.

-- state: without rowid
CREATE TABLE `notes` (`id` bigint NOT NULL CHECK (`id` > 0),`text` text,PRIMARY KEY (`id`)) WITHOUT ROWID;
INSERT INTO notes (id, text) VALUES (1, 'first'), (2, NULL);

-- state: integer
CREATE TABLE `notes` (`id` integer,`text` text,PRIMARY KEY (`id`));
INSERT INTO notes (id, text) VALUES (1, 'first'), (2, NULL);

-- state: bigint
CREATE TABLE `notes` (`id` bigint,`text` text,PRIMARY KEY (`id`));
INSERT INTO notes (id, text) VALUES (1, 'first'), (2, NULL);

-- state: auto-increment
CREATE TABLE `notes` (`id` integer PRIMARY KEY AUTOINCREMENT,`text` text);
INSERT INTO notes (id, text) VALUES (1, 'first'), (2, NULL);
