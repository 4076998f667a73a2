package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

const (
	recordColumns    = "namespace, worker_id, claim_id, fencing_token, start, fence, owner, state"
	namespaceColumns = "layout, fence_window, max_skew, incarnation, since, floor, seen, version"
	// indexName is the namespace that is the index of the others, see driver.State: no other has such a name.
	indexName = "*"
	// claimed says that a worker ID is held.
	claimed = "state IN ('held', 'kept')"
)

// values are those of namespaceColumns.
func values(ns driver.Namespace) []any {
	return []any{ns.Layout, ns.FenceWindow, ns.MaxSkew, ns.Incarnation, ns.Since, ns.Floor, ns.Seen, ns.Version}
}

// What read reads of the records, besides the namespace. Rows that are being made are in MySQL only: see
// makeRows.
const (
	union      = " UNION SELECT worker_id, fencing_token, start, fence, claim_id, owner, state, 0, 0, 0, 0, 0 FROM "
	allRecords = union + "{l} WHERE namespace = ? AND state <> 'made'"
	oneRecord  = allRecords + " AND worker_id = ?"
	fewRecords = allRecords + " AND (claim_id = ? OR worker_id IN (?, ?))" + union + "(SELECT * FROM {l} WHERE namespace = ? AND worker_id < ? AND worker_id <> ?" +
		" AND (state IN ('unused', 'released') OR state IN ('held', 'freed') AND fence + (SELECT max_skew FROM {n} WHERE namespace = ?) < {now}) ORDER BY fence, worker_id LIMIT 64) few"
)

// candidates are the records that a claim needs.
func candidates(c driver.Claim) query {
	return query{fewRecords, []any{c.Namespace, c.ClaimID, c.Preferred, c.Former.Worker, c.Namespace, c.WorkerIDs, c.Exclude, c.Namespace}}
}

// every record of a namespace.
func every(namespace string) query { return query{allRecords, []any{namespace}} }

// read reads the state of a namespace, with its index, by one statement.
func (x session) read(ctx context.Context, namespace string, records query) (st driver.State, err error) {
	// of is a namespace in the columns of a record, and more.
	of := func(number, count string) string {
		return "SELECT " + number + ", {now}, (SELECT COUNT(*) FROM " + count + "), COALESCE(n.since, 0), COALESCE(n.layout, ''), COALESCE(n.incarnation, ''), {server}" +
			", COALESCE(n.fence_window, 0), COALESCE(n.max_skew, 0), COALESCE(n.floor, 0), COALESCE(n.seen, 0), COALESCE(n.version, 0) FROM (SELECT 1 AS one) o LEFT JOIN {n} n ON n.namespace = ?"
	}
	q := query{
		of("-1", "{l} WHERE namespace = ? AND state <> 'made'") + " UNION " + of("-2", "{n} WHERE namespace <> '"+indexName+"' AND version > 0") + records.sql,
		append([]any{namespace, namespace, indexName}, records.args...),
	}
	err = retryUndone(ctx, func() error {
		text, err := x.text(ctx, maxLockWait, q)
		if err != nil {
			return err
		}
		var index driver.State
		st = driver.State{Index: &index}
		err = each(ctx, x.conn, func(rows *sql.Rows) error {
			var rec driver.Record
			var ns driver.Namespace
			if err := rows.Scan(&rec.Worker, &rec.FencingToken, &rec.Start, &rec.Fence, &rec.ClaimID, &rec.Owner, &rec.Status, &ns.FenceWindow, &ns.MaxSkew, &ns.Floor, &ns.Seen, &ns.Version); err != nil {
				return err
			}
			into := &index
			switch rec.Worker {
			case -1:
				into, ns.Name = &st, namespace
			case -2:
			default:
				st.Records = append(st.Records, rec)
				return nil
			}
			ns.Layout, ns.Incarnation, ns.Since = rec.ClaimID, rec.Owner, rec.Fence
			into.Now, into.Count, into.Server, into.Namespace, into.Missing = rec.FencingToken, rec.Start, string(rec.Status), ns, ns.Version <= 0
			return nil
		}, text, x.simple...)
		if err == nil && (st.Server == "" || index.Server == "") {
			err = errNoAnswer
		}
		if err != nil {
			return x.explained(err)
		}
		return x.sameMemory(index)
	})
	if !st.Missing {
		st.Index = nil
	}
	return st, err
}

