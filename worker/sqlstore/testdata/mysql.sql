-- the first claim of a namespace: {3 1 1000000 1030000}, <nil>
SELECT version();
SHOW VARIABLES WHERE variable_name IN ('version', 'version_comment', 'wsrep_on', 'group_replication_group_name');
SELECT DATABASE();
SHOW CREATE TABLE `shop`.`snow_worker_space`;
SHOW CREATE TABLE `shop`.`snow_worker`;
CREATE TABLE IF NOT EXISTS `shop`.`snow_worker_space` (space VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY, layout VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL) ENGINE=InnoDB;
CREATE TABLE IF NOT EXISTS `shop`.`snow_worker` (space VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, worker BIGINT NOT NULL, token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, epoch BIGINT NOT NULL, until_ts BIGINT NOT NULL, expires_at BIGINT NOT NULL, owner VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL, PRIMARY KEY (space, worker)) ENGINE=InnoDB;
SHOW CREATE TABLE `shop`.`snow_worker_space`;
SHOW CREATE TABLE `shop`.`snow_worker`;
SELECT s.layout, -1, 0, LEFT('-', 0), LEFT('-', 0), (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000), @@autocommit FROM (SELECT 1 AS one) o LEFT JOIN `shop`.`snow_worker_space` s ON s.space = _utf8mb4 X'6f7264657273' UNION ALL SELECT NULL, worker, epoch, token, owner, until_ts, expires_at FROM `shop`.`snow_worker` WHERE space = _utf8mb4 X'6f7264657273' LIMIT 18446744073709551615;
START TRANSACTION READ WRITE;
SELECT (SELECT @@innodb_flush_log_at_trx_commit), (SELECT CASE WHEN @@log_bin = 1 AND @@sync_binlog <> 1 THEN 'not 1' ELSE '1' END), (SELECT CASE WHEN @@log_bin = 1 AND @@sql_log_bin = 0 THEN 'OFF' ELSE 'ON' END);
INSERT IGNORE INTO `shop`.`snow_worker_space` (space, layout) VALUES (_utf8mb4 X'6f7264657273', _utf8mb4 X'6c');
INSERT IGNORE INTO `shop`.`snow_worker` (token, owner, epoch, until_ts, expires_at, space, worker) VALUES (_utf8mb4 X'6669727374', COALESCE(_utf8mb4 X'4bc3a47468652773', LEFT('-', 0)), 1, 1030000, LEAST((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000) + 60000, 9007199254740992), _utf8mb4 X'6f7264657273', 3);
COMMIT AND NO CHAIN NO RELEASE;
-- claim of a worker ID that was held: {3 5 1000000 1030000}, <nil>
SELECT s.layout, -1, 0, LEFT('-', 0), LEFT('-', 0), (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000), @@autocommit FROM (SELECT 1 AS one) o LEFT JOIN `shop`.`snow_worker_space` s ON s.space = _utf8mb4 X'6f7264657273' UNION ALL SELECT NULL, worker, epoch, token, owner, until_ts, expires_at FROM `shop`.`snow_worker` WHERE space = _utf8mb4 X'6f7264657273' LIMIT 18446744073709551615;
START TRANSACTION READ WRITE;
SELECT (SELECT @@innodb_flush_log_at_trx_commit), (SELECT CASE WHEN @@log_bin = 1 AND @@sync_binlog <> 1 THEN 'not 1' ELSE '1' END), (SELECT CASE WHEN @@log_bin = 1 AND @@sql_log_bin = 0 THEN 'OFF' ELSE 'ON' END);
UPDATE `shop`.`snow_worker` SET token = _utf8mb4 X'6669727374', owner = COALESCE(_utf8mb4 X'4bc3a47468652773', LEFT('-', 0)), epoch = 5, until_ts = 1030000, expires_at = LEAST((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000) + 60000, 9007199254740992) WHERE space = _utf8mb4 X'6f7264657273' AND worker = 3 AND epoch = 4 AND until_ts = 900000 AND (token = LEFT('-', 0) OR expires_at < (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000));
COMMIT AND NO CHAIN NO RELEASE;
-- claim repeated: {3 4 1970000 2000000}, <nil>
SELECT s.layout, -1, 0, LEFT('-', 0), LEFT('-', 0), (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000), @@autocommit FROM (SELECT 1 AS one) o LEFT JOIN `shop`.`snow_worker_space` s ON s.space = _utf8mb4 X'6f7264657273' UNION ALL SELECT NULL, worker, epoch, token, owner, until_ts, expires_at FROM `shop`.`snow_worker` WHERE space = _utf8mb4 X'6f7264657273' LIMIT 18446744073709551615;
START TRANSACTION READ WRITE;
SELECT (SELECT @@innodb_flush_log_at_trx_commit), (SELECT CASE WHEN @@log_bin = 1 AND @@sync_binlog <> 1 THEN 'not 1' ELSE '1' END), (SELECT CASE WHEN @@log_bin = 1 AND @@sql_log_bin = 0 THEN 'OFF' ELSE 'ON' END);
UPDATE `shop`.`snow_worker` SET expires_at = expires_at + 1 WHERE space = _utf8mb4 X'6f7264657273' AND worker = 3 AND epoch = 4 AND token = _utf8mb4 X'6669727374';
COMMIT AND NO CHAIN NO RELEASE;
-- renew: <nil>, <nil>
START TRANSACTION READ WRITE;
SELECT (SELECT @@innodb_flush_log_at_trx_commit), (SELECT CASE WHEN @@log_bin = 1 AND @@sync_binlog <> 1 THEN 'not 1' ELSE '1' END), (SELECT CASE WHEN @@log_bin = 1 AND @@sql_log_bin = 0 THEN 'OFF' ELSE 'ON' END);
UPDATE `shop`.`snow_worker` SET until_ts = CASE WHEN until_ts < 2000001 THEN 2000001 ELSE until_ts END, expires_at = LEAST((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000) + 60000, 9007199254740992) WHERE space = _utf8mb4 X'6f7264657273' AND worker = 3 AND epoch = 4 AND token = _utf8mb4 X'6669727374';
COMMIT AND NO CHAIN NO RELEASE;
-- release: <nil>, <nil>
START TRANSACTION READ WRITE;
SELECT (SELECT @@innodb_flush_log_at_trx_commit), (SELECT CASE WHEN @@log_bin = 1 AND @@sync_binlog <> 1 THEN 'not 1' ELSE '1' END), (SELECT CASE WHEN @@log_bin = 1 AND @@sql_log_bin = 0 THEN 'OFF' ELSE 'ON' END);
UPDATE `shop`.`snow_worker` SET token = LEFT('-', 0), until_ts = 2000001, expires_at = 0 WHERE space = _utf8mb4 X'6f7264657273' AND worker = 3 AND epoch = 4 AND token = _utf8mb4 X'6669727374';
COMMIT AND NO CHAIN NO RELEASE;
-- free: <nil>, <nil>
START TRANSACTION READ WRITE;
SELECT (SELECT @@innodb_flush_log_at_trx_commit), (SELECT CASE WHEN @@log_bin = 1 AND @@sync_binlog <> 1 THEN 'not 1' ELSE '1' END), (SELECT CASE WHEN @@log_bin = 1 AND @@sql_log_bin = 0 THEN 'OFF' ELSE 'ON' END);
UPDATE `shop`.`snow_worker` SET token = LEFT('-', 0), expires_at = 0 WHERE space = _utf8mb4 X'6f7264657273' AND worker = 3 AND epoch = 4 AND token <> LEFT('-', 0);
COMMIT AND NO CHAIN NO RELEASE;
-- list: [{3 4 first me 2000000 3000000}], <nil>
SELECT s.layout, -1, 0, LEFT('-', 0), LEFT('-', 0), (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000), @@autocommit FROM (SELECT 1 AS one) o LEFT JOIN `shop`.`snow_worker_space` s ON s.space = _utf8mb4 X'6f7264657273' UNION ALL SELECT NULL, worker, epoch, token, owner, until_ts, expires_at FROM `shop`.`snow_worker` WHERE space = _utf8mb4 X'6f7264657273' LIMIT 18446744073709551615;
-- reserve: 11, <nil>
SHOW CREATE TABLE `shop`.`snow_worker_counter`;
START TRANSACTION READ WRITE;
SELECT (SELECT @@innodb_flush_log_at_trx_commit), (SELECT CASE WHEN @@log_bin = 1 AND @@sync_binlog <> 1 THEN 'not 1' ELSE '1' END), (SELECT CASE WHEN @@log_bin = 1 AND @@sql_log_bin = 0 THEN 'OFF' ELSE 'ON' END);
INSERT INTO `shop`.`snow_worker_counter` (name, value) VALUES (_utf8mb4 X'696e766f69636573', LAST_INSERT_ID(10)) ON DUPLICATE KEY UPDATE value = LAST_INSERT_ID(value + 10);
COMMIT AND NO CHAIN NO RELEASE;
-- warnings: [], <nil>
START TRANSACTION READ WRITE;
SELECT (SELECT @@innodb_flush_log_at_trx_commit), (SELECT CASE WHEN @@log_bin = 1 AND @@sync_binlog <> 1 THEN 'not 1' ELSE '1' END), (SELECT CASE WHEN @@log_bin = 1 AND @@sql_log_bin = 0 THEN 'OFF' ELSE 'ON' END);
COMMIT AND NO CHAIN NO RELEASE;
