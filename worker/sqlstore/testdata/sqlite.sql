-- claim: {3 1000001 1000000 1030000 false}, <nil>
SELECT version();
SELECT file FROM pragma_database_list WHERE name = 'main' COLLATE NOCASE;
PRAGMA "main".journal_mode;
SELECT name, '-' FROM "main".sqlite_master WHERE type = 'table';
CREATE TABLE IF NOT EXISTS "main"."snow_namespace" (namespace VARCHAR(64) NOT NULL PRIMARY KEY, layout VARCHAR(255) NOT NULL, fence_window BIGINT NOT NULL, max_skew BIGINT NOT NULL, incarnation VARCHAR(255) NOT NULL, since BIGINT NOT NULL, floor BIGINT NOT NULL, seen BIGINT NOT NULL, version BIGINT NOT NULL);
PRAGMA "main".schema_version;
INSERT INTO "main"."snow_namespace" (namespace, layout, fence_window, max_skew, incarnation, since, floor, seen, version) SELECT '*', '', 0, 0, 'FILE', 0, 0, 0, 1 FROM (SELECT 1 AS one) o WHERE 9 = (SELECT COUNT(*) FROM "main".sqlite_master WHERE type = 'table' AND name IN ('snow_namespace', 'snow_lease', 'snow_claim', 'snow_counter')) ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS "main"."snow_lease" (namespace VARCHAR(64) NOT NULL, worker_id BIGINT NOT NULL, claim_id VARCHAR(64) NOT NULL, fencing_token BIGINT NOT NULL, start BIGINT NOT NULL, fence BIGINT NOT NULL, owner VARCHAR(255) NOT NULL, state VARCHAR(16) NOT NULL, PRIMARY KEY (namespace, worker_id));
CREATE TABLE IF NOT EXISTS "main"."snow_claim" (namespace VARCHAR(64) NOT NULL, worker_id BIGINT NOT NULL, fencing_token BIGINT NOT NULL, start BIGINT NOT NULL, ended BIGINT NOT NULL, owner VARCHAR(255) NOT NULL, claimed BIGINT NOT NULL, PRIMARY KEY (namespace, worker_id, fencing_token));
SELECT name, '-' FROM "main".sqlite_master WHERE type = 'table';
SELECT -1, '', 0, 0, 0, '', '', '', '', 0, 0, '', 0, 0, 0, 0, CAST((julianday('now')-2440587.5)*86400000 AS INTEGER), 'FILE', (SELECT COUNT(*) FROM "main"."snow_lease" WHERE namespace = 'orders' AND state <> 'made'), (SELECT COUNT(*) FROM "main"."snow_namespace" WHERE namespace <> '*' AND version > 0) UNION SELECT -1, '', 0, 0, 0, '', '', namespace, layout, fence_window, max_skew, incarnation, since, floor, seen, version, 0, '', 0, 0 FROM "main"."snow_namespace" WHERE namespace IN ('orders', '*') AND version > 0 UNION SELECT worker_id, claim_id, fencing_token, start, fence, owner, state, '', '', 0, 0, '', 0, 0, 0, 0, 0, '', 0, 0 FROM "main"."snow_lease" WHERE namespace = 'orders' AND state <> 'made' AND (claim_id = 'first' OR worker_id IN (3, 0)) UNION SELECT worker_id, claim_id, fencing_token, start, fence, owner, state, '', '', 0, 0, '', 0, 0, 0, 0, 0, '', 0, 0 FROM (SELECT * FROM "main"."snow_lease" WHERE namespace = 'orders' AND worker_id < 8 AND worker_id <> -1 AND (state IN ('unused', 'released') OR state IN ('held', 'freed') AND fence + (SELECT max_skew FROM "main"."snow_namespace" WHERE namespace = 'orders') < CAST((julianday('now')-2440587.5)*86400000 AS INTEGER)) ORDER BY fence, worker_id LIMIT 64) few;
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_lease" AS l SET claim_id = 'first', fencing_token = 1000001, start = 1000000, fence = 1030000, owner = 'O''Neill', state = 'held' FROM "main"."snow_namespace" AS n WHERE l.claim_id = 'before' AND l.fencing_token = 4 AND l.fence = 950000 AND l.state = 'released' AND n.incarnation = 'FILE' AND n.floor = 0 AND n.seen = 4 AND n.namespace = 'orders' AND l.namespace = 'orders' AND l.worker_id = 3 RETURNING 1;
COMMIT;
PRAGMA "main".synchronous = 1;
INSERT INTO "main"."snow_claim" (namespace, worker_id, fencing_token, start, ended, owner, claimed) VALUES ('orders', 3, 1000001, 1000000, 0, 'O''Neill', CAST((julianday('now')-2440587.5)*86400000 AS INTEGER)), ('orders', 3, 4, 900000, 950000, 'me', 0) ON CONFLICT (namespace, worker_id, fencing_token) DO UPDATE SET ended = excluded.ended WHERE excluded.ended > 0;
-- claim repeated: {3 4 900000 1020000 false}, <nil>
SELECT -1, '', 0, 0, 0, '', '', '', '', 0, 0, '', 0, 0, 0, 0, CAST((julianday('now')-2440587.5)*86400000 AS INTEGER), 'FILE', (SELECT COUNT(*) FROM "main"."snow_lease" WHERE namespace = 'orders' AND state <> 'made'), (SELECT COUNT(*) FROM "main"."snow_namespace" WHERE namespace <> '*' AND version > 0) UNION SELECT -1, '', 0, 0, 0, '', '', namespace, layout, fence_window, max_skew, incarnation, since, floor, seen, version, 0, '', 0, 0 FROM "main"."snow_namespace" WHERE namespace IN ('orders', '*') AND version > 0 UNION SELECT worker_id, claim_id, fencing_token, start, fence, owner, state, '', '', 0, 0, '', 0, 0, 0, 0, 0, '', 0, 0 FROM "main"."snow_lease" WHERE namespace = 'orders' AND state <> 'made' AND (claim_id = 'first' OR worker_id IN (3, 0)) UNION SELECT worker_id, claim_id, fencing_token, start, fence, owner, state, '', '', 0, 0, '', 0, 0, 0, 0, 0, '', 0, 0 FROM (SELECT * FROM "main"."snow_lease" WHERE namespace = 'orders' AND worker_id < 8 AND worker_id <> -1 AND (state IN ('unused', 'released') OR state IN ('held', 'freed') AND fence + (SELECT max_skew FROM "main"."snow_namespace" WHERE namespace = 'orders') < CAST((julianday('now')-2440587.5)*86400000 AS INTEGER)) ORDER BY fence, worker_id LIMIT 64) few;
-- renew: {3 4 0 1030000 false}, <nil>
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_lease" AS l SET fence = MAX(l.fence, MAX(CAST((julianday('now')-2440587.5)*86400000 AS INTEGER), n.floor) + MIN(30000, n.fence_window)) FROM "main"."snow_namespace" AS n WHERE l.fencing_token = 4 AND l.claim_id = 'first' AND l.state IN ('held', 'kept') AND CASE WHEN n.incarnation = 'FILE' THEN l.fence > n.since WHEN n.floor > CAST((julianday('now')-2440587.5)*86400000 AS INTEGER) + n.fence_window + n.max_skew THEN l.fence > n.floor ELSE 1 = 0 END AND n.namespace = 'orders' AND l.namespace = 'orders' AND l.worker_id = 3 RETURNING fence;
COMMIT;
PRAGMA "main".synchronous = 1;
-- release: <nil>, <nil>
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_lease" SET fence = 1000001, state = 'released' WHERE namespace = 'orders' AND worker_id = 3 AND fencing_token = 4 AND state IN ('held', 'kept') AND claim_id = 'first' RETURNING 1;
COMMIT;
PRAGMA "main".synchronous = 1;
-- free: <nil>, <nil>
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_lease" SET state = 'freed' WHERE namespace = 'orders' AND worker_id = 3 AND fencing_token = 4 AND state IN ('held', 'kept') RETURNING 1;
COMMIT;
PRAGMA "main".synchronous = 1;
-- list: {1000000 a life {orders l 30000 10000 a life 1 0 4 1} false false <nil> [] 4 [{3 first 4 900000 1020000 me held}]}, <nil>
SELECT -1, '', 0, 0, 0, '', '', '', '', 0, 0, '', 0, 0, 0, 0, CAST((julianday('now')-2440587.5)*86400000 AS INTEGER), 'FILE', (SELECT COUNT(*) FROM "main"."snow_lease" WHERE namespace = 'orders' AND state <> 'made'), (SELECT COUNT(*) FROM "main"."snow_namespace" WHERE namespace <> '*' AND version > 0) UNION SELECT -1, '', 0, 0, 0, '', '', namespace, layout, fence_window, max_skew, incarnation, since, floor, seen, version, 0, '', 0, 0 FROM "main"."snow_namespace" WHERE namespace IN ('orders', '*') AND version > 0 UNION SELECT worker_id, claim_id, fencing_token, start, fence, owner, state, '', '', 0, 0, '', 0, 0, 0, 0, 0, '', 0, 0 FROM "main"."snow_lease" WHERE namespace = 'orders' AND state <> 'made';
-- raise: {orders l 30000 10000 a life 1000000 1060000 4 1}, <nil>
SELECT -1, '', 0, 0, 0, '', '', '', '', 0, 0, '', 0, 0, 0, 0, CAST((julianday('now')-2440587.5)*86400000 AS INTEGER), 'FILE', (SELECT COUNT(*) FROM "main"."snow_lease" WHERE namespace = 'orders' AND state <> 'made'), (SELECT COUNT(*) FROM "main"."snow_namespace" WHERE namespace <> '*' AND version > 0) UNION SELECT -1, '', 0, 0, 0, '', '', namespace, layout, fence_window, max_skew, incarnation, since, floor, seen, version, 0, '', 0, 0 FROM "main"."snow_namespace" WHERE namespace IN ('orders', '*') AND version > 0 UNION SELECT worker_id, claim_id, fencing_token, start, fence, owner, state, '', '', 0, 0, '', 0, 0, 0, 0, 0, '', 0, 0 FROM "main"."snow_lease" WHERE namespace = 'orders' AND state <> 'made';
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_namespace" AS n SET layout = 'l', fence_window = 30000, max_skew = 10000, incarnation = 'a life', since = 1000000, floor = 1060000, seen = 4, version = 1 WHERE n.namespace = 'orders' AND n.incarnation = 'a life' AND n.fence_window = 30000 AND n.floor = 0 AND n.seen = 4 AND n.version = 1 AND 'FILE' = 'a life' RETURNING 1;
COMMIT;
PRAGMA "main".synchronous = 1;
-- make a namespace: true, <nil>
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_namespace" AS n SET layout = '', fence_window = 30000, max_skew = 10000, incarnation = 'a life', since = 1, floor = 0, seen = 0, version = 1 WHERE n.namespace = '*' AND n.incarnation = 'a life' AND n.fence_window = 30000 AND n.floor = 0 AND n.seen = 0 AND n.version = 1 AND 'FILE' = 'a life' RETURNING 1;
INSERT INTO "main"."snow_namespace" (namespace, layout, fence_window, max_skew, incarnation, since, floor, seen, version) SELECT 'orders', 'l', 30000, 10000, 'a life', 1000000, 0, 0, 1 FROM (SELECT 1 AS one) o RETURNING 1;
COMMIT;
PRAGMA "main".synchronous = 1;
-- make a record: true, <nil>
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_namespace" AS n SET seen = n.seen + (SELECT COUNT(*) FROM (SELECT first.id + numbers.number AS id FROM (SELECT 3 AS id) first CROSS JOIN (SELECT 0 AS number) numbers WHERE first.id + numbers.number < 8 AND NOT EXISTS (SELECT 1 FROM "main"."snow_lease" l WHERE l.namespace = 'orders' AND l.worker_id = first.id + numbers.number AND l.state <> 'made')) missing) WHERE n.namespace = 'orders' AND n.incarnation = 'a life' AND n.fence_window = 0 AND n.floor = 0 AND n.seen = 4 AND n.version = 1 AND 'FILE' = 'a life' RETURNING 1;
INSERT INTO "main"."snow_lease" (namespace, worker_id, claim_id, fencing_token, start, fence, owner, state) SELECT 'orders', missing.id, '', 0, 0, 0, '', 'unused' FROM (SELECT first.id + numbers.number AS id FROM (SELECT 3 AS id) first CROSS JOIN (SELECT 0 AS number) numbers WHERE first.id + numbers.number < 8 AND NOT EXISTS (SELECT 1 FROM "main"."snow_lease" l WHERE l.namespace = 'orders' AND l.worker_id = first.id + numbers.number AND l.state <> 'made')) missing RETURNING 1;
COMMIT;
PRAGMA "main".synchronous = 1;
-- reserve: 11, <nil>
SELECT name, '-' FROM "main".sqlite_master WHERE type = 'table';
PRAGMA "main".journal_mode;
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
INSERT INTO "main"."snow_counter" AS c (name, value) SELECT 'invoices', 10 FROM (SELECT 1 AS one) o WHERE 1 = 1 ON CONFLICT (name) DO UPDATE SET value = c.value + excluded.value RETURNING value;
COMMIT;
PRAGMA "main".synchronous = 1;
