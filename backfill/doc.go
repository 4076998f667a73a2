// Package backfill gives ids to rows that were made long ago. Each id carries the time of its row,
// so the ids sort as the rows do, and below all ids that generators issue from now on:
//
//	store, err := sqlstore.New(db, sqlstore.Config{})
//	if err != nil {
//		return err
//	}
//	result, err := backfill.Run(ctx, db, backfill.Config{
//		Dialect: ddl.Postgres, Table: "orders", CreatedAt: "created_at", Store: store,
//	})
//
// This adds the column id_snowkey to orders, and a column such as order_id_snowkey to each table
// with a foreign key to orders, and fills them. Keys and constraints stay as they are:
// docs/backfill.md of the repository shows how to swap the columns afterwards. Inspect says what
// Run would do, and writes nothing. The command snowkey backfill does both.
//
// # What is guaranteed
//
// No id of a backfill equals an id of a generator with a lease in the namespace, now or later, or of
// another backfill there. The backfill claims a worker ID that was never leased before, so
// nobody has issued ids of the past under it. It issues ids with times before that claim only;
// every later holder of the worker ID starts at the claim or later. This depends on the
// conditions of worker.Acquire, and on a store that has never lost a record.
//
// The ids of one run sort as its rows: by CreatedAt, to the tick of the layout, then by CreatedAt,
// then by key. An id's time is never before its row's tick. It is later only if rows do not fit
// into a tick: by the time that it takes to issue the ids of the rows before it which were made
// at that moment. Result.MaxDelay is the longest of these delays.
//
// Rows are written in transactions of Config.BatchSize rows, each with the rows that refer to them
// by an indexed column, and with the state of the backfill in the table snow_backfill. So a backfill that was killed leaves no row
// half-written, and the next Run continues where it ended. Two runs on one column at
// the same time are an error for one of them. Programs may read and write the tables meanwhile.
//
// An id that is set is never changed. NULL and 0 count as not set.
//
// # What is not
//
// A row that is written during the backfill with a CreatedAt before the rows that have ids already,
// or after the beginning of the run, is left without an id, and so is one that is too new. Run
// then returns a *LeftError. Run it again: another run takes another worker ID.
//
// A table needs a primary key of one column, an ordinary table, and in MySQL InnoDB. Foreign keys of
// several columns are refused. Triggers fire as for any UPDATE.
package backfill
