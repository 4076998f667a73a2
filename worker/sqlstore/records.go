package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

const (
	recordColumns    = "namespace, worker_id, claim_id, fencing_token, start, fence, owner, state"
	namespaceColumns = "layout, fence_window, max_skew, incarnation, since, floor, seen, version"
	// indexName is the name of the index of the namespaces (see driver.State); it is not valid for others.
	indexName = "*"
	// claimed is the condition that a worker ID is held.
	claimed = "state IN ('held', 'kept')"
)

// values returns the values of namespaceColumns.
func values(ns driver.Namespace) []any {
	return []any{ns.Layout, ns.FenceWindow, ns.MaxSkew, ns.Incarnation, ns.Since, ns.Floor, ns.Seen, ns.Version}
}

// Empty columns for read, each of whose rows has only some of them: a record, a namespace, or the server.
const (
	noRecord    = "-1, '', 0, 0, 0, '', ''"
	noNamespace = "'', '', 0, 0, '', 0, 0, 0, 0"
	noServer    = "0, '', 0, 0"
)

// union begins a query for records, for read.
const union = " UNION SELECT worker_id, claim_id, fencing_token, start, fence, owner, state, " + noNamespace + ", " + noServer + " FROM "

// every returns the query for all records of a namespace. Only MySQL has records that are being made: see
// makeNamespace.
func (s *server) every(namespace string) string {
	return s.fill(union+"{l} WHERE namespace = ? AND state <> 'made'", namespace)
}

// candidates returns the query for the records that a claim needs.
func (s *server) candidates(c driver.Claim) string {
	return s.fill(s.every(c.Namespace)+" AND (claim_id = ? OR worker_id IN (?, ?))", c.ClaimID, c.Preferred, c.Former.Worker) +
		s.fill(union+"(SELECT * FROM {l} WHERE namespace = ? AND worker_id < ? AND worker_id <> ? AND (state IN ('unused', 'released')"+
			" OR state IN ('held', 'freed') AND fence + (SELECT max_skew FROM {n} WHERE namespace = ?) < {now}) ORDER BY fence, worker_id LIMIT 64) few",
			c.Namespace, c.WorkerIDs, c.Exclude, c.Namespace)
}

// read reads the state of a namespace, with the index, in one statement. Each row is one of these: the
// server with its clock and counts, a namespace, or a record.
func (x session) read(ctx context.Context, namespace, records string) (st driver.State, err error) {
	query := x.fill("SELECT "+noRecord+", "+noNamespace+", {now}, {server}, (SELECT COUNT(*) FROM {l} WHERE namespace = ? AND state <> 'made'),"+
		" (SELECT COUNT(*) FROM {n} WHERE namespace <> ? AND version > 0)", namespace, indexName) +
		x.fill(" UNION SELECT "+noRecord+", namespace, "+namespaceColumns+", "+noServer+" FROM {n} WHERE namespace IN (?, ?) AND version > 0", namespace, indexName) + records
	err = retryUndone(ctx, func() error {
		text, err := x.expand(ctx, maxLockWait, query)
		if err != nil {
			return err
		}
		index := driver.State{Missing: true}
		st = driver.State{Missing: true, Namespace: driver.Namespace{Name: namespace}}
		err = queryRows(ctx, x.conn, func(rows *sql.Rows) error {
			var rec driver.Record
			var ns driver.Namespace
			var now, count, namespaces int64
			var server string
			err := rows.Scan(&rec.Worker, &rec.ClaimID, &rec.FencingToken, &rec.Start, &rec.Fence, &rec.Owner, &rec.Status,
				&ns.Name, &ns.Layout, &ns.FenceWindow, &ns.MaxSkew, &ns.Incarnation, &ns.Since, &ns.Floor, &ns.Seen, &ns.Version,
				&now, &server, &count, &namespaces)
			switch {
			case err != nil:
				return err
			case rec.Worker >= 0:
				st.Records = append(st.Records, rec)
			case ns.Name == indexName:
				index.Namespace, index.Missing = ns, false
			case ns.Name != "":
				st.Namespace, st.Missing = ns, false
			default:
				st.Now, st.Server, st.Count = now, server, count
				index.Now, index.Server, index.Count = now, server, namespaces
			}
			return nil
		}, text, x.simple...)
		if err == nil && (st.Server == "" || st.Now == 0) {
			err = errNoAnswer
		}
		if err != nil {
			return x.explained(err)
		}
		if st.Missing {
			st.Index = &index
		}
		return x.sameMemory(index)
	})
	return st, err
}

