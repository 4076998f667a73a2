// Package sqlstore keeps leases of worker IDs in PostgreSQL, MySQL, MariaDB or SQLite, over any
// driver of database/sql. One call leases a worker ID and makes a generator:
//
//	gen, err := sqlstore.Open(ctx, db, worker.Config{})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(context.Background())
//	id, err := gen.Next(ctx)
//
// [New] makes a store for other uses. A store also lists and frees worker IDs, and has counters:
// [Store.Reserve] is for worker.FromCounter and package serial, [Store.In] for the numbers of
// package serial.
//
// A store needs two small tables, and another one for counters. It creates missing tables; see
// [Config.DDL]. With the tables of the leases, it also creates a history of claims, for [Store.ClaimAt].
// You can drop that at any time: a store without it only forgets who held a worker ID before.
//
// # Guarantees
//
// A claim or a renewal is one UPDATE, which commits by itself. Its WHERE clause requires that the record
// is as it was read, and that the server has the recorded incarnation: see package driver. No lock is
// held between statements, except in SQLite, and a statement that waits for a lock ends by itself.
//
// The incarnation consists of properties of the server that the database shows; in SQLite, of the file.
// See [Store.Incarnation]. So the store notices when it was put back, and raises the floor of its
// namespaces.
//
// No call outlasts its context, whatever the driver does. The exception is [Store.In], which runs in
// your transaction.
//
// # Limits
//
// MySQL's tables must be InnoDB, PostgreSQL's logged. A counter needs a database that loses no committed
// write. If a setting that the store can see allows such a loss, Reserve returns a
// *driver.DurabilityError.
//
// An SQLite file must be on a local disk, and must not be overwritten in place. In WAL mode, mount its
// folder, not the file alone. After the file is replaced, restart the programs that have it open: a
// store that has used the old file returns errors, but a new store would trust older connections. A
// database in memory must be the same for all connections of the pool.
//
// A store takes one connection at a time from the pool, and queues for it like the program. If the
// program may use up the pool for longer than a lease lasts without a renewal, give the store a
// separate pool.
//
// # Reading the code
//
// config.go names the tables. sqlstore.go has the verbs. Each is one call on one connection (connection.go) to an inspected
// database (inspect.go, tables.go, incarnation.go). records.go has the statements of the verbs,
// durable.go the conditions of each write, and exec.go executes them. claims.go is the history. testdata shows what each verb
// sends.
package sqlstore
