package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// records is the part of a statement that reads records, with its arguments.
type records struct {
	query string
	args  []any
}

// candidates are the records that a claim needs.
func candidates(c driver.Claim) records {
	return records{fewRecords, []any{c.Namespace, c.ClaimID, c.Preferred, c.Former.Worker, c.Namespace, c.WorkerIDs, c.Exclude, c.Namespace}}
}

// read reads the state of a namespace, with its index, by one statement.
func (x session) read(ctx context.Context, namespace string, which records) (st driver.State, err error) {
	err = retryUndone(ctx, func() error {
		st, err = x.readOnce(ctx, namespace, which)
		return err
	})
	return st, err
}

func (x session) readOnce(ctx context.Context, namespace string, which records) (st driver.State, err error) {
	query, err := x.statement(ctx, maxLockWait, x.state+which.query+x.limit, append([]any{namespace, namespace}, which.args...)...)
	if err != nil {
		return st, err
	}
	var index driver.State
	err = x.each(ctx, func(rows *sql.Rows) error {
		var rec driver.Record
		var ns driver.Namespace
		if err := rows.Scan(&rec.Worker, &rec.FencingToken, &rec.Start, &rec.Fence, &rec.ClaimID, &rec.Owner, &rec.Status, &ns.FenceWindow, &ns.MaxSkew, &ns.Floor, &ns.Seen, &ns.Version); err != nil {
			return err
		}
		into := &st
		switch rec.Worker {
		case -1:
			ns.Name = namespace
		case -2:
			into = &index
		default:
			st.Records = append(st.Records, rec)
			return nil
		}
		ns.Layout, ns.Incarnation, ns.Since = rec.ClaimID, rec.Owner, rec.Fence
		into.Now, into.Count, into.Server, into.Namespace = rec.FencingToken, rec.Start, string(rec.Status), ns
		into.Made, into.Missing = ns.Version == 0, ns.Version <= 0
		return nil
	}, query)
	if err == nil && (st.Server == "" || index.Server == "") {
		err = errNoAnswer
	}
	if err != nil {
		return st, x.explained(err)
	}
	if st.Missing {
		st.Index = &index
	}
	return st, x.sameMemory(index)
}

// writeClaim writes what a claim changes.
func (x session) writeClaim(ctx context.Context, c driver.Claim, st driver.State, ch driver.Change) (written bool, err error) {
	switch {
	case ch.Make != nil:
		return true, x.make(ctx, c, st, *ch.Make)
	case ch.Index != nil:
		return x.writeNamespace(ctx, indexName, *st.Index, *ch.Index)
	case ch.Namespace != nil:
		return x.writeNamespace(ctx, c.Namespace, st, *ch.Namespace)
	}
	rec, old, free := ch.Record, driver.Record{}, ""
	for _, r := range st.Records {
		if r.Worker == rec.Worker {
			old = r
		}
	}
	if former := old.ClaimID == c.Former.ClaimID && old.FencingToken == c.Former.FencingToken; !former && (old.Status == driver.Held || old.Status == driver.Freed) {
		free = " AND l.fence + n.max_skew < {now}"
	}
	return x.exec(ctx, claimLockWait, strings.Replace(x.claim, "{free}", free, 1), rec.ClaimID, rec.FencingToken, rec.Start, rec.Fence, rec.Owner, string(rec.Status),
		old.ClaimID, old.FencingToken, old.Fence, string(old.Status), st.Namespace.Floor, st.Namespace.Seen, c.Namespace, c.Namespace, rec.Worker)
}

// writeNamespace replaces what was read of a namespace, or of the index.
func (x session) writeNamespace(ctx context.Context, name string, st driver.State, ns driver.Namespace) (written bool, err error) {
	old := st.Namespace
	values := []any{ns.Layout, ns.FenceWindow, ns.MaxSkew, ns.Incarnation, ns.Since, ns.Floor, ns.Seen, ns.Version}
	if err := x.checkFile(old.Incarnation); err != nil {
		return false, err
	}
	if old.Version < 0 {
		return x.exec(ctx, maxLockWait, x.insert("{n}", "namespace, "+namespaceColumns, "?, ?, ?, ?, ?, ?, ?, ?, ?", "{server} = ?", 0, 1), append(append([]any{name}, values...), ns.Incarnation)...)
	}
	return x.exec(ctx, maxLockWait, x.updateNamespace, append(values, name, old.Incarnation, old.FenceWindow, old.Floor, old.Seen, old.Version, ns.Incarnation)...)
}