// writeClaim writes the change of a claim.
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
	rec, old, free := ch.Record, ch.Old, ""
	if ch.Expired {
		free = " AND l.fence + n.max_skew < {now}"
	}
	set := x.fill("claim_id = ?, fencing_token = ?, start = ?, fence = ?, owner = ?, state = ?",
		rec.ClaimID, rec.FencingToken, rec.Start, rec.Fence, rec.Owner, string(rec.Status))
	where := x.fill("l.claim_id = ? AND l.fencing_token = ? AND l.fence = ? AND l.state = ? AND n.incarnation = {server} AND n.floor = ? AND n.seen = ?",
		old.ClaimID, old.FencingToken, old.Fence, string(old.Status), st.Namespace.Floor, st.Namespace.Seen)
	written, err = x.write(ctx, claimLockWait, x.update(c.Namespace, rec.Worker, set, where+free))
	if written {
		x.noteClaim(ctx, c.Namespace, old, *rec)
	}
	return written, err
}

// update returns an UPDATE of a worker ID's record, joined with its namespace.
func (s *server) update(namespace string, worker int64, set, where string) string {
	where += s.fill(" AND n.namespace = ? AND l.namespace = ? AND l.worker_id = ?{gate}", namespace, namespace, worker)
	if s.Dialect == ddl.MySQL {
		return "UPDATE {l} AS l JOIN {n} AS n ON 1 = 1 SET " + set + " WHERE " + where
	}
	return "UPDATE {l} AS l SET " + set + " FROM {n} AS n WHERE " + where
}

// asRead returns the condition that a namespace is as it was read, and that this server has the given
// incarnation. n is the alias of the namespace.
func (s *server) asRead(name string, ns driver.Namespace, incarnation string) string {
	return s.fill("n.namespace = ? AND n.incarnation = ? AND n.fence_window = ? AND n.floor = ? AND n.seen = ? AND n.version = ? AND {server} = ?{gate}",
		name, ns.Incarnation, ns.FenceWindow, ns.Floor, ns.Seen, ns.Version, incarnation)
}

// setNamespace returns assignments to all columns of a namespace, with the prefix before each column.
func (s *server) setNamespace(prefix string, ns driver.Namespace) string {
	return s.fill(prefix+strings.ReplaceAll(namespaceColumns, ", ", " = ?, "+prefix)+" = ?", values(ns)...)
}

// namespaceRow returns what a SELECT needs to make a namespace's row.
func (s *server) namespaceRow(name string, ns driver.Namespace) string {
	return s.fill("?, ?, ?, ?, ?, ?, ?, ?, ? FROM (SELECT 1 AS one) o", append([]any{name}, values(ns)...)...)
}

// writeNamespace replaces a namespace, or the index, if it is as it was read.
func (x session) writeNamespace(ctx context.Context, name string, st driver.State, ns driver.Namespace) (written bool, err error) {
	if st.Missing {
		return x.write(ctx, maxLockWait, x.insertIgnoring("{n}", "namespace, "+namespaceColumns, x.namespaceRow(name, ns)+x.fill(" WHERE {server} = ?{gate}", ns.Incarnation)))
	}
	return x.write(ctx, maxLockWait, "UPDATE {n} AS n SET "+x.setNamespace("", ns)+" WHERE "+x.asRead(name, st.Namespace, ns.Incarnation))
}

// insertIgnoring returns an INSERT of the selected rows that skips rows that exist.
func (s *server) insertIgnoring(into, columns, selected string) string {
	if s.Dialect == ddl.MySQL {
		return "INSERT IGNORE INTO " + into + " (" + columns + ") SELECT " + selected
	}
	return "INSERT INTO " + into + " (" + columns + ") SELECT " + selected + " ON CONFLICT DO NOTHING"
}

// makeNamespace writes a missing namespace and the index in one step. In SQLite, two queries are one
// transaction. In PostgreSQL, they are one statement: the new row is selected from what the UPDATE has
// changed. In MySQL, the inserted row does not count yet; then one UPDATE of both makes it count.
func (x session) makeNamespace(ctx context.Context, name string, st driver.State, ch driver.Change) (written bool, err error) {
	const columns = "namespace, " + namespaceColumns
	where := x.asRead(indexName, st.Index.Namespace, ch.Index.Incarnation)
	if x.Dialect == ddl.MySQL {
		uncounted := *ch.Namespace
		uncounted.Version = 0
		return x.write(ctx, maxLockWait, x.insertIgnoring("{n}", columns, x.namespaceRow(name, uncounted)+" WHERE 1 = 1{gate}"),
			"UPDATE {n} AS n JOIN {n} AS made ON 1 = 1 SET "+x.setNamespace("n.", *ch.Index)+", "+x.setNamespace("made.", *ch.Namespace)+
				x.fill(" WHERE made.namespace = ? AND made.version = 0 AND ", name)+where)
	}
	return x.countAndInsert(ctx, "UPDATE {n} AS n SET "+x.setNamespace("", *ch.Index)+" WHERE "+where,
		"INSERT INTO {n} ("+columns+") SELECT "+x.namespaceRow(name, *ch.Namespace))
}

