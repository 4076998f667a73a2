package live

import (
	"context"
	"fmt"
	"time"
)

// A Pace slows down a fill: to a number of rows in a second, and while a standby is behind.
type Pace struct {
	RowsPerSecond int           // zero: no limit
	MaxReplicaLag time.Duration // zero: no limit
	Waiting       func(reason string)

	free     time.Time // when the rows that were written have taken their time
	standbys int       // how many there were at first
	mark     int64     // a position of the WAL that the last standby had not replayed
	marked   time.Time // when the WAL was there
}

// Check adds the errors of the fields.
func (p Pace) Check(wrong *Errors) {
	if p.RowsPerSecond < 0 {
		wrong.Add("RowsPerSecond", p.RowsPerSecond, "must be at least 1, or 0 for no limit")
	}
	const least = 100 * time.Millisecond
	if p.MaxReplicaLag != 0 && p.MaxReplicaLag < least {
		wrong.Add("MaxReplicaLag", p.MaxReplicaLag, "must be at least %v, or 0 for no limit", least)
	}
}

// Batch returns a batch size with which a batch is written in a second.
func (p *Pace) Batch(size int) int {
	if p.RowsPerSecond > 0 {
		return min(size, p.RowsPerSecond)
	}
	return size
}

// Wrote counts rows that were written.
func (p *Pace) Wrote(rows int64) {
	if p.RowsPerSecond == 0 {
		return
	}
	if now := time.Now(); p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(time.Duration(float64(rows) / float64(p.RowsPerSecond) * float64(time.Second)))
}

// Probe returns the error of a limit that cannot be kept.
func (p *Pace) Probe(ctx context.Context, q Querier, pkg string) error {
	if p.MaxReplicaLag == 0 {
		return nil
	}
	_, err := p.behind(ctx, q, pkg)
	return err
}

// Wait returns when the next batch may be written.
func (p *Pace) Wait(ctx context.Context, q Querier, pkg string) error {
	if err := Sleep(ctx, max(time.Until(p.free), 0)); err != nil || p.MaxReplicaLag == 0 {
		return err
	}
	const poll, remind = 200 * time.Millisecond, 10 * time.Second
	var said time.Time
	for {
		behind, err := p.behind(ctx, q, pkg)
		if err != nil || behind == "" {
			return err
		}
		if time.Since(said) > remind && p.Waiting != nil {
			said = time.Now()
			p.Waiting(behind)
		}
		if err := Sleep(ctx, poll); err != nil {
			return err
		}
	}
}

// lags returns where the WAL is, how many standbys there are, where the last of them is, and the
// longest replay_lag in seconds. Without rights, columns are NULL; the last field says so.
const lags = `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint, count(replay_lsn), coalesce(pg_wal_lsn_diff(min(replay_lsn), '0/0'), 0)::bigint,
	coalesce(extract(epoch FROM max(replay_lag)), 0)::float8, pg_has_role('pg_read_all_stats', 'USAGE') FROM pg_stat_replication WHERE state <> 'backup'`

// A look is what lags has found.
type look struct {
	lsn, replayed int64
	standbys      int
	seconds       float64
}

// behind says how far the standbys are behind, if that is too far.
func (p *Pace) behind(ctx context.Context, q Querier, pkg string) (string, error) {
	var l look
	var allowed bool
	if err := q.QueryRowContext(ctx, lags).Scan(&l.lsn, &l.standbys, &l.replayed, &l.seconds, &allowed); err != nil {
		return "", fmt.Errorf("%s: look for the lag of replicas: %w", pkg, err)
	}
	switch first := p.standbys == 0; {
	case !allowed:
		return "", Error(pkg, "MaxReplicaLag", p.MaxReplicaLag, "this role cannot see the lag of replicas: GRANT pg_monitor to it")
	case first && l.standbys == 0:
		return "", Error(pkg, "MaxReplicaLag", p.MaxReplicaLag, "no replica is connected to this server, so there is no lag to limit: connect one, or leave it out")
	case first:
		p.standbys = l.standbys
	}
	return p.late(l), nil
}

// late says how far the standbys are behind. The server's replay_lag is NULL, or the last one that was
// measured, while a standby replays nothing. So the lag is at least the time since a position of the WAL
// that the standby has not reached.
func (p *Pace) late(l look) string {
	if p.mark <= l.replayed {
		p.mark, p.marked = l.lsn, time.Now()
	}
	lag := time.Since(p.marked)
	if l.replayed < l.lsn {
		lag = max(lag, time.Duration(l.seconds*float64(time.Second)))
	}
	switch {
	case l.standbys < p.standbys:
		return fmt.Sprintf("%d of %d replicas are connected", l.standbys, p.standbys)
	case lag > p.MaxReplicaLag:
		return fmt.Sprintf("a replica is %v behind", lag.Round(time.Millisecond))
	}
	return ""
}
