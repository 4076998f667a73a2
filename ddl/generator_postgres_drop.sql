DO $snowkey$
BEGIN
  IF to_regclass({generator_text}) IS NOT NULL THEN
    IF EXISTS (SELECT FROM {generator} WHERE version <> {version}) THEN
      RAISE EXCEPTION 'snowkey: % is a generator of another version than %, that of this script: use the snowkey that created it', {next_text}, {version};
    END IF;
  END IF;
  DROP FUNCTION IF EXISTS {next}(text);
  IF to_regclass({cursor_text}) IS NOT NULL AND to_regclass({floor_text}) IS NOT NULL AND to_regclass({checked_text}) IS NOT NULL AND to_regprocedure({release_text} || '()') IS NOT NULL
     AND to_regclass({generator_text}) IS NOT NULL AND to_regclass({marker_text}) IS NOT NULL AND to_regclass({leases_text}) IS NOT NULL THEN
    PERFORM {release}();
  END IF; -- else which ids were made is not known, so the worker IDs stay reserved
  DROP FUNCTION IF EXISTS {claim}(bigint[], int), {recover}(text, bigint), {release}(), {refill}(text), {ahead_hint}(float8), {check}(), {copied}(), {incarnation}(), {flush}(), {workers}(), {home}();
  DROP SEQUENCE IF EXISTS {cursor}, {floor}, {checked};
  DROP TABLE IF EXISTS {generator}, {marker}, {raised};
  DROP VIEW IF EXISTS {lock};
END $snowkey$
