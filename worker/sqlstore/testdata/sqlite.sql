-- claim: {3 1000001 1000000 1030000 false}, <nil>
SELECT version();
SELECT file FROM pragma_database_list WHERE name = 'main' COLLATE NOCASE;
PRAGMA "main".journal_mode;
SELECT name, '-' FROM "main".sqlite_master WHERE type = 'table';
CREATE TABLE IF NOT EXISTS "main"."snow_namespace" (namespace VARCHAR(64) NOT NULL PRIMARY KEY, layout VARCHAR(255) NOT NULL, fence_window BIGINT NOT NULL, max_skew BIGINT NOT NULL, incarnation VARCHAR(255) NOT NULL, since BIGINT NOT NULL, floor BIGINT NOT NULL, seen BIGINT NOT NULL, version BIGINT NOT NULL);
PRAGMA "main".schema_version;
INSERT INTO "main"."snow_namespace" (namespace, layout, fence_window, max_skew, incarnation, since, floor, seen, version) SELECT '*', '', 0, 0, CAST(X'FILE' AS TEXT), 0, 0, 0, 1 FROM (SELECT 1 AS one) o WHERE 9 = (SELECT COUNT(*) FROM "main".sqlite_master WHERE type = 'table' AND name IN ('snow_namespace', 'snow_lease', 'snow_claim', 'snow_counter')) ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS "main"."snow_lease" (namespace VARCHAR(64) NOT NULL, worker_id BIGINT NOT NULL, claim_id VARCHAR(64) NOT NULL, fencing_token BIGINT NOT NULL, start BIGINT NOT NULL, fence BIGINT NOT NULL, owner VARCHAR(255) NOT NULL, state VARCHAR(16) NOT NULL, PRIMARY KEY (namespace, worker_id));
CREATE TABLE IF NOT EXISTS "main"."snow_claim" (namespace VARCHAR(64) NOT NULL, worker_id BIGINT NOT NULL, fencing_token BIGINT NOT NULL, start BIGINT NOT NULL, ended BIGINT NOT NULL, owner VARCHAR(255) NOT NULL, claimed BIGINT NOT NULL, PRIMARY KEY (namespace, worker_id, fencing_token));
SELECT name, '-' FROM "main".sqlite_master WHERE type = 'table';
SELECT -1, '', 0, 0, 0, '', '', '', '', 0, 0, '', 0, 0, 0, 0, CAST((julianday('now')-2440587.5)*86400000 AS INTEGER), CAST(X'FILE' AS TEXT), (SELECT COUNT(*) FROM "main"."snow_lease" WHERE namespace = CAST(X'6f7264657273' AS TEXT) AND state <> 'made'), (SELECT COUNT(*) FROM "main"."snow_namespace" WHERE namespace <> CAST(X'2a' AS TEXT) AND version > 0) UNION SELECT -1, '', 0, 0, 0, '', '', namespace, layout, fence_window, max_skew, incarnation, since, floor, seen, version, 0, '', 0, 0 FROM "main"."snow_namespace" WHERE namespace IN (CAST(X'6f7264657273' AS TEXT), CAST(X'2a' AS TEXT)) AND version > 0 UNION SELECT worker_id, claim_id, fencing_token, start, fence, owner, state, '', '', 0, 0, '', 0, 0, 0, 0, 0, '', 0, 0 FROM "main"."snow_lease" WHERE namespace = CAST(X'6f7264657273' AS TEXT) AND state <> 'made' AND (claim_id = CAST(X'6669727374' AS TEXT) OR worker_id IN (3, 0)) UNION SELECT worker_id, claim_id, fencing_token, start, fence, owner, state, '', '', 0, 0, '', 0, 0, 0, 0, 0, '', 0, 0 FROM (SELECT * FROM "main"."snow_lease" WHERE namespace = CAST(X'6f7264657273' AS TEXT) AND worker_id < 8 AND worker_id <> -1 AND (state IN ('unused', 'released') OR state IN ('held', 'freed') AND fence + (SELECT max_skew FROM "main"."snow_namespace" WHERE namespace = CAST(X'6f7264657273' AS TEXT)) < CAST((julianday('now')-2440587.5)*86400000 AS INTEGER)) ORDER BY fence, worker_id LIMIT 64) few;
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_lease" AS l SET claim_id = CAST(X'6669727374' AS TEXT), fencing_token = 1000001, start = 1000000, fence = 1030000, owner = CAST(X'4f274e65696c6c' AS TEXT), state = CAST(X'68656c64' AS TEXT) FROM "main"."snow_namespace" AS n WHERE l.claim_id = CAST(X'6265666f7265' AS TEXT) AND l.fencing_token = 4 AND l.fence = 950000 AND l.state = CAST(X'72656c6561736564' AS TEXT) AND n.incarnation = CAST(X'FILE' AS TEXT) AND n.floor = 0 AND n.seen = 4 AND n.namespace = CAST(X'6f7264657273' AS TEXT) AND l.namespace = CAST(X'6f7264657273' AS TEXT) AND l.worker_id = 3 RETURNING 1;
COMMIT;
PRAGMA "main".synchronous = 1;
INSERT INTO "main"."snow_claim" (namespace, worker_id, fencing_token, start, ended, owner, claimed) VALUES (CAST(X'6f7264657273' AS TEXT), 3, 1000001, 1000000, 0, CAST(X'4f274e65696c6c' AS TEXT), CAST((julianday('now')-2440587.5)*86400000 AS INTEGER)), (CAST(X'6f7264657273' AS TEXT), 3, 4, 900000, 950000, CAST(X'6d65' AS TEXT), 0) ON CONFLICT (namespace, worker_id, fencing_token) DO UPDATE SET ended = excluded.ended WHERE excluded.ended > 0;
-- claim repeated: {3 4 900000 1020000 false}, <nil>
SELECT -1, '', 0, 0, 0, '', '', '', '', 0, 0, '', 0, 0, 0, 0, CAST((julianday('now')-2440587.5)*86400000 AS INTEGER), CAST(X'FILE' AS TEXT), (SELECT COUNT(*) FROM "main"."snow_lease" WHERE namespace = CAST(X'6f7264657273' AS TEXT) AND state <> 'made'), (SELECT COUNT(*) FROM "main"."snow_namespace" WHERE namespace <> CAST(X'2a' AS TEXT) AND version > 0) UNION SELECT -1, '', 0, 0, 0, '', '', namespace, layout, fence_window, max_skew, incarnation, since, floor, seen, version, 0, '', 0, 0 FROM "main"."snow_namespace" WHERE namespace IN (CAST(X'6f7264657273' AS TEXT), CAST(X'2a' AS TEXT)) AND version > 0 UNION SELECT worker_id, claim_id, fencing_token, start, fence, owner, state, '', '', 0, 0, '', 0, 0, 0, 0, 0, '', 0, 0 FROM "main"."snow_lease" WHERE namespace = CAST(X'6f7264657273' AS TEXT) AND state <> 'made' AND (claim_id = CAST(X'6669727374' AS TEXT) OR worker_id IN (3, 0)) UNION SELECT worker_id, claim_id, fencing_token, start, fence, owner, state, '', '', 0, 0, '', 0, 0, 0, 0, 0, '', 0, 0 FROM (SELECT * FROM "main"."snow_lease" WHERE namespace = CAST(X'6f7264657273' AS TEXT) AND worker_id < 8 AND worker_id <> -1 AND (state IN ('unused', 'released') OR state IN ('held', 'freed') AND fence + (SELECT max_skew FROM "main"."snow_namespace" WHERE namespace = CAST(X'6f7264657273' AS TEXT)) < CAST((julianday('now')-2440587.5)*86400000 AS INTEGER)) ORDER BY fence, worker_id LIMIT 64) few;
-- renew: {3 4 0 1030000 false}, <nil>
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_lease" AS l SET fence = MAX(l.fence, MAX(CAST((julianday('now')-2440587.5)*86400000 AS INTEGER), n.floor) + MIN(30000, n.fence_window)) FROM "main"."snow_namespace" AS n WHERE l.fencing_token = 4 AND l.claim_id = CAST(X'6669727374' AS TEXT) AND l.state IN ('held', 'kept') AND CASE WHEN n.incarnation = CAST(X'FILE' AS TEXT) THEN l.fence > n.since WHEN n.floor > CAST((julianday('now')-2440587.5)*86400000 AS INTEGER) + n.fence_window + n.max_skew THEN l.fence > n.floor ELSE 1 = 0 END AND n.namespace = CAST(X'6f7264657273' AS TEXT) AND l.namespace = CAST(X'6f7264657273' AS TEXT) AND l.worker_id = 3 RETURNING fence;
COMMIT;
PRAGMA "main".synchronous = 1;
-- release: <nil>, <nil>
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_lease" SET fence = 1000001, state = 'released' WHERE namespace = CAST(X'6f7264657273' AS TEXT) AND worker_id = 3 AND fencing_token = 4 AND state IN ('held', 'kept') AND claim_id = CAST(X'6669727374' AS TEXT) RETURNING 1;
COMMIT;
PRAGMA "main".synchronous = 1;
-- free: <nil>, <nil>
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_lease" SET state = 'freed' WHERE namespace = CAST(X'6f7264657273' AS TEXT) AND worker_id = 3 AND fencing_token = 4 AND state IN ('held', 'kept') RETURNING 1;
COMMIT;
PRAGMA "main".synchronous = 1;
-- list: {1000000 a life {orders l 30000 10000 a life 1 0 4 1} false false <nil> [] 4 [{3 first 4 900000 1020000 me held}]}, <nil>
SELECT -1, '', 0, 0, 0, '', '', '', '', 0, 0, '', 0, 0, 0, 0, CAST((julianday('now')-2440587.5)*86400000 AS INTEGER), CAST(X'FILE' AS TEXT), (SELECT COUNT(*) FROM "main"."snow_lease" WHERE namespace = CAST(X'6f7264657273' AS TEXT) AND state <> 'made'), (SELECT COUNT(*) FROM "main"."snow_namespace" WHERE namespace <> CAST(X'2a' AS TEXT) AND version > 0) UNION SELECT -1, '', 0, 0, 0, '', '', namespace, layout, fence_window, max_skew, incarnation, since, floor, seen, version, 0, '', 0, 0 FROM "main"."snow_namespace" WHERE namespace IN (CAST(X'6f7264657273' AS TEXT), CAST(X'2a' AS TEXT)) AND version > 0 UNION SELECT worker_id, claim_id, fencing_token, start, fence, owner, state, '', '', 0, 0, '', 0, 0, 0, 0, 0, '', 0, 0 FROM "main"."snow_lease" WHERE namespace = CAST(X'6f7264657273' AS TEXT) AND state <> 'made';
-- raise: {orders l 30000 10000 a life 1000000 1060000 4 1}, <nil>
SELECT -1, '', 0, 0, 0, '', '', '', '', 0, 0, '', 0, 0, 0, 0, CAST((julianday('now')-2440587.5)*86400000 AS INTEGER), CAST(X'FILE' AS TEXT), (SELECT COUNT(*) FROM "main"."snow_lease" WHERE namespace = CAST(X'6f7264657273' AS TEXT) AND state <> 'made'), (SELECT COUNT(*) FROM "main"."snow_namespace" WHERE namespace <> CAST(X'2a' AS TEXT) AND version > 0) UNION SELECT -1, '', 0, 0, 0, '', '', namespace, layout, fence_window, max_skew, incarnation, since, floor, seen, version, 0, '', 0, 0 FROM "main"."snow_namespace" WHERE namespace IN (CAST(X'6f7264657273' AS TEXT), CAST(X'2a' AS TEXT)) AND version > 0 UNION SELECT worker_id, claim_id, fencing_token, start, fence, owner, state, '', '', 0, 0, '', 0, 0, 0, 0, 0, '', 0, 0 FROM "main"."snow_lease" WHERE namespace = CAST(X'6f7264657273' AS TEXT) AND state <> 'made';
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_namespace" AS n SET layout = CAST(X'6c' AS TEXT), fence_window = 30000, max_skew = 10000, incarnation = CAST(X'61206c696665' AS TEXT), since = 1000000, floor = 1060000, seen = 4, version = 1 WHERE n.namespace = CAST(X'6f7264657273' AS TEXT) AND n.incarnation = CAST(X'61206c696665' AS TEXT) AND n.fence_window = 30000 AND n.floor = 0 AND n.seen = 4 AND n.version = 1 AND CAST(X'FILE' AS TEXT) = CAST(X'61206c696665' AS TEXT) RETURNING 1;
COMMIT;
PRAGMA "main".synchronous = 1;
-- make a namespace: true, <nil>
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_namespace" AS n SET layout = CAST(X'' AS TEXT), fence_window = 30000, max_skew = 10000, incarnation = CAST(X'61206c696665' AS TEXT), since = 1, floor = 0, seen = 0, version = 1 WHERE n.namespace = CAST(X'2a' AS TEXT) AND n.incarnation = CAST(X'61206c696665' AS TEXT) AND n.fence_window = 30000 AND n.floor = 0 AND n.seen = 0 AND n.version = 1 AND CAST(X'FILE' AS TEXT) = CAST(X'61206c696665' AS TEXT) RETURNING 1;
INSERT INTO "main"."snow_namespace" (namespace, layout, fence_window, max_skew, incarnation, since, floor, seen, version) SELECT CAST(X'6f7264657273' AS TEXT), CAST(X'6c' AS TEXT), 30000, 10000, CAST(X'61206c696665' AS TEXT), 1000000, 0, 0, 1 FROM (SELECT 1 AS one) o RETURNING 1;
COMMIT;
PRAGMA "main".synchronous = 1;
-- make a record: true, <nil>
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
UPDATE "main"."snow_namespace" AS n SET seen = n.seen + (SELECT COUNT(*) FROM (SELECT first.id + numbers.number AS id FROM (SELECT 3 AS id) first CROSS JOIN (SELECT 0 AS number) numbers WHERE first.id + numbers.number < 8 AND NOT EXISTS (SELECT 1 FROM "main"."snow_lease" l WHERE l.namespace = CAST(X'6f7264657273' AS TEXT) AND l.worker_id = first.id + numbers.number AND l.state <> 'made')) missing) WHERE n.namespace = CAST(X'6f7264657273' AS TEXT) AND n.incarnation = CAST(X'61206c696665' AS TEXT) AND n.fence_window = 0 AND n.floor = 0 AND n.seen = 4 AND n.version = 1 AND CAST(X'FILE' AS TEXT) = CAST(X'61206c696665' AS TEXT) RETURNING 1;
INSERT INTO "main"."snow_lease" (namespace, worker_id, claim_id, fencing_token, start, fence, owner, state) SELECT CAST(X'6f7264657273' AS TEXT), missing.id, '', 0, 0, 0, '', CAST(X'756e75736564' AS TEXT) FROM (SELECT first.id + numbers.number AS id FROM (SELECT 3 AS id) first CROSS JOIN (SELECT 0 AS number) numbers WHERE first.id + numbers.number < 8 AND NOT EXISTS (SELECT 1 FROM "main"."snow_lease" l WHERE l.namespace = CAST(X'6f7264657273' AS TEXT) AND l.worker_id = first.id + numbers.number AND l.state <> 'made')) missing RETURNING 1;
COMMIT;
PRAGMA "main".synchronous = 1;
-- reserve: 11, <nil>
SELECT name, '-' FROM "main".sqlite_master WHERE type = 'table';
PRAGMA "main".journal_mode;
PRAGMA "main".synchronous;
PRAGMA "main".synchronous = 2;
BEGIN IMMEDIATE;
INSERT INTO "main"."snow_counter" AS c (name, value) SELECT CAST(X'696e766f69636573' AS TEXT), 10 FROM (SELECT 1 AS one) o WHERE 1 = 1 ON CONFLICT (name) DO UPDATE SET value = c.value + excluded.value RETURNING value;
COMMIT;
PRAGMA "main".synchronous = 1;
