package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/leasetables"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

const (
	// claimsKept is how long a past claim stays in the table of claims.
	claimsKept = 90 * 24 * time.Hour
	// One claim of a worker ID in pruneEvery, on average, deletes old notes.
	pruneEvery = 16
	// noteWait is how long a claim waits at most until it is noted.
	noteWait = 500 * time.Millisecond
)

const claimColumns = "namespace, worker_id, fencing_token, start, ended, owner, claimed"

// noteClaim adds a claim to the table of claims, if that exists, with the end of the one before it, and
// now and then deletes old claims of the worker ID. A lease does not need the table, so errors are ignored:
// the next claim of the worker ID notes this one too.
func (x session) noteClaim(ctx context.Context, namespace string, before, rec driver.Record) {
	if !x.store.ready[leasetables.Claims].Load() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, noteWait)
	defer cancel()
	row := func(r driver.Record, ended int64, claimed string) string {
		return x.fill("(?, ?, ?, ?, ?, ?, "+claimed+")", namespace, r.Worker, r.FencingToken, r.Start, ended, r.Owner)
	}
	table, gate := x.Quoted(leasetables.Claims), ""
	rows := "VALUES " + row(rec, 0, "{now}")
	if before.FencingToken > 0 {
		rows += ", " + row(before, before.Fence, "0")
	}
	conflict := " ON CONFLICT (namespace, worker_id, fencing_token) DO UPDATE SET ended = excluded.ended WHERE excluded.ended > 0"
	switch x.Dialect {
	case ddl.MySQL:
		conflict = " ON DUPLICATE KEY UPDATE ended = GREATEST(ended, VALUES(ended))"
	case ddl.Postgres: // whatever the session's settings are
		gate = " AND set_config('synchronous_commit', 'off', true) <> ''" +
			fmt.Sprintf(" AND set_config('lock_timeout', '%d', true) <> ''", minLockWait.Milliseconds())
		rows = "SELECT * FROM (" + rows + ") noted WHERE 1 = 1" + gate
	}
	queries := []string{"INSERT INTO " + table + " (" + claimColumns + ") " + rows + conflict}
	if rec.FencingToken%pruneEvery == 0 {
		queries = append(queries, x.fill("DELETE FROM "+table+" WHERE namespace = ? AND worker_id = ? AND fencing_token < {now} - ?"+gate,
			namespace, rec.Worker, claimsKept.Milliseconds()))
	}
	for _, q := range queries {
		text, err := x.expand(ctx, minLockWait, q)
		if err == nil {
			_, err = x.conn.ExecContext(ctx, text)
		}
		if err != nil {
			return
		}
	}
}

// A PastClaim says who held a worker ID at some time.
type PastClaim struct {
	FencingToken int64
	Owner        string
	Start        time.Time // its ids carry this time or a later one,
	End          time.Time // but not this one or a later one; zero: the end was not noted
	Claimed      time.Time // by the database's clock; zero: not noted
	Present      bool      // no later claim is known; End is the fence
}

// ClaimAt returns the claim under which ids with this worker ID and time were issued, or nil if none is
// known. It knows the present claim of each worker ID, and the past ones of 90 days from the table of
// claims. That table is optional, and may lack claims: no claim fails because it cannot be noted.
func (s *Store) ClaimAt(ctx context.Context, namespace string, worker int64, at time.Time) (*PastClaim, error) {
	if err := driver.CheckNamespace(namespace); err != nil {
		return nil, err
	}
	what := fmt.Sprintf("look for the claim of worker ID %d in namespace %q", worker, namespace)
	return call(ctx, s, what, leaseTables, func(x session) (*PastClaim, error) {
		st, err := x.read(ctx, namespace, x.fill(x.every(namespace)+" AND worker_id = ?", worker))
		if err != nil {
			return nil, err
		}
		var rec driver.Record // with the greatest start that is not after the time
		var claimed int64
		present := len(st.Records) > 0 && st.Records[0].FencingToken > 0
		if present {
			rec = st.Records[0]
		}
		if x.store.ready[leasetables.Claims].Load() {
			text := x.fill("SELECT fencing_token, start, ended, claimed, owner FROM "+x.Quoted(leasetables.Claims)+
				" WHERE namespace = ? AND worker_id = ? AND start <= ? ORDER BY fencing_token DESC LIMIT 1", namespace, worker, at.UnixMilli())
			err = queryRows(ctx, x.conn, func(rows *sql.Rows) error {
				var past driver.Record
				var when int64
				err := rows.Scan(&past.FencingToken, &past.Start, &past.Fence, &when, &past.Owner)
				switch {
				case present && past.FencingToken == rec.FencingToken:
					claimed = when
				case !present || rec.Start > at.UnixMilli():
					rec, claimed, present = past, when, false
				}
				return err
			}, text, x.simple...)
		}
		ended := at.UnixMilli() >= rec.Fence && (present || rec.Fence > 0)
		if err != nil || rec.FencingToken == 0 || at.UnixMilli() < rec.Start || ended {
			return nil, err
		}
		claim := &PastClaim{
			FencingToken: rec.FencingToken, Owner: rec.Owner, Start: time.UnixMilli(rec.Start), Present: present,
		}
		if rec.Fence > 0 {
			claim.End = time.UnixMilli(rec.Fence)
		}
		if claimed > 0 {
			claim.Claimed = time.UnixMilli(claimed)
		}
		return claim, nil
	})
}
