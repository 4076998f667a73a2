-- the first claim of a namespace: {3 1 1000000 1030000}, <nil>
SELECT version();
PRAGMA database_list;
SELECT name FROM "main".sqlite_master WHERE type = 'table';
CREATE TABLE IF NOT EXISTS "main"."snow_worker_space" (space VARCHAR(64) NOT NULL PRIMARY KEY, layout VARCHAR(255) NOT NULL);
CREATE TABLE IF NOT EXISTS "main"."snow_worker" (space VARCHAR(64) NOT NULL, worker BIGINT NOT NULL, token VARCHAR(64) NOT NULL, epoch BIGINT NOT NULL, until_ts BIGINT NOT NULL, expires_at BIGINT NOT NULL, owner VARCHAR(255) NOT NULL, PRIMARY KEY (space, worker));
SELECT name FROM "main".sqlite_master WHERE type = 'table';
SELECT s.layout, -1, 0, '', '', CAST((julianday('now')-2440587.5)*86400000 AS INTEGER), 1 FROM (SELECT 1 AS one) o LEFT JOIN "main"."snow_worker_space" s ON s.space = ? UNION ALL SELECT NULL, worker, epoch, token, owner, until_ts, expires_at FROM "main"."snow_worker" WHERE space = ?;
PRAGMA "main".journal_mode;
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
INSERT INTO "main"."snow_worker_space" (space, layout) VALUES (?, ?) ON CONFLICT DO NOTHING;
INSERT INTO "main"."snow_worker" (token, owner, epoch, until_ts, expires_at, space, worker) VALUES (?, COALESCE(?, ''), ?, ?, MIN(CAST((julianday('now')-2440587.5)*86400000 AS INTEGER) + ?, 9007199254740992), ?, ?) ON CONFLICT DO NOTHING;
COMMIT;
PRAGMA "main".synchronous = 1;
-- claim of a worker ID that was held: {3 5 1000000 1030000}, <nil>
SELECT s.layout, -1, 0, '', '', CAST((julianday('now')-2440587.5)*86400000 AS INTEGER), 1 FROM (SELECT 1 AS one) o LEFT JOIN "main"."snow_worker_space" s ON s.space = ? UNION ALL SELECT NULL, worker, epoch, token, owner, until_ts, expires_at FROM "main"."snow_worker" WHERE space = ?;
PRAGMA "main".journal_mode;
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_worker" SET token = ?, owner = COALESCE(?, ''), epoch = ?, until_ts = ?, expires_at = MIN(CAST((julianday('now')-2440587.5)*86400000 AS INTEGER) + ?, 9007199254740992) WHERE space = ? AND worker = ? AND epoch = ? AND until_ts = ? AND (token = '' OR expires_at < CAST((julianday('now')-2440587.5)*86400000 AS INTEGER));
COMMIT;
PRAGMA "main".synchronous = 1;
-- claim repeated: {3 4 1970000 2000000}, <nil>
SELECT s.layout, -1, 0, '', '', CAST((julianday('now')-2440587.5)*86400000 AS INTEGER), 1 FROM (SELECT 1 AS one) o LEFT JOIN "main"."snow_worker_space" s ON s.space = ? UNION ALL SELECT NULL, worker, epoch, token, owner, until_ts, expires_at FROM "main"."snow_worker" WHERE space = ?;
PRAGMA "main".journal_mode;
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_worker" SET expires_at = expires_at + 1 WHERE space = ? AND worker = ? AND epoch = ? AND token = ?;
COMMIT;
PRAGMA "main".synchronous = 1;
-- renew: <nil>, <nil>
PRAGMA "main".journal_mode;
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_worker" SET until_ts = CASE WHEN until_ts < ? THEN ? ELSE until_ts END, expires_at = MIN(CAST((julianday('now')-2440587.5)*86400000 AS INTEGER) + ?, 9007199254740992) WHERE space = ? AND worker = ? AND epoch = ? AND token = ?;
COMMIT;
PRAGMA "main".synchronous = 1;
-- release: <nil>, <nil>
PRAGMA "main".journal_mode;
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_worker" SET token = '', until_ts = ?, expires_at = 0 WHERE space = ? AND worker = ? AND epoch = ? AND token = ?;
COMMIT;
PRAGMA "main".synchronous = 1;
-- free: <nil>, <nil>
PRAGMA "main".journal_mode;
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_worker" SET token = '', expires_at = 0 WHERE space = ? AND worker = ? AND epoch = ? AND token <> '';
COMMIT;
PRAGMA "main".synchronous = 1;
-- list: [{3 4 first me 2000000 3000000}], <nil>
SELECT s.layout, -1, 0, '', '', CAST((julianday('now')-2440587.5)*86400000 AS INTEGER), 1 FROM (SELECT 1 AS one) o LEFT JOIN "main"."snow_worker_space" s ON s.space = ? UNION ALL SELECT NULL, worker, epoch, token, owner, until_ts, expires_at FROM "main"."snow_worker" WHERE space = ?;
-- reserve: 11, <nil>
SELECT name FROM "main".sqlite_master WHERE type = 'table';
PRAGMA "main".journal_mode;
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
INSERT INTO "main"."snow_worker_counter" AS c (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = c.value + excluded.value WHERE c.value <= 9223372036854775807 - excluded.value RETURNING value;
COMMIT;
PRAGMA "main".synchronous = 1;
-- warnings: [], <nil>
PRAGMA "main".journal_mode;
