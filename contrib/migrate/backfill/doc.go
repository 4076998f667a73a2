// Package backfill gives ids to existing rows. Each id carries the creation time of its row, so the
// ids sort as the rows do, and below all ids that generators issue from now on:
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
// with a foreign key to orders, and fills them. Keys and constraints do not change;
// docs/migrate.md in the repository shows how to swap the columns afterwards. Inspect reports what
// Run would do and writes nothing. The command snowkey backfill does both.
//
// # What is guaranteed
//
// No id of a backfill equals an id of another backfill in the namespace, or of a generator that has
// or will have a lease there. Each run claims a worker ID that was never leased before, so no
// generator has issued ids with it. It issues only ids with times before that claim; every later
// holder of the worker ID starts at the claim or later. This relies on the conditions of
// worker.Open. If the store may once have lost a record, Run refuses to choose a worker ID: name one
// by Config.Worker.
//
// The ids of one run sort as its rows do: by CreatedAt, then by key. In SQLite, times within one
// millisecond sort as strings. An id's time is never before its row's tick. It is later only if more
// rows were created in a tick than the tick has ids: then these rows, and the rows after them, get
// the ids of the next ticks. Result.MaxDelay is the longest of these delays. Of two runs, the ids of
// such rows may be in any order.
//
// Rows are written in transactions of Config.BatchSize rows. Each also writes the rows that refer to
// them by an indexed column. So a backfill that is killed leaves no row half-written, and the next
// Run continues with the rows that have no id, under another worker ID. Two runs may work at the same
// time: each row gets one id. Programs may read and write the tables during a backfill.
//
// An id that is set is never changed. NULL and 0 count as not set.
//
// # What is not
//
// A row that a program writes during the backfill gets no id if its CreatedAt is earlier than that of
// rows that already have ids, or later than the start of the backfill. Run then returns a
// *LeftError: run it again.
//
// A program that knows nothing of the new columns may change a reference that has its id already.
// Run then returns a *ReferenceError, or the next one does: before the columns are swapped, stop
// the program and run again.
//
// The table must be an ordinary one with a primary key of one column, and in MySQL use InnoDB.
// Foreign keys of several columns are refused, and so is a table with UPDATE triggers, unless they may
// fire: see Config.FireTriggers.
//
// To read the code, begin with plan.go and run.go, then references.go, rows.go, cursor.go and claim.go.
package backfill
