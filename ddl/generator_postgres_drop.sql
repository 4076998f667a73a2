DO $snowkey$
BEGIN
  DROP FUNCTION IF EXISTS {next}(text);
  IF to_regprocedure({release_text} || '()') IS NOT NULL THEN
    PERFORM {release}();
  END IF;
  DROP FUNCTION IF EXISTS {claim}(bigint[], int), {release}(), {refill}(text), {check}(), {copied}(), {nudge}(), {flushed}(pg_lsn), {workers}(), {home}();
  DROP SEQUENCE IF EXISTS {cursor}, {fence}, {fence_lsn}, {safe};
  DROP TABLE IF EXISTS {generator}, {marker}, {flush};
END $snowkey$