// countAndInsert executes two queries as one step.
func (x session) countAndInsert(ctx context.Context, count, insert string) (written bool, err error) {
	if x.Dialect == ddl.Postgres {
		return x.write(ctx, maxLockWait, "WITH counted AS ("+count+" RETURNING 1) "+insert+" CROSS JOIN counted")
	}
	return x.write(ctx, maxLockWait, count, insert)
}

// makeRecords makes unused records and counts them in the namespace in one step, like makeNamespace.
func (x session) makeRecords(ctx context.Context, c driver.Claim, st driver.State, worker int64) (written bool, err error) {
	// missing selects worker IDs without a record: the first one, and those among the numbers after it.
	first, numbers := fmt.Sprintf("SELECT %d AS id", worker), "SELECT 0 AS number"
	if worker == driver.MakeAny {
		first = x.fill("SELECT MIN(w.id) AS id FROM (SELECT 0 AS id UNION ALL SELECT worker_id + 1 FROM {l} WHERE namespace = ? AND state <> 'made') w"+
			" WHERE NOT EXISTS (SELECT 1 FROM {l} l WHERE l.namespace = ? AND l.worker_id = w.id AND l.state <> 'made')", c.Namespace, c.Namespace)
		for number := 1; number < driver.MakeAtOnce; number++ {
			numbers += fmt.Sprint(" UNION ALL SELECT ", number)
		}
	}
	missing := x.fill("(SELECT first.id + numbers.number AS id FROM ("+first+") first CROSS JOIN ("+numbers+") numbers WHERE first.id + numbers.number < ?"+
		" AND NOT EXISTS (SELECT 1 FROM {l} l WHERE l.namespace = ? AND l.worker_id = first.id + numbers.number AND l.state <> 'made')) missing", c.WorkerIDs, c.Namespace)
	row := func(state driver.Status) string {
		return x.fill("?, missing.id, '', 0, 0, 0, '', ? FROM ", c.Namespace, string(state)) + missing
	}
	where := x.asRead(c.Namespace, st.Namespace, st.Namespace.Incarnation)
	if x.Dialect == ddl.MySQL {
		return x.write(ctx, maxLockWait, x.insertIgnoring("{l}", recordColumns, row("made")+" WHERE EXISTS (SELECT 1 FROM {n} n WHERE "+where+")"),
			x.fill("UPDATE {n} AS n JOIN {l} AS l ON l.namespace = n.namespace"+
				" JOIN (SELECT worker_id, COUNT(*) OVER () AS number FROM {l} WHERE namespace = ? AND state = 'made') made ON made.worker_id = l.worker_id"+
				" SET l.state = 'unused', n.seen = ? + made.number WHERE l.state = 'made' AND ", c.Namespace, st.Namespace.Seen)+where)
	}
	return x.countAndInsert(ctx, "UPDATE {n} AS n SET seen = n.seen + (SELECT COUNT(*) FROM "+missing+") WHERE "+where,
		"INSERT INTO {l} ("+recordColumns+") SELECT "+row(driver.Unused))
}

// renewOnce renews in one statement, and returns the fence if that has changed a row.
func (x session) renewOnce(ctx context.Context, r driver.Renewal) (fence int64, changed bool, err error) {
	greatest, least := "GREATEST", "LEAST"
	if x.Dialect == ddl.SQLite {
		greatest, least = "MAX", "MIN"
	}
	set := x.fill(greatest+"(l.fence, "+greatest+"({now}, n.floor) + "+least+"(?, n.fence_window))", r.FenceWindow)
	if x.Dialect == ddl.MySQL {
		set = "LAST_INSERT_ID(" + set + ")"
	}
	if r.Keep {
		set += ", state = 'kept'"
	}
	where := x.fill("l.fencing_token = ? AND l.claim_id = ? AND l."+claimed+
		" AND CASE WHEN n.incarnation = {server} THEN l.fence > n.since WHEN n.floor > {now} + n.fence_window + n.max_skew THEN l.fence > n.floor ELSE 1 = 0 END",
		r.FencingToken, r.ClaimID)
	return x.writeReturning(ctx, maxLockWait, "fence", x.update(r.Namespace, r.Worker, "fence = "+set, where))
}

// end ends a lease. where may add a condition, such as the claim ID.
func (x session) end(ctx context.Context, namespace string, worker, fencingToken int64, set, where string) error {
	changed, err := x.write(ctx, maxLockWait, "UPDATE {l} SET "+set+x.fill(" WHERE namespace = ? AND worker_id = ? AND fencing_token = ? AND ", namespace, worker, fencingToken)+claimed+where+"{gate}")
	if err == nil && !changed {
		err = driver.ErrNotHeld
	}
	return err
}
