// Package sqlstore keeps leases of worker IDs in PostgreSQL, MySQL, MariaDB or SQLite, over any
// driver of database/sql. One call leases a worker ID and makes a generator:
//
//	gen, err := sqlstore.Open(ctx, db, sqlstore.Config{})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(context.Background())
//	id, err := gen.Next(ctx)
//
// [New] makes a store for other uses. A store lists and frees worker IDs, and it counts:
// [Store.Reserve] is for worker.FromCounter and package serial, [Store.In] for the numbers of
// package serial.
//
// It needs two small tables, and counters a third. It creates them if they are missing: see
// [Config.DDL].
//
// # Guarantees
//
// A claim and a renewal are one UPDATE, which commits by itself. It names the record as it was read, and
// is executed only by the server whose incarnation is recorded: see package driver. No lock is held
// between statements, but in SQLite, and a statement that waits for one ends by itself.
//
// The incarnation consists of what the database shows of itself: see [Store.Incarnation]. In SQLite it
// is that of the file. So a store that was put back is noticed, and the floor of its namespaces rises.
//
// No call outlasts its context, whatever the driver does, except those of [Store.In], which
// run in your transaction.
//
// # Limits
//
// The tables must be InnoDB, or logged. A counter needs a database that loses no committed write: if
// a setting that the store can see allows that, Reserve returns a *driver.DurabilityError.
//
// An SQLite file must be on a local disk, and must not be overwritten in place. In WAL mode, mount its
// folder, not the file alone. After the file was replaced, start the programs that have it open again: a
// store that has used the old one refuses, but a new store would believe connections that are older. A
// database in memory must be the same for all connections of the pool.
//
// A store takes one connection at a time from the pool, and waits for it in turn with the
// program. If the program may use up the pool for longer than a lease lasts without a renewal,
// give the store a pool of its own.
//
// # Reading the code
//
// sqlstore.go has the verbs. Each is one call on one connection (connection.go) to a database
// that was inspected (inspect.go, tables.go, incarnation.go). records.go reads and writes what a
// verb needs, on the conditions of durable.go, and exec.go executes that. What each verb sends is
// in testdata.
package sqlstore
