DO $snowkey$
BEGIN -- for the claim: when these tables were the first ones of the database, as package sqlstore sees it
  PERFORM set_config('snowkey.new', CASE WHEN {untouched} AND {quiet} THEN floor(date_part('epoch', {clock}) * 1000)::bigint::text ELSE '' END, false);
END $snowkey$
-- next statement
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
      ELSIF to_regclass({cursor_text}) IS NULL OR to_regclass({floor_text}) IS NULL OR to_regclass({checked_text}) IS NULL THEN
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
  claim_id text NOT NULL,
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
CREATE UNLOGGED TABLE IF NOT EXISTS {raised} (since timestamptz) WITH (autovacuum_enabled = false, vacuum_truncate = false)
-- next statement
CREATE SEQUENCE IF NOT EXISTS {cursor} MINVALUE 0 START 0 CACHE {block}
-- next statement
CREATE SEQUENCE IF NOT EXISTS {floor} MINVALUE 0 START 0
-- next statement
CREATE SEQUENCE IF NOT EXISTS {checked} MINVALUE 0 START 0
-- next statement
CREATE OR REPLACE FUNCTION {flush}() RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $snowkey$
-- Returns once the log is flushed up to here.
DECLARE
  here pg_lsn := pg_current_wal_insert_lsn();
