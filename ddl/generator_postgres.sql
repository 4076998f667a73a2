DO $snowkey$
DECLARE
  made record;
BEGIN
  IF current_setting('server_version_num')::int NOT BETWEEN 140000 AND 189999 THEN
    RAISE EXCEPTION 'snowkey: PostgreSQL % is not one of 14 to 18, whose sequences are known', current_setting('server_version');
  END IF;
  -- OR REPLACE and IF NOT EXISTS would leave it to that role, which could change it later.
  FOR made IN SELECT o.name, pg_get_userbyid(o.owner) AS owner FROM (
      SELECT proname AS name, proowner AS owner, pronamespace AS schema FROM pg_proc UNION ALL SELECT relname, relowner, relnamespace FROM pg_class) o
    WHERE o.schema = to_regnamespace({schema_ident}) AND o.name = ANY ({names}) AND pg_get_userbyid(o.owner) <> current_user LOOP
    RAISE EXCEPTION 'snowkey: % belongs to the role "%", not to "%": run this script as that role, or drop it', made.name, made.owner, current_user;
  END LOOP;
  IF to_regclass({generator_text}) IS NOT NULL THEN
    FOR made IN SELECT * FROM {generator} LOOP
      IF made.version <> {version} THEN
        RAISE EXCEPTION 'snowkey: % is a generator of version %, and this script is for version %: use the snowkey that created it',
          {next_text}, made.version, {version};
      ELSIF made.namespace <> {namespace} OR made.layout <> {layout} OR made.leases <> {leases_text} THEN
        RAISE EXCEPTION 'snowkey: % is a generator of namespace "%", layout "%", leases %: drop it first, or use another Prefix',
          {next_text}, made.namespace, made.layout, made.leases;
      ELSIF to_regclass({cursor_text}) IS NULL OR to_regclass({fence_text}) IS NULL OR to_regclass({fence_lsn_text}) IS NULL OR to_regclass({safe_text}) IS NULL THEN
        RAISE EXCEPTION 'snowkey: % has lost a sequence, so which ids it has made is not known: run ddl drop-generator, and then this script', {next_text};
      END IF;
    END LOOP;
  END IF;
  IF to_regprocedure({workers_text} || '()') IS NULL THEN -- until the generator has worker IDs
    EXECUTE 'CREATE FUNCTION ' || {workers_text} || '() RETURNS bigint[] LANGUAGE sql IMMUTABLE RETURN ''{}''::bigint[]';
  END IF;
  IF to_regprocedure({home_text} || '()') IS NULL THEN
    EXECUTE 'CREATE FUNCTION ' || {home_text} || '() RETURNS text LANGUAGE sql IMMUTABLE RETURN ''0''::text';
  END IF;
  IF to_regclass({lock_text}) IS NULL THEN
    EXECUTE 'CREATE VIEW ' || {lock_text} || ' AS SELECT 1 AS one'; -- only to be locked
  END IF;
END $snowkey$
-- next statement
CREATE TABLE IF NOT EXISTS {generator} (
  namespace text PRIMARY KEY,
  layout text NOT NULL,
  leases text NOT NULL,
  workers bigint[] NOT NULL,
  token text NOT NULL,
  system bigint NOT NULL,
  database oid NOT NULL,
  relation oid NOT NULL,
  claimed_by xid8 NOT NULL,
  claimed_at timestamptz NOT NULL,
  version int NOT NULL -- of these tables, sequences and functions
)
-- next statement
CREATE UNLOGGED TABLE IF NOT EXISTS {marker} (since timestamptz) WITH (autovacuum_enabled = false, vacuum_truncate = false)
-- next statement
CREATE SEQUENCE IF NOT EXISTS {cursor} MINVALUE 0 START 0 CACHE {block}
-- next statement
CREATE SEQUENCE IF NOT EXISTS {fence} MINVALUE 0 START 0
-- next statement
CREATE SEQUENCE IF NOT EXISTS {fence_lsn} MINVALUE 0 START 0
-- next statement
CREATE SEQUENCE IF NOT EXISTS {safe} MINVALUE 0 START 0
-- next statement
CREATE OR REPLACE FUNCTION {flushed}(at pg_lsn) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $snowkey$
-- Whether a crash keeps the log up to there, and the promotion of a synchronous standby too.
DECLARE
  standbys text := current_setting('synchronous_standby_names');
