package ddl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// claimProcedure takes the worker IDs, unless this generator has them. Those which it has given
// up are free from the fence on. Emptying the table of the generator waits for the transactions
// that have used it, and makes older snapshots useless, so no session still has the old ones.
//
// A new number of worker IDs needs a new cursor. A call that came while the first table was emptied
// may keep that one from being emptied until its transaction ends, and meanwhile calls fail, so it is
// tried for a second. If anything fails, the generator gets back what it had: its worker IDs in
// their order, and a cursor above all blocks.
//
// A copy takes only worker IDs that the caller names, because its table knows nothing newer than the
// copy. It does not free those of the original.
func (g mariadbGenerator) claimProcedure() string {
	return g.fill(`CREATE OR REPLACE PROCEDURE {claim}(chosen VARCHAR(2048) CHARACTER SET ascii)
  MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT 'takes worker IDs for a snowkey generator'
BEGIN
  DECLARE given VARCHAR(2048) CHARACTER SET ascii DEFAULT COALESCE(REPLACE(chosen, ' ', ''), {given});
  DECLARE wanted INT DEFAULT IF(given IS NULL, {count}, LENGTH(given) - LENGTH(REPLACE(given, ',', '')) + 1);
  DECLARE have, of_claim, of_home, layout_of, taken, new_claim, of_token VARCHAR(2048) CHARACTER SET utf8mb4;
  DECLARE of_created, of_table, made, i, id, now_ms, fence_ms, start_ms, of_until, of_expires BIGINT DEFAULT 0;
  DECLARE found, many, had, emptied INT DEFAULT 0;
  DECLARE number, pending, reached BIGINT UNSIGNED;
  DECLARE had_workers, had_claim VARCHAR(2048) CHARACTER SET ascii;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    ROLLBACK;
    IF emptied THEN
      {raise reached}
      {old rows}
      COMMIT;
    END IF;
    DO RELEASE_LOCK({lock});
    RESIGNAL;
  END;
  START TRANSACTION;
  IF COALESCE(GET_LOCK({lock}, 10), 0) <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: another session claims worker IDs, or takes ids for the first time';
  END IF;
  {now};
  SELECT COUNT(*), GROUP_CONCAT(worker ORDER BY worker), GROUP_CONCAT(worker ORDER BY slot), MIN(claim), MIN(home), MIN(created), MIN(table_id)
    INTO had, have, had_workers, had_claim, of_home, of_created, of_table FROM {generator};
  SET many = had, of_claim = had_claim;
  {read ready}
  IF NOT (of_home <=> {home}()) OR NOT (made <=> of_created) AND NOT (of_table <=> {table_id}) THEN
    SET of_claim = NULL;
  END IF;
  IF many > 0 AND of_claim IS NULL AND given IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: a copy does not know which worker IDs are free by now: name some, as in CALL its claim (''1000,1001'')';
  ELSEIF given NOT REGEXP '^[0-9]+(,[0-9]+)*$' THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: the worker IDs must be numbers with commas, or NULL';
  END IF;
  INSERT IGNORE INTO {spaces} (space, layout) VALUES ({namespace}, {fingerprint});
  SELECT layout INTO layout_of FROM {spaces} WHERE space = {namespace} FOR UPDATE;
  IF layout_of <> {fingerprint} THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: the namespace has another layout: see its row in the table of the namespaces';
  END IF;
  COMMIT;
  IF of_claim IS NOT NULL AND many = wanted AND (given IS NULL OR given = have) THEN
    UPDATE {generator} SET created = made;
    COMMIT;
  ELSE
    TRUNCATE TABLE {generator};
    {read cursor}
    SET emptied = 1;
    SET STATEMENT lock_wait_timeout = 1 FOR TRUNCATE TABLE {cursor};
    {read fence}
    SET fence_ms = CAST(pending AS SIGNED) + {tick}, start_ms = GREATEST(fence_ms, now_ms);
    START TRANSACTION;
    UPDATE {leases} SET token = '', expires_at = 0, until_ts = fence_ms WHERE space = {namespace} AND token = of_claim;
    SET new_claim = CONCAT('{token}', REPLACE(UUID(), '-', '')), many = 0, i = {workers};
    WHILE many < wanted AND i > 0 DO
      SET i = i - 1, found = 0, of_until = 0;
      IF given IS NULL THEN
        SET id = i;
      ELSE
        SET id = SUBSTRING_INDEX(SUBSTRING_INDEX(given, ',', many + 1), ',', -1);
        IF id >= {workers} THEN
          SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: the layout has fewer worker IDs';
        END IF;
      END IF;
      SELECT 1, token, until_ts, expires_at INTO found, of_token, of_until, of_expires FROM {leases} WHERE space = {namespace} AND worker = id FOR UPDATE;
      IF found = 0 THEN
        INSERT INTO {leases} (space, worker, token, epoch, until_ts, expires_at, owner) VALUES ({namespace}, id, new_claim, 1, {end}, {never}, {owner});
      ELSEIF (of_token = '' OR of_expires < now_ms) AND of_until <= now_ms + {ahead} THEN
        UPDATE {leases} SET token = new_claim, epoch = epoch + 1, until_ts = {end}, expires_at = {never}, owner = {owner} WHERE space = {namespace} AND worker = id;
        SET found = 0;
      ELSEIF given IS NOT NULL THEN
        SET taken = CONCAT('snowkey: worker ID ', id, ' is held, or its fence is ahead of the clock: see snowkey workers list');
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = taken;
      END IF;
      IF found = 0 THEN
        SET many = many + 1, start_ms = GREATEST(start_ms, of_until);
      END IF;
    END WHILE;
    IF many < wanted THEN
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: too few worker IDs are free: see snowkey workers list';
    END IF;
    SET number = GREATEST(0, CEIL((start_ms - {epoch}) / {tick})) * wanted * {parts};
    {raise number}
    {raise start}
    -- Ascending, so that the ids of a session ascend.
    SELECT GROUP_CONCAT(worker ORDER BY worker) INTO taken FROM {leases} WHERE space = {namespace} AND token = new_claim;
    {new rows}
    COMMIT;
  END IF;
  DO RELEASE_LOCK({lock});
END`,
		"{given}", g.given(), "{count}", strconv.Itoa(g.Count), "{workers}", strconv.FormatInt(g.workerIDs, 10),
		"{token}", g.claimID(), "{end}", strconv.FormatInt(g.end(), 10), "{never}", strconv.FormatInt(driver.NoTTL, 10),
		"{old rows}", g.rows("had_workers", "had", "had_claim, of_home, of_created, of_table"),
		"{new rows}", g.rows("taken", "wanted", "new_claim, {home}(), made, "+g.tableID()),
		"{owner}", g.owner(), "{ahead}", strconv.FormatInt(g.MaxAhead.Milliseconds()/2, 10), "{table_id}", g.tableID(), "{lock}", g.lock(""),
		"{read ready}", g.counted("ready", "number, made"), "{read fence}", g.counted("fence", "pending, i"), "{read cursor}", g.counted("cursor", "reached, i"), "{raise reached}", g.raise("cursor", "reached"),
		"{raise number}", g.raise("cursor", "number"), "{raise start}", g.raise("fence", "start_ms"))
}