// writeClaim writes what a claim changes.
func (x session) writeClaim(ctx context.Context, c driver.Claim, st driver.State, ch driver.Change) (written bool, err error) {
	switch {
	case ch.Make != nil:
		return x.makeRecords(ctx, c, st, *ch.Make)
	case ch.Index != nil && ch.Namespace != nil:
		return x.makeNamespace(ctx, c.Namespace, st, ch)
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
	return x.exec(ctx, claimLockWait, x.update("claim_id = ?, fencing_token = ?, start = ?, fence = ?, owner = ?, state = ?",
		"l.claim_id = ? AND l.fencing_token = ? AND l.fence = ? AND l.state = ? AND n.incarnation = {server} AND n.floor = ? AND n.seen = ?"+free,
		rec.ClaimID, rec.FencingToken, rec.Start, rec.Fence, rec.Owner, string(rec.Status),
		old.ClaimID, old.FencingToken, old.Fence, string(old.Status), st.Namespace.Floor, st.Namespace.Seen, c.Namespace, c.Namespace, rec.Worker))
}

// update is an UPDATE of the record of a worker ID, with its namespace.
func (s *server) update(set, where string, args ...any) query {
	where += " AND n.namespace = ? AND l.namespace = ? AND l.worker_id = ?{gate}"
	if s.Dialect == MySQL {
		return query{"UPDATE {l} AS l JOIN {n} AS n ON 1 = 1 SET " + set + " WHERE " + where, args}
	}
	return query{"UPDATE {l} AS l SET " + set + " FROM {n} AS n WHERE " + where, args}
}

// asRead says that a namespace is as it was read, and that this server has the incarnation. The columns
// of the namespace begin with n.
func asRead(name string, ns driver.Namespace, incarnation string) (where string, args []any) {
	return "n.namespace = ? AND n.incarnation = ? AND n.fence_window = ? AND n.floor = ? AND n.seen = ? AND n.version = ? AND {server} = ?{gate}",
		[]any{name, ns.Incarnation, ns.FenceWindow, ns.Floor, ns.Seen, ns.Version, incarnation}
}

// setNamespace sets the columns of a namespace, which begin with the prefix.
func setNamespace(prefix string) string {
	return prefix + strings.ReplaceAll(namespaceColumns, ", ", " = ?, "+prefix) + " = ?"
}

// writeNamespace replaces what was read of a namespace, or of the index.
func (x session) writeNamespace(ctx context.Context, name string, st driver.State, ns driver.Namespace) (written bool, err error) {
	if err := x.checkFile(st.Namespace.Incarnation); err != nil {
		return false, err
	}
	if st.Missing {
		return x.exec(ctx, maxLockWait, x.insertIgnoring("{n}", "namespace, "+namespaceColumns,
			"?, ?, ?, ?, ?, ?, ?, ?, ? FROM (SELECT 1 AS one) o WHERE {server} = ?{gate}", append(append([]any{name}, values(ns)...), ns.Incarnation)...))
	}
	where, args := asRead(name, st.Namespace, ns.Incarnation)
	return x.exec(ctx, maxLockWait, query{"UPDATE {n} AS n SET " + setNamespace("") + " WHERE " + where, append(values(ns), args...)})
}

// insertIgnoring is an INSERT of what is selected, without the rows that exist.
func (s *server) insertIgnoring(into, columns, selected string, args ...any) query {
	if s.Dialect == MySQL {
		return query{"INSERT IGNORE INTO " + into + " (" + columns + ") SELECT " + selected, args}
	}
	return query{"INSERT INTO " + into + " (" + columns + ") SELECT " + selected + " ON CONFLICT DO NOTHING", args}
}

// makeRows inserts rows, and counts them, in one step. In SQLite, two queries are in one transaction. In
// PostgreSQL, they are one: the rows are selected from what the first one has changed. In MySQL, rows
// are inserted that do not count yet, and then made to count by an UPDATE of both tables.
func (x session) makeRows(ctx context.Context, count, insert, insertUncounted, countThem query) (written bool, err error) {
	switch x.Dialect {
	case MySQL:
		return x.exec(ctx, maxLockWait, insertUncounted, countThem)
	case Postgres:
		return x.exec(ctx, maxLockWait, query{"WITH counted AS (" + count.sql + " RETURNING 1) " + insert.sql + " CROSS JOIN counted", append(count.args, insert.args...)})
	}
	return x.exec(ctx, maxLockWait, count, insert)
}

// makeNamespace writes a namespace that is missing, and the index.
func (x session) makeNamespace(ctx context.Context, name string, st driver.State, ch driver.Change) (written bool, err error) {
	if err := x.checkFile(st.Index.Namespace.Incarnation); err != nil {
		return false, err
	}
	where, args := asRead(indexName, st.Index.Namespace, ch.Index.Incarnation)
	ns, uncounted := values(*ch.Namespace), *ch.Namespace
	uncounted.Version = 0
	const columns, row = "namespace, " + namespaceColumns, "?, ?, ?, ?, ?, ?, ?, ?, ? FROM (SELECT 1 AS one) o"
	return x.makeRows(ctx,
		query{"UPDATE {n} AS n SET " + setNamespace("") + " WHERE " + where, append(values(*ch.Index), args...)},
		query{"INSERT INTO {n} (" + columns + ") SELECT " + row, append([]any{name}, ns...)},
		x.insertIgnoring("{n}", columns, row+" WHERE 1 = 1{gate}", append([]any{name}, values(uncounted)...)...),
		query{"UPDATE {n} AS n JOIN {n} AS made ON 1 = 1 SET " + setNamespace("n.") + ", " + setNamespace("made.") + " WHERE made.namespace = ? AND made.version = 0 AND " + where,
			append(append(append(values(*ch.Index), ns...), name), args...)})
}

// makeRecords makes unused records, and counts them in the namespace.
func (x session) makeRecords(ctx context.Context, c driver.Claim, st driver.State, worker int64) (written bool, err error) {
	if err := x.checkFile(st.Namespace.Incarnation); err != nil {
		return false, err
	}
	// missing are the worker IDs without a record among some numbers: the first of them, and those after it.
	first, numbers, args := fmt.Sprintf("SELECT %d AS id", worker), "SELECT 0 AS number", []any{c.WorkerIDs, c.Namespace}
	if worker == driver.Any {
		first = "SELECT MIN(w.id) AS id FROM (SELECT 0 AS id UNION ALL SELECT worker_id + 1 FROM {l} WHERE namespace = ? AND state <> 'made') w" +
			" WHERE NOT EXISTS (SELECT 1 FROM {l} l WHERE l.namespace = ? AND l.worker_id = w.id AND l.state <> 'made')"
		args = append([]any{c.Namespace, c.Namespace}, args...)
		for n := range driver.MakeAtOnce - 1 {
			numbers += fmt.Sprint(" UNION ALL SELECT ", n+1)
		}
	}
	missing := "(SELECT first.id + numbers.number AS id FROM (" + first + ") first CROSS JOIN (" + numbers + ") numbers WHERE first.id + numbers.number < ?" +
		" AND NOT EXISTS (SELECT 1 FROM {l} l WHERE l.namespace = ? AND l.worker_id = first.id + numbers.number AND l.state <> 'made')) missing"
	where, read := asRead(c.Namespace, st.Namespace, st.Namespace.Incarnation)
	row := "?, missing.id, '', 0, 0, 0, '', '%s' FROM " + missing
	return x.makeRows(ctx,
		query{"UPDATE {n} AS n SET seen = n.seen + (SELECT COUNT(*) FROM " + missing + ") WHERE " + where, append(args[:len(args):len(args)], read...)},
		query{"INSERT INTO {l} (" + recordColumns + ") SELECT " + fmt.Sprintf(row, driver.Unused), append([]any{c.Namespace}, args...)},
		x.insertIgnoring("{l}", recordColumns, fmt.Sprintf(row, "made")+" WHERE EXISTS (SELECT 1 FROM {n} n WHERE "+where+")", append(append([]any{c.Namespace}, args...), read...)...),
		query{"UPDATE {n} AS n JOIN {l} AS l ON l.namespace = n.namespace JOIN (SELECT worker_id, COUNT(*) OVER () AS number FROM {l} WHERE namespace = ? AND state = 'made') made ON made.worker_id = l.worker_id" +
			" SET l.state = 'unused', n.seen = ? + made.number WHERE l.state = 'made' AND " + where, append([]any{c.Namespace, st.Namespace.Seen}, read...)})
}

// renewOnce renews by one statement, and returns the fence if that has changed a row.
func (x session) renewOnce(ctx context.Context, r driver.Renewal) (fence int64, changed bool, err error) {
	greatest, least := "GREATEST", "LEAST"
	if x.Dialect == SQLite {
		greatest, least = "MAX", "MIN"
	}
	set := greatest + "(l.fence, " + greatest + "({now}, n.floor) + " + least + "(?, n.fence_window))"
	if x.Dialect == MySQL {
		set = "LAST_INSERT_ID(" + set + ")"
	}
	if r.Keep {
		set += ", state = 'kept'"
	}
	return x.ask(ctx, maxLockWait, "fence", x.update("fence = "+set, "l.fencing_token = ? AND l.claim_id = ? AND l."+claimed+
		" AND CASE WHEN n.incarnation = {server} THEN l.fence > n.since WHEN n.floor > {now} + n.fence_window + n.max_skew THEN l.fence > n.floor ELSE 1 = 0 END",
		r.FenceWindow, r.FencingToken, r.ClaimID, r.Namespace, r.Namespace, r.Worker))
}

// end ends a lease.
func (x session) end(ctx context.Context, set, where string, args ...any) error {
	changed, err := x.exec(ctx, maxLockWait, query{"UPDATE {l} SET " + set + " WHERE namespace = ? AND worker_id = ? AND fencing_token = ? AND " + claimed + where + "{gate}", args})
	if err == nil && !changed {
		err = driver.ErrNotHeld
	}
	return err
}
