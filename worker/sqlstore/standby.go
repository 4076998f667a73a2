package sqlstore

import (
	"context"
	"fmt"
	"strings"
)

// Warnings names settings that might make the database lose an acknowledged write. Claim
// refuses only those that certainly can. Each text says what to do after a semicolon. There
// are none if AllowDataLoss is set, and none for settings that the database hides.
//
// In PostgreSQL these are standbys that commits do not wait for. One that is promoted may
// lack the last claims and renewals, and another holder then gets the same worker ID for
// the same time. It is no error, since some standbys only serve reads.
func (s *Store) Warnings(ctx context.Context) ([]string, error) {
	return bound(ctx, s, "ask for warnings", func() ([]string, error) { return s.warnings(ctx) })
}

func (s *Store) warnings(ctx context.Context) ([]string, error) {
	cfg, err := s.dialect(ctx)
	if err != nil || cfg.Dialect != Postgres || cfg.AllowDataLoss {
		return nil, err
	}
	// A server that only speaks like PostgreSQL may not know one of these.
	var names, commit string
	if shown, err := s.setting(ctx, cfg.Dialect, "SELECT COALESCE(current_setting('synchronous_standby_names', true), '')", &names); err != nil || !shown {
		return nil, standbyError(err)
	}
	if strings.TrimSpace(names) != "" {
		if shown, err := s.setting(ctx, cfg.Dialect, "SELECT current_setting('synchronous_commit')", &commit); err != nil || !shown || commit != "remote_write" {
			return nil, standbyError(err)
		}
		return []string{"synchronous_commit = remote_write: a standby acknowledges what it has not flushed, and may lack it when the machines of both crash; set synchronous_commit = on"}, nil
	}
	var found string
	if shown, err := s.setting(ctx, cfg.Dialect, standbys, &found); err != nil || !shown || found == "" {
		return nil, standbyError(err)
	}
	return []string{"synchronous_standby_names is empty, and there is " + found + ": a standby that is promoted may lack acknowledged writes, which makes duplicates possible; set synchronous_standby_names, or never promote it"}, nil
}

func standbyError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sqlstore: ask for standbys: %w", err)
}

// dialect is the configuration with a Dialect.
func (s *Store) dialect(ctx context.Context) (Config, error) {
	select {
	case s.turn <- struct{}{}: // another call may be finding it out
	case <-ctx.Done():
		return Config{}, s.undone(ctx.Err())
	}
	cfg, err := s.cfg, error(nil)
	<-s.turn
	if cfg.Dialect == Detect {
		cfg.Dialect, err = s.detect(ctx)
	}
	return cfg, err
}

// standbys lists, in one text, the standbys that may be promoted. These are WAL senders,
// except those of logical replication, of a base backup and of pg_receivewal, and physical
// slots whose standby is disconnected. A role without pg_read_all_stats sees no details of a
// WAL sender.
const standbys = `SELECT COALESCE(string_agg(one, ', ' ORDER BY one), '') FROM (
	SELECT CASE WHEN r.state IS NULL THEN 'a WAL receiver "' || COALESCE(r.application_name, '') || '", of which this role may not see more without pg_monitor'
		ELSE 'an asynchronous standby "' || COALESCE(r.application_name, '') || '"' END AS one
	FROM pg_catalog.pg_stat_replication r
	WHERE COALESCE(r.state, '') <> 'backup' AND COALESCE(r.application_name, '') NOT IN ('pg_basebackup', 'pg_receivewal')
		AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_replication_slots s WHERE s.active_pid = r.pid AND s.slot_type = 'logical')
	UNION ALL
	SELECT 'a replication slot "' || CAST(s.slot_name AS TEXT) || '" for a standby that is not connected'
	FROM pg_catalog.pg_replication_slots s
	WHERE s.slot_type = 'physical' AND NOT s.active AND NOT s.temporary AND NOT pg_is_in_recovery()) found`

// commitLevel is synchronous_commit. "local" counts only if there is a standby to wait for:
// otherwise a commit can do no more.
const commitLevel = "CASE WHEN current_setting('synchronous_commit') = 'local' AND COALESCE(current_setting('synchronous_standby_names', true), '') = '' THEN 'on' " +
	"ELSE current_setting('synchronous_commit') END"