// rows inserts the rows of the generator's table: number worker IDs, in the order of their slots,
// and what is the same in all rows.
func (g mariadbGenerator) rows(workers, number, same string) string {
	return `SET i = 0;
    WHILE i < ` + number + ` DO
      INSERT INTO {generator} (slot, worker, workers, claim, home, created, table_id) VALUES
        (i, SUBSTRING_INDEX(SUBSTRING_INDEX(` + workers + `, ',', i + 1), ',', -1), ` + number + `, ` + same + `);
      SET i = i + 1;
    END WHILE;`
}

// given is the list of Workers, as SQL; NULL if there are none.
func (g mariadbGenerator) given() string {
	if len(g.Workers) == 0 {
		return "NULL"
	}
	all := make([]string, len(g.Workers))
	for i, id := range g.Workers {
		all[i] = strconv.FormatInt(id, 10)
	}
	return "'" + strings.Join(all, ",") + "'"
}

// owner is that of the leases' records, as SQL.
func (g mariadbGenerator) owner() string {
	return g.fill("LEFT(CONCAT('SQL generator {prefix}next of database ', " + g.home() + ", ' on ', @@hostname), 255)")
}

// drop releases the worker IDs from the fence on. In a copy it leaves those of the original.
func (g mariadbGenerator) drop() (Script, error) {
	return Script{g.fill(`BEGIN NOT ATOMIC
  DECLARE of_claim, of_home VARCHAR(1024) CHARACTER SET utf8mb4;
  DECLARE now_ms, fence_ms BIGINT DEFAULT 0;
  DECLARE CONTINUE HANDLER FOR 1146, 1305, 1051, 4091 BEGIN END; -- what does not exist
  IF EXISTS (SELECT 1 FROM information_schema.TRIGGERS WHERE ACTION_STATEMENT LIKE CONCAT('%', REPLACE({'next}, '_', '\_'), '%') AND (TRIGGER_SCHEMA = {schema} OR ACTION_STATEMENT LIKE CONCAT('%', {schema}, '%'))) THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: a trigger uses the generator: drop the trigger and the DEFAULT first';
  END IF;
  SELECT MIN(claim), MIN(home) INTO of_claim, of_home FROM {generator};
  IF NOT (of_home <=> {home}()) THEN
    SET of_claim = NULL;
  END IF;
  DROP TABLE IF EXISTS {generator};
  {now};
  SELECT COALESCE(AUTO_INCREMENT, 1) - 1 + {tick} INTO fence_ms FROM information_schema.TABLES WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {'fence};
  START TRANSACTION;
  UPDATE {leases} SET token = '', expires_at = 0, until_ts = GREATEST(fence_ms, now_ms) WHERE space = {namespace} AND token = of_claim;
  COMMIT;
  DROP TABLE IF EXISTS {cursor}, {fence}, {ready};
END`),
		g.fill("DROP FUNCTION IF EXISTS {next}"), g.fill("DROP PROCEDURE IF EXISTS {claim}"), g.fill("DROP FUNCTION IF EXISTS {home}")}, nil
}

// compound reports whether a statement is one for MySQL or MariaDB with semicolons in it.
func compound(statement string) bool {
	return strings.HasSuffix(statement, "\nEND") && strings.Contains(statement, "BEGIN")
}

// delimited is a compound statement for mysql's client, which otherwise ends it at its first
// semicolon.
func delimited(statement string) string {
	return fmt.Sprintf("DELIMITER //\n%s //\nDELIMITER ;\n", statement)
}
