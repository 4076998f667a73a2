// Package ddl writes SQL for a layout: functions and expressions that decode ids
// in the database, a domain, partitions by the time in the ids, and the table of
// the worker leases. It supports PostgreSQL, MySQL with MariaDB, and SQLite. It
// executes nothing, except in [Partitioning.Read].
//
//	sql, err := ddl.Functions(core.Twitter(), ddl.Postgres)
//
//	SELECT snowflake_time(id), snowflake_worker(id) FROM orders;
//	SELECT * FROM orders WHERE id >= snowflake_min(now() - interval '1 day');
//
// [Config] has more, and sets the names:
//
//	Functions        functions for the fields, and for the least id of a time
//	Expression, Min  the same as expressions over a column
//	GeneratedColumn  a column with a field of the id
//	View             a table with the fields of its ids
//	Domain, Check    a type, or a constraint, that refuses values that are no ids
//
// [Partitioning] divides a table by days, weeks or months. It finds missing and old
// partitions, and writes the statements that create, drop or detach them. A job calls
// Read and Extend, and executes the statements. It may run in several processes at the
// same time if it starts again after an error. Extend splits a last partition without
// an end, and moves rows out of a default partition:
//
//	have, err := orders.Read(ctx, db)
//	script, err := orders.Extend(have, now, now.AddDate(0, 3, 0))
//
// For pgx see [Partitioning.ReadRows], and for ATTACH and CONCURRENTLY
// docs/partitions.md. [WorkerTable] is the table of leases.
//
// # What is guaranteed
//
// For every id, the functions return exactly what [core.Layout.Decode] returns. For
// every time in the layout, snowflake_min returns what [core.Layout.FirstAt] returns. An
// id that Decode refuses gives NULL.
//
// Names are quoted, so their case matters. A name that the database does not accept, or
// would truncate, is an error. Besides names, only numbers get from the
// configuration into the SQL. [Dialect.Quote] quotes names for your own statements.
//
// Times are in UTC, whatever the session's time zone. In MySQL they are
// datetimes, so compare with UTC_TIMESTAMP, not with NOW.
//
// # Cost
//
// PostgreSQL inlines snowflake_time. Over a million rows that took 1.2 times as
// long as reading the ids alone. A function that is not inlined took 20 times as
// long, and PL/pgSQL 6 times. BenchmarkTime in internal/integration/ddl measures it.
package ddl