BEGIN
  BEGIN
    IF current_setting('server_version_num')::int >= 170000 THEN
      EXECUTE 'SELECT pg_logical_emit_message(false, ''snowkey'', '''', true)';
    ELSE -- the WAL writer flushes full pages, after 5 s at the latest
      PERFORM pg_logical_emit_message(false, 'snowkey', repeat(' ', 2 * current_setting('wal_block_size')::int));
    END IF;
  EXCEPTION WHEN insufficient_privilege THEN NULL; -- then others fill the page
  END;
  FOR i IN 1 .. {patience} * 200 LOOP
    IF pg_current_wal_flush_lsn() >= here THEN
      RETURN;
    END IF;
    PERFORM pg_sleep(0.005);
  END LOOP;
  RAISE EXCEPTION 'snowkey: the server has not flushed its log for {patience} s' USING ERRCODE = 'object_not_in_prerequisite_state';
END $snowkey$
-- next statement
CREATE OR REPLACE FUNCTION {incarnation}() RETURNS text
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $snowkey$
-- Which server this is, and in which life.
BEGIN
  RETURN {incarnation_sql};
END $snowkey$
-- next statement
CREATE OR REPLACE FUNCTION {copied}() RETURNS boolean
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $snowkey$
-- Whether another database took the worker IDs, of which this is a copy, and may still be there. The
-- same goes for a database whose sequences were set to earlier values, as by the data of a dump: it
-- has given the ids after these. NULL if there are no worker IDs.
BEGIN
  RETURN last IS NULL OR pg_sequence_last_value({floor_text}) IS NULL
      OR last < (SELECT ceil((coalesce(max(l.start), 0) - {epoch})::numeric / {tick}) * slots
        FROM {leases} l WHERE l.namespace = g.namespace AND l.worker_id = ANY (g.workers) AND l.claim_id = g.claim_id)
      -- The server counts in log_cnt how many values of a sequence are in the log. It is 0 after setval and
      -- RESTART, but not after nextval. So each setval of the sequence "checked" is followed by nextval in the
      -- same expression, which no cancellation divides. A crash makes it 0, too, and empties the marker.
      -- A dump sets this sequence before the cursor, in the order of their names. The cursor is behind it by
      -- MaxAhead at most.
      OR pg_relation_size({marker_text}) > 0 AND (c.log_cnt = 0 OR last < c.last_value - {ahead} * slots)
      OR g.system <> (SELECT system_identifier FROM pg_control_system())
      OR EXISTS (SELECT FROM pg_database WHERE oid = g.database AND datname <> current_database())
      OR EXISTS (SELECT FROM pg_database WHERE oid = g.database AND datname = current_database())
        AND g.relation <> {generator_text}::regclass AND EXISTS (SELECT FROM pg_class WHERE oid = g.relation)
    FROM {generator} g, {checked} c, pg_sequence_last_value({cursor_text}) last, LATERAL (SELECT {per_tick} * cardinality(g.workers) AS slots) s;
END $snowkey$
-- next statement
CREATE OR REPLACE FUNCTION {check}() RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $snowkey$
-- Fails unless this database holds the worker IDs, and has committed that.
DECLARE
  made record;
BEGIN
  SELECT g.*, {copied}() AS copied, (SELECT count(*) FROM {leases} l JOIN {namespaces} n USING (namespace)
      WHERE l.namespace = g.namespace AND l.worker_id = ANY (g.workers) AND l.claim_id = g.claim_id AND l.state IN ('kept', 'freed')) AS held
    INTO made FROM {generator} g;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'snowkey: the generator % has no worker IDs', {next_text}
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = {claim_hint};
  ELSIF made.copied THEN
    RAISE EXCEPTION 'snowkey: this database was restored or copied, or its sequences were set: the worker IDs % of namespace "%" may be used elsewhere', made.workers, made.namespace
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = {copy_hint};
  ELSIF made.database::text <> {home}() OR NOT EXISTS (SELECT FROM pg_database WHERE oid = made.database AND datname = current_database()) THEN
    RAISE EXCEPTION 'snowkey: this database was restored, and has no worker IDs yet'
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = {claim_hint};
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
      WHERE NOT EXISTS (SELECT FROM {leases} l JOIN {namespaces} n USING (namespace) WHERE l.namespace = {namespace} AND l.worker_id = w
        AND (l.state = 'kept' OR l.state IN ('held', 'freed') AND l.fence + n.max_skew >= now_ms OR l.fence >= greatest(now_ms, n.floor) + {ahead} * {tick}))
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
-- sequence. A slot is a tick, a worker ID and a sequence number in one number, which "next" takes apart.
--
-- A block is taken under a lock, because setval can lower a sequence. The lock ends with a
-- subtransaction that is always rolled back: sequences stay as they are, and no error or
-- cancellation can leave it behind. It locks a view on which only the owner has rights: any
-- role can take an advisory lock, and ANALYZE locks all tables in this mode until its transaction
-- ends. Any role with USAGE on the schema can also hold ROW EXCLUSIVE, by PREPARE. This mode
-- conflicts with itself, but not with that.
--
-- A crash, a failover or a restore may forget blocks, and that others have had these worker IDs.
-- It empties the marker, which is unlogged. Then, as with leases, the floor rises above all that
-- may be forgotten, and the cursor follows it. No block is further ahead of the clock, or of the
-- floor, than MaxAhead, which is at most the fence window. Before the next block the log must be
-- flushed, or the next crash could forget the floor.
--
-- Blocks lie below the value of the sequence "checked", up to which the worker IDs were seen to be
-- reserved.
DECLARE
  v bigint;
  last bigint;
  first bigint;
  slots bigint; -- of a tick
  now_slot bigint;
  floor_slot bigint;
  top bigint; -- no block reaches beyond it
  space record;
  obstacle text; -- why there is no block yet; empty: another session was faster
  pause float8; -- until it has gone, in seconds
  waited float8 := 0;
  attempt int := 0;
BEGIN
  IF namespace IS DISTINCT FROM {namespace} THEN
    RAISE EXCEPTION 'snowkey: namespace "%": this generator has "%"', namespace, {namespace} USING ERRCODE = 'invalid_parameter_value';
  END IF;
  LOOP
    attempt := attempt + 1;
    obstacle := '';
    BEGIN
      -- The position.
      LOCK TABLE {lock} IN SHARE UPDATE EXCLUSIVE MODE;
      last := pg_sequence_last_value({cursor_text});
      -- After that, which waits for a claim: it changes the number of worker IDs.
      slots := {per_tick} * cardinality({workers}());
      IF slots = 0 THEN
        RAISE EXCEPTION 'snowkey: the generator % has no worker IDs', {next_text}
          USING ERRCODE = 'object_not_in_prerequisite_state', HINT = {claim_hint};
      END IF;
      now_slot := floor((date_part('epoch', {clock}) * 1000 - {epoch}) / {tick})::bigint * slots;
      floor_slot := pg_sequence_last_value({floor_text});

      -- After a crash: the floor, and the cursor above it.
      IF pg_relation_size({marker_text}) = 0 OR split_part(pg_relation_filepath({marker_text}), '/', -2) <> {home}() THEN
        PERFORM {check}();
        IF pg_relation_size({raised_text}) = 0 THEN
          SELECT ceil((n.fence_window + n.max_skew)::numeric / {tick})::bigint * slots AS step, ceil((n.floor - {epoch})::numeric / {tick})::bigint * slots AS floor, n.incarnation
            INTO space FROM {namespaces} n WHERE n.namespace = {namespace};
          IF floor_slot BETWEEN now_slot + space.step + 1 AND now_slot + 3 * space.step THEN -- one further ahead was raised by hand
            obstacle := 'the database has crashed or was restored again and again';
            pause := (floor_slot - now_slot - space.step)::float8 / slots * {tick} / 1000;
            top := now_slot + space.step;
            RAISE SQLSTATE 'SK000';
          ELSIF space.incarnation <> {incarnation}() THEN
            floor_slot := setval({floor_text}, greatest(floor_slot, space.floor, now_slot) + space.step);
          ELSE -- a claim of this namespace has raised its floor
            floor_slot := setval({floor_text}, greatest(floor_slot + space.step, space.floor));
          END IF;
          INSERT INTO {raised} VALUES ({clock}); -- is rolled back, and its page stays
        END IF;
        last := setval({cursor_text}, greatest(last, floor_slot) | {mask});
        PERFORM CASE WHEN setval({checked_text}, 0) = 0 THEN nextval({checked_text}) END;
        PERFORM {flush}();
        INSERT INTO {marker} VALUES ({clock});
      ELSIF last IS NULL OR floor_slot IS NULL OR (SELECT c.log_cnt = 0 OR last < c.last_value - {ahead} * slots FROM {checked} c) THEN
        PERFORM {check}(); -- fails: see "copied"
      END IF;

      -- The block: from first on, and not beyond top.
      first := (greatest(last + 1, now_slot) + {mask}) & ~{mask}::bigint;
      top := least(greatest(now_slot, floor_slot) + {ahead} * slots, {last_tick} * slots);
      IF first + {block} > {last_tick} * slots THEN
        RAISE EXCEPTION 'snowkey: the time of the layout ends here' USING ERRCODE = 'sequence_generator_limit_exceeded';
      ELSIF first + {block} > top THEN
        obstacle := 'the clock was set back, or ids are wanted faster than the layout has them';
        pause := (first + {block} - top)::float8 / slots * {tick} / 1000;
      ELSE
        IF first + {block} > pg_sequence_last_value({checked_text}) THEN
          PERFORM {check}();
          PERFORM CASE WHEN setval({checked_text}, top - 1) = top - 1 THEN nextval({checked_text}) END;
        END IF;
        PERFORM setval({cursor_text}, first - 1); -- also empties the cache of this session
        -- It is a later block if the first nextval of another session came between.
        v := CASE WHEN nextval({cursor_text}) <= top - {block} THEN currval({cursor_text}) ELSE least(-1, {drain}) END;
      END IF;
      RAISE SQLSTATE 'SK000'; -- ends the lock
    EXCEPTION WHEN SQLSTATE 'SK000' THEN NULL;
    END;

    IF v >= 0 THEN
      RETURN v;
    ELSIF obstacle <> '' THEN
      IF pause > {patience} OR waited > {patience} THEN
        RAISE EXCEPTION 'snowkey: ids are % ahead of the clock, and % is the most: %',
          (top - now_slot) / slots * interval '{tick} ms' + pause * interval '1 second', (top - now_slot) / slots * interval '{tick} ms', obstacle
          USING ERRCODE = 'object_not_in_prerequisite_state', HINT = {ahead_hint}(pause);
      END IF;
      pause := least(pause + 0.001, 0.1);
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
-- Most calls take the next slot of the block that is in their session's cache of the sequence. Otherwise,
-- and if that slot is of another time than now, "refill" takes a new block.
--
-- SET search_path would double what a call costs. So every name and operator has its schema.
DECLARE
  v pg_catalog.int8 := {cached_slot};
BEGIN
  IF {unusable} THEN
    v := {refill}(namespace);
  END IF;
  RETURN {id};
END $snowkey$
-- next statement
CREATE OR REPLACE FUNCTION {release}() RETURNS bigint
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $snowkey$
-- Releases the worker IDs, unless this is a copy, and returns the first millisecond of which no id
-- was made, but for ids that were forgotten: no claim starts among these.
DECLARE
  fence_ms bigint;
BEGIN
  ALTER SEQUENCE {cursor} OWNED BY NONE; -- waits for all transactions that have an id, and keeps others out
  SELECT {epoch} + {tick} * ceil((pg_sequence_last_value({cursor_text}) + 1)::numeric / ({per_tick} * cardinality(g.workers))) INTO fence_ms FROM {generator} g;
  UPDATE {leases} l SET state = 'released', fence = fence_ms
    FROM {generator} g WHERE l.namespace = g.namespace AND l.worker_id = ANY (g.workers) AND l.claim_id = g.claim_id AND l.state IN ('kept', 'freed') AND NOT {copied}();
  DELETE FROM {generator};
  RETURN coalesce(fence_ms, 0);
END $snowkey$
-- next statement
CREATE OR REPLACE FUNCTION {recover}(name text, known bigint) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $snowkey$
-- Raises the floor of a namespace if it may have been forgotten what it had, as State.recovery of package
-- driver does. known is how many records it has. The caller must have locked the namespace before it
-- counts them. The namespace * is the index of all: it has namespaces.
DECLARE
  space record;
  now_ms bigint := floor(date_part('epoch', {clock}) * 1000)::bigint;
BEGIN
  SELECT n.*, n.fence_window + n.max_skew AS step INTO space FROM {namespaces} n WHERE n.namespace = name FOR UPDATE;
  IF space.version > {store_version} THEN
    RAISE EXCEPTION 'snowkey: namespace "%" was written by a newer version of snowkey: use that', name USING ERRCODE = 'object_not_in_prerequisite_state';
  ELSIF space.incarnation = {incarnation}() AND known >= space.seen THEN
    RETURN;
  ELSIF space.floor BETWEEN now_ms + space.step + 1 AND now_ms + 3 * space.step THEN -- one further ahead was raised by hand
    RAISE EXCEPTION 'snowkey: the database was put back to an earlier state again, and the floor of namespace "%" is still at %: worker IDs can be taken at %, or after snowkey workers floor',
      name, to_timestamp(space.floor / 1000.0), to_timestamp((space.floor - space.step) / 1000.0) USING ERRCODE = 'object_not_in_prerequisite_state';
  ELSE
    UPDATE {namespaces} n SET incarnation = {incarnation}(), since = greatest(n.floor, now_ms), floor = greatest(n.floor, now_ms) + space.step, seen = known
      WHERE n.namespace = name;
  END IF;
END $snowkey$
-- next statement
CREATE OR REPLACE FUNCTION {claim}(worker_ids bigint[] DEFAULT NULL, how_many int DEFAULT {count}) RETURNS bigint[]
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $snowkey$
-- Takes these worker IDs, or so many of the highest that are free, instead of those that it has.
DECLARE
  made record;
  space record;
  lease record;
  known bigint;
  now_ms bigint := floor(date_part('epoch', {clock}) * 1000)::bigint;
  base_ms bigint;
  from_ms bigint;
  new_claim text := {claim_id} || gen_random_uuid();
  new_owner text := regexp_replace(left('SQL generator ' || {next_text} || ' of database ' || current_database(), 200), '[^ -~]', '?', 'g');
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
  known := (SELECT count(*) FROM {leases} l WHERE l.namespace = {namespace});
  IF NOT EXISTS (SELECT FROM {namespaces} n WHERE n.namespace = {namespace}) THEN
    -- A namespace that is missing was perhaps forgotten: the index of all knows that, unless all was. Behind
    -- a pooler the setting may stay in another session, so it is believed for a minute.
    INSERT INTO {namespaces} (namespace, layout, fence_window, max_skew, incarnation, since, floor, seen, version) SELECT '*', '', {fence_window}, {max_skew}, {incarnation}(), now_ms,
        CASE WHEN now_ms - nullif(current_setting('snowkey.new', true), '')::bigint BETWEEN 0 AND 60000 AND known = 0 THEN 0 ELSE now_ms + {fence_window} + {max_skew} END, 0, {store_version} ON CONFLICT DO NOTHING;
    PERFORM set_config('snowkey.new', '', false);
    UPDATE {namespaces} n SET fence_window = greatest(n.fence_window, {fence_window}), max_skew = greatest(n.max_skew, {max_skew}) WHERE n.namespace = '*';
    PERFORM {recover}('*', (SELECT count(*) FROM {namespaces} n WHERE n.namespace <> '*'));
    INSERT INTO {namespaces} (namespace, layout, fence_window, max_skew, incarnation, since, floor, seen, version)
      SELECT {namespace}, {layout}, {fence_window}, {max_skew}, {incarnation}(), now_ms, CASE i.floor WHEN 0 THEN 0 ELSE greatest(i.floor, i.since + {fence_window} + {max_skew}) END, known, {store_version}
        FROM {namespaces} i WHERE i.namespace = '*' ON CONFLICT DO NOTHING; -- a program may have made it meanwhile
    UPDATE {namespaces} i SET seen = (SELECT count(*) FROM {namespaces} n WHERE n.namespace <> '*') WHERE i.namespace = '*';
  END IF;
  PERFORM FROM {namespaces} n WHERE n.namespace = {namespace} FOR UPDATE; -- a program may be making records, and counting them there
  PERFORM {recover}({namespace}, (SELECT count(*) FROM {leases} l WHERE l.namespace = {namespace}));
  SELECT n.* INTO space FROM {namespaces} n WHERE n.namespace = {namespace};
  IF space.layout <> {layout} THEN
    RAISE EXCEPTION 'snowkey: namespace "%" has the layout "%", not "%"', {namespace}, space.layout, {layout} USING ERRCODE = 'object_not_in_prerequisite_state';
  ELSIF space.fence_window < {ahead} * {tick} THEN
    RAISE EXCEPTION 'snowkey: MaxAhead is % ms, and namespace "%" has a FenceWindow of % ms: configure at most that, or run snowkey workers window',
      {ahead} * {tick}, {namespace}, space.fence_window USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  from_ms := {release}();
  -- Which a rollback undoes, unlike setval alone, and which empties the caches of the sessions.
  ALTER SEQUENCE {cursor} RESTART;
  ALTER SEQUENCE {floor} RESTART;
  ALTER SEQUENCE {checked} RESTART;
  LOCK TABLE {marker}, {raised} IN ACCESS EXCLUSIVE MODE NOWAIT; -- waiting here would keep all calls waiting
  TRUNCATE {marker}, {raised};
  INSERT INTO {raised} VALUES ({clock}); -- its page stays: the namespace has the floor
  DELETE FROM {raised};
  base_ms := greatest(now_ms, space.floor);
  IF from_ms >= base_ms + {ahead} * {tick} THEN
    from_ms := 0; -- the clock was in the future: other worker IDs need not follow
  END IF;
  FOR i IN 1 .. coalesce(cardinality(worker_ids), {all_workers}) LOOP
    EXIT WHEN cardinality(taken) = wanted;
    candidate := coalesce(worker_ids[i], {all_workers} - i);
    INSERT INTO {leases} (namespace, worker_id, claim_id, fencing_token, start, fence, owner, state)
      VALUES ({namespace}, candidate, '', 0, 0, 0, '', 'unused') ON CONFLICT DO NOTHING;
    SELECT l.* INTO lease FROM {leases} l WHERE l.namespace = {namespace} AND l.worker_id = candidate FOR UPDATE;
    IF (lease.state IN ('unused', 'released') OR lease.state IN ('held', 'freed') AND lease.fence + space.max_skew < now_ms)
        AND lease.fence < base_ms + {ahead} * {tick} THEN
      from_ms := greatest(from_ms, lease.fence);
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
  base_ms := greatest(base_ms, from_ms);
  UPDATE {leases} l SET claim_id = new_claim, fencing_token = greatest(l.fencing_token + 1, base_ms), start = base_ms, fence = {end}, owner = new_owner, state = 'kept'
    WHERE l.namespace = {namespace} AND l.worker_id = ANY (taken);
  UPDATE {namespaces} n SET seen = (SELECT count(*) FROM {leases} l WHERE l.namespace = {namespace}) WHERE n.namespace = {namespace};
  slot := greatest(0, ceil((base_ms - {epoch})::numeric / {tick})) * {per_tick} * wanted;
  PERFORM setval({cursor_text}, slot | {mask}), setval({checked_text}, 0),
    setval({floor_text}, greatest(0, ceil((space.floor - {epoch})::numeric / {tick}))::bigint * {per_tick} * wanted);
  INSERT INTO {generator} SELECT {namespace}, {layout}, {leases_text}, taken, new_claim, c.system_identifier, d.oid, {generator_text}::regclass, pg_current_xact_id(), now(), {version}
    FROM pg_control_system() c, pg_database d WHERE d.datname = current_database();
  -- Constants, so that a call need not read them.
  EXECUTE 'CREATE OR REPLACE FUNCTION ' || {workers_text} || '() RETURNS bigint[] LANGUAGE sql IMMUTABLE RETURN ' || quote_literal(taken) || '::bigint[]';
  EXECUTE 'CREATE OR REPLACE FUNCTION ' || {home_text} || '() RETURNS text LANGUAGE sql IMMUTABLE RETURN ' || quote_literal((SELECT database FROM {generator})) || '::text';
  RETURN taken;
END $snowkey$
-- next statement
REVOKE ALL ON FUNCTION {claim}(bigint[], int), {recover}(text, bigint), {release}(), {refill}(text), {ahead_hint}(float8), {check}(), {copied}(), {incarnation}(), {flush}() FROM PUBLIC
-- next statement
SELECT {claim}({claim_args})