BEGIN
  IF pg_current_wal_flush_lsn() < at THEN
    RETURN false;
  ELSIF standbys = '' THEN
    RETURN true;
  END IF;
  RETURN count(*) >= coalesce(substring(standbys FROM '^[[:space:]]*(?:[A-Za-z]+[[:space:]]+)?([0-9]+)[[:space:]]*[(]')::int, 1)
    FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum') AND flush_lsn >= at;
END $snowkey$
-- next statement
CREATE OR REPLACE FUNCTION {nudge}() RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $snowkey$
-- Makes the server flush its log now. Nothing depends on it but the time until then.
DECLARE
  filled text := {schema_ident} || '.snowkey_flush_' || pg_backend_pid();
BEGIN
  IF current_setting('server_version_num')::int >= 170000 THEN
    BEGIN
      EXECUTE 'SELECT pg_logical_emit_message(false, ''snowkey'', '''', true)';
      RETURN;
    EXCEPTION WHEN insufficient_privilege THEN NULL;
    END;
  ELSIF current_setting('wal_level') = 'minimal' THEN
    RAISE EXCEPTION 'a TRUNCATE flushes nothing';
  END IF;
  -- Before 17, what flushes is a TRUNCATE of a file that is new in this transaction and has a
  -- free space map. It is rolled back. A table that is new for it, because a lock on another one
  -- would be in the way of pg_dump, also on a standby.
  EXECUTE 'CREATE TABLE ' || filled || ' (filler text)';
  EXECUTE 'INSERT INTO ' || filled || ' SELECT repeat('' '', 1900) FROM generate_series(1, 10)'; -- three pages
  EXECUTE 'TRUNCATE ' || filled;
  RAISE SQLSTATE 'SK000';
EXCEPTION
  WHEN SQLSTATE 'SK000' THEN NULL;
  WHEN OTHERS THEN -- or an event trigger rejects tables; the WAL writer flushes full pages, after 5 s at the latest
    PERFORM pg_logical_emit_message(false, 'snowkey', repeat(' ', 2 * current_setting('wal_block_size')::int));
END $snowkey$
-- next statement
CREATE OR REPLACE FUNCTION {copied}() RETURNS boolean
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $snowkey$
-- Whether another database took the worker IDs, of which this is a copy; NULL if there are none.
BEGIN
  RETURN g.system <> (SELECT system_identifier FROM pg_control_system())
      OR g.database <> (SELECT oid FROM pg_database WHERE datname = current_database())
      OR g.relation <> {generator_text}::regclass
    FROM {generator} g;
END $snowkey$
-- next statement
CREATE OR REPLACE FUNCTION {check}() RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $snowkey$
-- Fails unless this database holds the worker IDs, and has committed that.
DECLARE
  made record;
BEGIN
  SELECT g.*, {copied}() AS copied, (SELECT count(*) FROM {leases} l
      WHERE l.space = g.namespace AND l.worker = ANY (g.workers) AND l.token IN (g.token, '') AND l.until_ts >= {end}) AS held
    INTO made FROM {generator} g;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'snowkey: the generator % has no worker IDs', {next_text}
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = {claim_hint};
  ELSIF made.copied THEN
    RAISE EXCEPTION 'snowkey: this database was restored or copied, and the worker IDs % of namespace "%" belong to the other one', made.workers, made.namespace
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = {copy_hint};
  ELSIF made.claimed_by = pg_current_xact_id_if_assigned() THEN
    RAISE EXCEPTION 'snowkey: this transaction has taken the worker IDs %: commit it before the first id', made.workers
      USING ERRCODE = 'object_not_in_prerequisite_state';
  ELSIF made.held <> cardinality(made.workers) THEN
    RAISE EXCEPTION 'snowkey: the table % does not reserve the worker IDs % of namespace "%" for this generator', {leases_text}, made.workers, made.namespace
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = {claim_hint};
  END IF;
END $snowkey$
-- next statement
CREATE OR REPLACE FUNCTION {ahead_hint}(pause float8) RETURNS text
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $snowkey$
-- What helps when ids are so far ahead of the clock that a call would wait for pause seconds. The
-- same worker IDs do not help: their next ids follow those that were made.
DECLARE
  now_ms bigint := floor(date_part('epoch', {clock}) * 1000);
  wanted int := cardinality({workers}());
  others bigint[];
BEGIN
  IF pause <= {patience} THEN
    RETURN format('The sessions take turns. More worker IDs make more ids: SELECT %s(how_many => %s).', {claim_text}, least(2 * wanted, {most}));
  END IF;
  others := (SELECT array_agg(w ORDER BY w) FROM (
    SELECT w FROM (SELECT generate_series({all_workers} - 1, 0, -1) AS w) s
      WHERE NOT EXISTS (SELECT FROM {leases} l WHERE l.space = {namespace} AND l.worker = w
        AND (l.token <> '' AND l.expires_at >= now_ms OR l.until_ts > now_ms + {ahead} * {tick}))
      LIMIT wanted) f);
  RETURN format('By this clock, ids come again at %s. If the clock is behind, set it right. ', to_timestamp(now_ms / 1000.0 + pause))
    || CASE WHEN cardinality(others) = wanted
      THEN format('If it was ahead by mistake, take other worker IDs: SELECT %s(%L).', {claim_text}, others)
      ELSE 'There are too few other worker IDs to take.' END;
END $snowkey$
-- next statement
CREATE OR REPLACE FUNCTION {refill}(namespace text) RETURNS bigint
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $snowkey$
-- Returns the first slot of a new block, whose others are now in this session's cache of the
-- sequence. A slot is a tick, a worker ID and a sequence number in one number.
--
-- A block is taken under a lock, because setval can lower a sequence. The lock ends with a
-- subtransaction that is always rolled back: sequences stay as they are, and no error or
-- cancellation can leave it behind. It locks a view on which only the owner has rights: any
-- role can take an advisory lock, and ANALYZE locks all tables in this mode until its transaction
-- ends. Any role with USAGE on the schema can also hold ROW EXCLUSIVE, by PREPARE. This mode
-- conflicts with itself, but not with that.
--
-- What was not flushed may be given again after a crash. So a block lies below the fence, once
-- the log up to the fence is flushed. A crash empties the marker, which is unlogged, and then
-- the cursor moves to the fence.
DECLARE
  v bigint;
  now_slot bigint;
  last bigint;
  first bigint;
  top bigint;
  sure bigint;
  lsn bigint; -- up to which the log has the fence; 0: not known
  target bigint;
  slots bigint; -- of a tick
  ahead bigint;
  span bigint; -- how far the fence is raised
  ends bigint;
  state text;
  pause float8;
  waited float8 := 0;
  attempt int := 0;
BEGIN
  IF namespace <> {namespace} THEN
    RAISE EXCEPTION 'snowkey: namespace "%": this generator has "%"', namespace, {namespace} USING ERRCODE = 'invalid_parameter_value';
  END IF;
  LOOP
    attempt := attempt + 1;
    state := '';
    BEGIN
      LOCK TABLE {lock} IN SHARE UPDATE EXCLUSIVE MODE;
      last := pg_sequence_last_value({cursor_text});
      -- After that, which waits for a claim: it changes the number of worker IDs.
      slots := {per_tick} * cardinality({workers}());
      IF slots = 0 THEN
        RAISE EXCEPTION 'snowkey: the generator % has no worker IDs', {next_text}
          USING ERRCODE = 'object_not_in_prerequisite_state', HINT = {claim_hint};
      END IF;
      ahead := {ahead} * slots;
      span := {window} * slots;
      ends := {last_tick} * slots;
      now_slot := floor((date_part('epoch', {clock}) * 1000 - {epoch}) / {tick})::bigint * slots;
      top := pg_sequence_last_value({fence_text});
      sure := pg_sequence_last_value({safe_text});
      IF pg_relation_size({marker_text}) = 0 THEN
        PERFORM {check}();
        last := setval({cursor_text}, (greatest(last, top) | {mask}));
        INSERT INTO {marker} VALUES ({clock}); -- is rolled back, and its page stays
      ELSIF split_part(pg_relation_filepath({marker_text}), '/', -2) <> {home}() THEN
        PERFORM {check}();
      END IF;
      first := (greatest(last + 1, now_slot) + {mask}) & ~{mask}::bigint;
      lsn := pg_sequence_last_value({fence_lsn_text});
      IF sure < top AND lsn = 0 THEN -- who raised the fence was cancelled
        PERFORM setval({fence_lsn_text}, (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint);
      ELSIF sure < top AND {flushed}('0/0'::pg_lsn + lsn) THEN
        sure := setval({safe_text}, top);
      END IF;
      target := least(first + span, now_slot + ahead, ends);
      IF top < first + span / 2 AND target >= top + span / 64 THEN
        PERFORM {check}();
        PERFORM setval({fence_lsn_text}, 0); -- not that of the fence before: a call may be cancelled anywhere
        top := setval({fence_text}, target);
        PERFORM setval({fence_lsn_text}, (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint);
      END IF;
      IF first + {block} > ends THEN
        RAISE EXCEPTION 'snowkey: the time of the layout ends here' USING ERRCODE = 'sequence_generator_limit_exceeded';
      ELSIF first + {block} > now_slot + ahead THEN
        state := 'ahead';
        pause := (first + {block} - now_slot - ahead)::float8 / slots * {tick} / 1000;
      ELSIF first + {block} > sure THEN
        state := 'fence';
      ELSE
        PERFORM setval({cursor_text}, first - 1); -- also empties the cache of this session
        -- It is a later block if the first nextval of another session came between.
        v := CASE WHEN nextval({cursor_text}) <= least(sure, now_slot + ahead) - {block} THEN currval({cursor_text}) ELSE least(-1, {drain}) END;
      END IF;
      RAISE SQLSTATE 'SK000';
    EXCEPTION WHEN SQLSTATE 'SK000' THEN NULL;
    END;
    IF v >= 0 THEN
      RETURN v;
    ELSIF state = 'ahead' THEN
      IF pause > {patience} OR waited > {patience} THEN
        RAISE EXCEPTION 'snowkey: ids are % ahead of the clock, and % is the most: the clock was set back, or ids are wanted faster than the layout has them',
          {max_ahead}::interval + pause * interval '1 second', {max_ahead}::interval
          USING ERRCODE = 'object_not_in_prerequisite_state', HINT = {ahead_hint}(pause);
      END IF;
      pause := least(pause + 0.001, 0.1);
    ELSIF state = 'fence' THEN
      IF waited > {patience} THEN
        RAISE EXCEPTION 'snowkey: the server has not flushed its log, or no synchronous standby has, for % s', round(waited)
          USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'If there is a synchronous standby, the owner of the function ' || {next_text} || ' must see it: GRANT pg_read_all_stats TO the owner.';
      END IF;
      IF attempt % 16 = 1 THEN
        PERFORM {nudge}();
        CONTINUE WHEN attempt = 1;
      END IF;
      pause := least(0.001 * attempt, 0.02);
    ELSE
      CONTINUE WHEN attempt % 64 > 0;
      pause := 0.001;
    END IF;
    PERFORM pg_sleep(pause);
    waited := waited + pause;
  END LOOP;
END $snowkey$
-- next statement
CREATE OR REPLACE FUNCTION {next}(namespace pg_catalog.text DEFAULT {namespace}) RETURNS pg_catalog.int8
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER AS $snowkey$
-- SET search_path would double what a call costs. So every name and operator has its schema.
--
-- If nextval has begun a block, it was not under the lock. Then the same expression empties the
-- session's cache, because between two statements a call may be cancelled.
DECLARE
  v pg_catalog.int8 := {first_slot};
BEGIN
{fast}  RETURN {id};
END $snowkey$
-- next statement
CREATE OR REPLACE FUNCTION {release}() RETURNS bigint
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $snowkey$
-- Frees the worker IDs, unless this is a copy, and returns the first millisecond of which no id
-- was made.
DECLARE
  last bigint;
  fence_ms bigint;
BEGIN
  ALTER SEQUENCE {cursor} OWNED BY NONE; -- waits for all transactions that have an id, and keeps others out
  last := pg_sequence_last_value({cursor_text});
  IF pg_relation_size({marker_text}) = 0 THEN -- after a crash
    last := greatest(last, pg_sequence_last_value({fence_text}));
  END IF;
  SELECT {epoch} + {tick} * ceil((last + 1)::numeric / ({per_tick} * cardinality(g.workers))) INTO fence_ms FROM {generator} g;
  UPDATE {leases} l SET token = '', expires_at = 0, until_ts = fence_ms
    FROM {generator} g WHERE l.space = g.namespace AND l.worker = ANY (g.workers) AND l.token IN (g.token, '') AND l.until_ts >= {end} AND NOT {copied}();
  DELETE FROM {generator};
  RETURN coalesce(fence_ms, 0);
END $snowkey$
-- next statement
CREATE OR REPLACE FUNCTION {claim}(worker_ids bigint[] DEFAULT NULL, how_many int DEFAULT {count}) RETURNS bigint[]
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $snowkey$
-- Takes these worker IDs, or so many of the highest that are free, instead of those that it has.
DECLARE
  made record;
  lease record;
  now_ms bigint;
  from_ms bigint;
  new_token text := {claim_id} || gen_random_uuid();
  new_owner text := left('SQL generator ' || {next_text} || ' of database ' || current_database(), 200);
  wanted int := coalesce(cardinality(worker_ids), how_many);
  taken bigint[] := '{}';
  slot bigint;
  candidate bigint;
BEGIN
  worker_ids := (SELECT array_agg(w ORDER BY w) FROM (SELECT DISTINCT unnest(worker_ids) AS w) u);
  IF wanted <> coalesce(cardinality(worker_ids), wanted) OR wanted NOT BETWEEN 1 AND {most} OR worker_ids[1] < 0 OR worker_ids[wanted] >= {all_workers} THEN
    RAISE EXCEPTION 'snowkey: worker IDs %, % of them: must be 1 to % different ones, from 0 to %', worker_ids, wanted, {most}, {all_workers} - 1
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  LOCK TABLE {generator} IN SHARE UPDATE EXCLUSIVE MODE;
  IF worker_ids IS NULL AND {copied}() THEN
    RAISE EXCEPTION 'snowkey: this database was restored or copied, and its table % does not know which worker IDs are free by now: name them', {leases_text}
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = {copy_hint};
  END IF;
  SELECT g.* INTO made FROM {generator} g;
  IF made.workers = coalesce(worker_ids, made.workers) AND cardinality(made.workers) = wanted AND made.workers = {workers}() AND made.database::text = {home}() THEN
    BEGIN
      PERFORM {check}();
      RETURN made.workers; -- it has them
    EXCEPTION WHEN object_not_in_prerequisite_state THEN NULL;
    END;
  END IF;
  INSERT INTO {spaces} (space, layout) VALUES ({namespace}, {layout}) ON CONFLICT DO NOTHING;
  SELECT s.layout INTO lease FROM {spaces} s WHERE s.space = {namespace};
  IF lease.layout IS DISTINCT FROM {layout} THEN
    RAISE EXCEPTION 'snowkey: namespace "%" has the layout "%", not "%"', {namespace}, lease.layout, {layout} USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  from_ms := {release}();
  -- Which a rollback undoes, unlike setval alone, and which empties the caches of the sessions.
  ALTER SEQUENCE {cursor} RESTART;
  ALTER SEQUENCE {fence} RESTART;
  ALTER SEQUENCE {fence_lsn} RESTART;
  ALTER SEQUENCE {safe} RESTART;
  LOCK TABLE {marker} IN ACCESS EXCLUSIVE MODE NOWAIT; -- waiting here would keep all calls waiting
  TRUNCATE {marker};
  now_ms := floor(date_part('epoch', {clock}) * 1000)::bigint;
  IF from_ms > now_ms + {ahead} * {tick} THEN
    from_ms := 0; -- the clock was in the future: other worker IDs need not follow
  END IF;
  FOR i IN 1 .. coalesce(cardinality(worker_ids), {all_workers}) LOOP
    EXIT WHEN cardinality(taken) = wanted;
    candidate := coalesce(worker_ids[i], {all_workers} - i);
    SELECT l.* INTO lease FROM {leases} l WHERE l.space = {namespace} AND l.worker = candidate FOR UPDATE;
    IF NOT FOUND THEN
      INSERT INTO {leases} (space, worker, token, epoch, until_ts, expires_at, owner)
        VALUES ({namespace}, candidate, new_token, 1, {end}, {never}, new_owner) ON CONFLICT DO NOTHING;
    ELSIF (lease.token = '' OR lease.expires_at < now_ms) AND lease.until_ts <= now_ms + {ahead} * {tick} THEN
      UPDATE {leases} l SET token = new_token, epoch = l.epoch + 1, until_ts = {end}, expires_at = {never}, owner = new_owner
        WHERE l.space = {namespace} AND l.worker = candidate;
      from_ms := greatest(from_ms, lease.until_ts);
    END IF;
    IF EXISTS (SELECT FROM {leases} l WHERE l.space = {namespace} AND l.worker = candidate AND l.token = new_token) THEN
      taken := candidate || taken;
    ELSIF worker_ids IS NOT NULL THEN
      RAISE EXCEPTION 'snowkey: worker ID % of namespace "%" is not free: it is held by "%"', candidate, {namespace}, lease.owner
        USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
  END LOOP;
  taken := (SELECT array_agg(w ORDER BY w) FROM unnest(taken) w);
  IF coalesce(cardinality(taken), 0) < wanted THEN
    RAISE EXCEPTION 'snowkey: % of the worker IDs of namespace "%" are free, not %', coalesce(cardinality(taken), 0), {namespace}, wanted
      USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  slot := greatest(0, ceil((greatest(now_ms, from_ms) - {epoch})::numeric / {tick})) * {per_tick} * wanted;
  PERFORM setval({cursor_text}, slot | {mask}), setval({fence_text}, slot), setval({safe_text}, slot), setval({fence_lsn_text}, 0);
  INSERT INTO {generator} SELECT {namespace}, {layout}, {leases_text}, taken, new_token, c.system_identifier, d.oid, {generator_text}::regclass, pg_current_xact_id(), now(), {version}
    FROM pg_control_system() c, pg_database d WHERE d.datname = current_database();
  -- Constants, so that a call need not read them.
  EXECUTE 'CREATE OR REPLACE FUNCTION ' || {workers_text} || '() RETURNS bigint[] LANGUAGE sql IMMUTABLE RETURN ' || quote_literal(taken) || '::bigint[]';
  EXECUTE 'CREATE OR REPLACE FUNCTION ' || {home_text} || '() RETURNS text LANGUAGE sql IMMUTABLE RETURN ' || quote_literal((SELECT database FROM {generator})) || '::text';
  RETURN taken;
END $snowkey$
-- next statement
REVOKE ALL ON FUNCTION {claim}(bigint[], int), {release}(), {refill}(text), {ahead_hint}(float8), {check}(), {copied}(), {nudge}(), {flushed}(pg_lsn) FROM PUBLIC
-- next statement
SELECT {claim}({claim_args})
