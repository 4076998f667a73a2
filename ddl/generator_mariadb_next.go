package ddl

import "strconv"

// The ready table has a fence, in sixteenths of a second since readyEpoch, and below it the time
// at which the server started, in seconds modulo bootMask+1.
const (
	readyEpoch = 1704067200000 // 2024
	bootBits   = 28
	bootMask   = 1<<bootBits - 1
)

// nextFunction returns the next id of the session's block, or takes another block.
//
// A block is number tick·workers·{parts} + the rest, which is a worker ID and a part of its sequence. Block numbers only rise, so
// blocks differ. ids of a block are not issued unless their tick is before a fence that is durable:
// fence is raised first, then the redo log is flushed, then ready says so to all sessions.
func (g mariadbGenerator) nextFunction() string {
	ahead := g.MaxAhead.Milliseconds()
	n := func(i int64) string { return strconv.FormatInt(i, 10) }
	return g.fill(`CREATE OR REPLACE FUNCTION {next}(namespace VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin) RETURNS BIGINT
  NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER COMMENT 'the next id of a snowkey generator'
BEGIN
  DECLARE block, known, pending, number BIGINT UNSIGNED;
  DECLARE now_ms, first_ms, end_ms, target, made, lsn, durable, waited BIGINT DEFAULT 0;
  DECLARE alone INT DEFAULT 0;
  DECLARE of_slot, of_workers, of_created, of_table, per, tick, boot BIGINT;
  DECLARE of_claim, of_home VARCHAR(1024) CHARACTER SET utf8mb4;
  IF NOT (namespace <=> {namespace}) THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: the generator is of another namespace: see the comment of its table';
  END IF;
  IF {fresh} THEN
    SET number = CAST({@next} AS SIGNED) + {step}, {@next} = number;
    RETURN number;
  END IF;
  IF @@log_bin AND @@sql_log_bin AND @@binlog_format = 'STATEMENT' THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: binlog_format is STATEMENT, so replicas would get other ids: set it to MIXED or ROW';
  END IF;
  IF @@insert_id <> 0 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: insert_id is set in this session, which only replication may do';
  END IF;

  -- The worker IDs are of this server and this database, or they are another's.
  SELECT workers, claim, home, created, table_id INTO of_workers, of_claim, of_home, of_created, of_table FROM {generator} WHERE slot = 0;
  IF of_workers IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: the generator has no worker IDs: roll back, and if that does not help, run the script of its generator again';
  END IF;
  IF NOT ({@key} <=> CONCAT(DATABASE(), ' ', of_claim)) THEN
    SET {@key} = CONCAT(DATABASE(), ' ', of_claim), {@home} = {home}(), {@fence} = NULL, {@lsn} = NULL;
  END IF;
  {known}
  IF known IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: the definer of the generator may not see its tables: GRANT it SELECT and INSERT';
  END IF;
  IF NOT ({@home} <=> of_home) OR NOT (made <=> of_created) AND NOT (of_table <=> {table_id}) THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: this database is a copy or was restored: CALL the procedure claim of its generator with other worker IDs';
  END IF;

  SET boot = (UUID_SHORT() >> 24) & {mask}, per = of_workers * {parts};
  {now};
  IF known & {mask} <> boot THEN
    -- The server has started: the cursor may have lost its last values. One session at a time, or
    -- each would start at the fence of the one before; if that one hangs, uniqueness does not need it.
    SET alone = GET_LOCK({lock}, 3);
    {known}
    IF known & {mask} <> boot THEN
      {pending}
      SET number = GREATEST(0, CEIL((CAST(pending AS SIGNED) - {epoch}) / {tick})) * per;
      {raise number}
    END IF;
  END IF;
  {take}
  SET number = GREATEST(0, (now_ms - {epoch}) DIV {tick}) * per;
  IF block < number THEN
    {raise number}
    {take}
  END IF;
  SET tick = block DIV per, first_ms = tick * {tick} + {epoch};
  IF tick >= {ticks} THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: the layout''s time has run out';
  END IF;

  WHILE known & {mask} <> boot OR (known >> {boot_bits}) * 125 DIV 2 + {ready_epoch} <= first_ms OR first_ms > now_ms + {ahead} DO
    SET target = (LEAST(GREATEST(now_ms, first_ms) + {window}, now_ms + {ahead}) - {ready_epoch}) * 2 DIV 125;
    IF known & {mask} <> boot AND target <= known >> {boot_bits} THEN
      SET target = (known >> {boot_bits}) + 1;
    END IF;
    SET end_ms = target * 125 DIV 2 + {ready_epoch};
    IF end_ms > first_ms AND end_ms <= now_ms + {ahead} + 63 THEN
      {raise fence}
      {current}
      REPEAT
        {durable}
        IF durable < lsn THEN
          SET waited = waited + SLEEP(0.01) + 10;
        END IF;
      UNTIL durable >= lsn OR waited > {patience} END REPEAT;
      IF durable >= lsn THEN
        {raise ready}
      END IF;
    ELSE
      SET waited = waited + SLEEP(0.02) + 20;
    END IF;
    IF waited > {patience} THEN
      DO RELEASE_LOCK({lock});
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: the next id is too far ahead of the clock, which was set back, or ids are wanted too fast';
    END IF;
    {known}
    {now};
  END WHILE;
  IF alone = 1 THEN
    DO RELEASE_LOCK({lock});
  END IF;

  -- Raise the fence before it is needed, and do not wait for the log.
  SET end_ms = (known >> {boot_bits}) * 125 DIV 2 + {ready_epoch};
  IF end_ms - first_ms < {window} DIV 2 THEN
    IF {@lsn} IS NOT NULL THEN
      {durable}
      IF durable >= {@lsn} THEN
        SET target = {@fence}, {@lsn} = NULL;
        {raise ready}
      END IF;
    ELSE
      SET target = (LEAST(GREATEST(now_ms, first_ms) + {window}, now_ms + {ahead}) - {ready_epoch}) * 2 DIV 125;
      SET end_ms = target * 125 DIV 2 + {ready_epoch};
      IF target > known >> {boot_bits} THEN
        {raise fence}
        {current}
        SET {@fence} = target, {@lsn} = lsn;
      END IF;
    END IF;
  END IF;

  SELECT worker INTO of_slot FROM {generator} WHERE slot = block MOD per DIV {parts};
  IF of_slot IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: the generator has lost a worker ID: run the script of its generator again';
  END IF;
  -- By a local variable: a session's has no type yet when it is new, and what is computed with it is a double.
  SET number = (tick << {time_shift}) + {base} + (of_slot << {worker_shift}) + block MOD {parts} * {size} * {step};
  SET {@next} = number, {@last} = number + ({size} - 1) * {step}, {@until} = GREATEST(UNIX_TIMESTAMP(), first_ms DIV 1000) + 1;
  RETURN number;
END`,
		"{known}", g.counted("ready", "known, made"), "{pending}", g.counted("fence", "pending, made"),
		"{table_id}", g.tableID(), "{lock}", g.lock(""),
		"{take}", g.take(), "{raise number}", g.raise("cursor", "number"), "{raise fence}", g.raise("fence", "end_ms"),
		"{raise ready}", g.raise("ready", "target << "+n(bootBits)+" | boot"),
		"{current}", "SELECT VARIABLE_VALUE INTO lsn FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'INNODB_LSN_CURRENT';",
		"{durable}", "SELECT VARIABLE_VALUE INTO durable FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'INNODB_LSN_FLUSHED';",
		"{base}", n(g.base), "{mask}", n(bootMask), "{boot_bits}", n(bootBits), "{ready_epoch}", n(readyEpoch),
		"{ahead}", n(ahead), "{window}", n(ahead/2), "{patience}", n(max(5000, ahead)),
		"{ticks}", n(g.layout.max>>g.layout.timeShift+1), "{time_shift}", n(int64(g.layout.timeShift)),
		"{worker_shift}", n(int64(g.layout.below[Worker].shift)), "{size}", n(g.blockSize()))
}

// tableID is the number of the ready table in InnoDB, which a dump does not keep, and chown, which
// changes the time of creation, does not change.
func (g mariadbGenerator) tableID() string {
	return g.fill("(SELECT TABLE_ID FROM information_schema.INNODB_SYS_TABLES WHERE NAME = CONCAT(DATABASE(), '/', {'ready}))")
}