// make makes the namespace, if it is missing, or else records, unless others were made, or deleted, since
// the state was read.
func (x session) make(ctx context.Context, c driver.Claim, st driver.State, worker int64) (err error) {
	same := func(name string, s driver.State) string {
		if s.Namespace.Version < 0 {
			return "NOT EXISTS (SELECT 1 FROM {n} WHERE namespace = '" + name + "')"
		}
		return fmt.Sprintf("EXISTS (SELECT 1 FROM {n} WHERE namespace = '%s' AND seen = %d AND floor = %d)", name, s.Namespace.Seen, s.Namespace.Floor)
	}
	where := same(c.Namespace, st)
	if st.Index != nil {
		where += fmt.Sprintf(" AND %s AND (SELECT COUNT(*) FROM {n} WHERE namespace <> '%s') = %d", same(indexName, *st.Index), indexName, st.Index.Count)
	}
	if err := x.checkFile(st.Namespace.Incarnation); err != nil {
		return err
	}
	if st.Missing && !st.Made {
		_, err := x.exec(ctx, maxLockWait, x.insert("{n}", "namespace, "+namespaceColumns, "?, {empty}, 0, 0, {empty}, 0, 0, 0, 0", where, 0, 1), c.Namespace)
		return err
	}
	end := worker + 1
	if worker == driver.Any {
		if worker, err = x.firstGap(ctx, c.Namespace, st.Count); err != nil {
			return err
		}
		end = min(worker+driver.MakeAtOnce, c.WorkerIDs)
	}
	if end <= worker { // others have made them meanwhile
		return nil
	}
	where += fmt.Sprintf(" AND (SELECT COUNT(*) FROM {l} WHERE namespace = ?) = %d", st.Count)
	_, err = x.exec(ctx, maxLockWait, x.insert("{l}", "namespace, worker_id, claim_id, fencing_token, start, fence, owner, state",
		"?, made.number, {empty}, 0, 0, 0, {empty}, 'unused'", where, worker, end), c.Namespace, c.Namespace)
	return err
}

// insert is an INSERT of one row for each of the numbers from first to before end, without those that
// exist.
func (st *statements) insert(into, columns, values, where string, first, end int64) string {
	verb, ignore := "INSERT INTO ", " ON CONFLICT DO NOTHING"
	if st.cfg.Dialect == MySQL {
		verb, ignore = "INSERT IGNORE INTO ", ""
	}
	numbers := fmt.Sprintf("SELECT %d AS number", first)
	for n := first + 1; n < end; n++ {
		numbers += fmt.Sprintf(" UNION ALL SELECT %d", n)
	}
	return verb + into + " (" + columns + ") SELECT " + values + " FROM (" + numbers + ") made WHERE " + where + "{gate}" + ignore
}

// firstGap returns the lowest worker ID without a record.
func (x session) firstGap(ctx context.Context, namespace string, count int64) (worker int64, err error) {
	if count == 0 {
		return 0, nil
	}
	query, err := x.statement(ctx, maxLockWait, "SELECT MIN(w.worker_id) FROM (SELECT 0 AS worker_id UNION ALL SELECT worker_id + 1 FROM {l} WHERE namespace = ?) w"+
		" WHERE NOT EXISTS (SELECT 1 FROM {l} l WHERE l.namespace = ? AND l.worker_id = w.worker_id)"+x.limit, namespace, namespace)
	if err != nil {
		return 0, err
	}
	return worker, x.row(ctx, query, &worker)
}

// renewOnce renews by one statement, and returns the fence if that has changed a row.
func (x session) renewOnce(ctx context.Context, r driver.Renewal) (fence int64, changed bool, err error) {
	keep := ""
	if r.Keep {
		keep = ", state = 'kept'"
	}
	err = x.write(ctx, func() error {
		query, err := x.statement(ctx, maxLockWait, strings.Replace(x.renew, "{keep}", keep, 1), r.FenceWindow, r.FencingToken, r.ClaimID, r.Namespace, r.Namespace, r.Worker)
		if err != nil {
			return err
		}
		if x.cfg.Dialect != MySQL {
			return x.explained(x.each(ctx, func(rows *sql.Rows) error { changed = true; return rows.Scan(&fence) }, query))
		}
		result, err := x.change(ctx, x.leases, query)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err == nil {
			fence, err = result.LastInsertId()
		}
		changed = n > 0 && fence > 0
		return err
	})
	if err == nil && !changed {
		err = x.refused(ctx, x.leases)
	}
	return fence, changed && err == nil, err
}

// end ends a lease.
func (x session) end(ctx context.Context, set, where string, args ...any) error {
	changed, err := x.exec(ctx, maxLockWait, "UPDATE {l} SET "+set+" WHERE namespace = ? AND worker_id = ? AND fencing_token = ? AND "+claimed+where+"{gate}", args...)
	if err == nil && !changed {
		err = driver.ErrNotHeld
	}
	return err
}
