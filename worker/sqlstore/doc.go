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
// Every verb is one UPDATE that names the record as it was read, or the INSERT of a new one, at
// any isolation level. It commits by itself, even if the sessions of MySQL or MariaDB have
// autocommit off. No lock is held between calls.
//
// No call outlasts its context, whatever the driver does, except those of [Store.In], which
// run in your transaction.
//
// # Limits
//
// The database must not lose a committed write. If a setting that the store can see allows
// that, claims are refused with a *driver.DurabilityError. An SQLite file must be on a local
// disk. After a restore from a backup, first raise until_ts of all rows above the present, and
// empty their token.
//
// A temporary table with the name of one of the store's is a *core.ConfigError. The store looks
// for one once, so no session of the pool may create one later.
//
// A store takes one connection at a time from the pool, and waits for it in turn with the
// program. If the program may use up the pool for longer than a lease lasts without a renewal,
// give the store a pool of its own.
//
// docs/workers.md has the settings that are checked, and how to use PgBouncer, Galera, Group
// Replication and Vitess.
//
// # Reading the code
//
// sqlstore.go has the verbs. Each is one call on one connection (connection.go) to a database
// that was inspected (inspect.go, tables.go). Its statements are in dialect.go and are executed by
// exec.go, durably (durable.go). What each verb sends is in testdata.
package sqlstore
