// Package ddl writes the SQL that goes with a layout: functions and expressions
// that take ids apart in the database, a domain, partitions by the time in the
// ids, and the table of the worker leases. It writes for PostgreSQL, MySQL with
// MariaDB, and SQLite, and executes nothing, except for [Partitioning.Read].
//
//	sql, err := ddl.Functions(core.Twitter(), ddl.Postgres)
//
//	SELECT snowflake_time(id), snowflake_worker(id) FROM orders;
//	SELECT * FROM orders WHERE id >= snowflake_min(now() - interval '1 day');
//
// [Config] has more of it, under names of one's own:
//
//	Functions        functions for the fields, and for the least id of a time
//	Expression, Min  the same as expressions over a column
//	GeneratedColumn  a column that says a field of the id
//	View             a table with its ids taken apart
//	Domain, Check    a type, or a constraint, that refuses what is no id
//
// [Partitioning] divides a table by days, weeks or months, says which partitions
// it lacks and which are old, and drops or detaches them. A job calls Read and
// Extend, and executes the statements; it may run in several processes at once if
// it begins anew after an error. Extend splits a last partition without an end and
// moves rows out of a default partition:
//
//	have, err := orders.Read(ctx, db)
//	script, err := orders.Extend(have, now, now.AddDate(0, 3, 0))
//
// For pgx see [Partitioning.ReadRows], and for ATTACH and CONCURRENTLY
// docs/partitions.md. [WorkerTable] is the table of leases.
//
// # What is guaranteed
//
// The functions say what [core.Layout.Decompose] says of every id, exactly, and
// snowflake_min what [core.Layout.FirstAt] says of every time in the layout. An id that
// Decompose refuses gives NULL.
//
// Names are quoted, so they are taken as they stand, with their case; what the
// database cannot have as a name, or would cut off, is an error. Nothing else of
// what is given gets into the SQL but numbers. [Dialect.Quote] quotes names for
// statements of one's own.
//
// Times are reckoned in UTC, whatever zone a session has. In MySQL they are
// datetimes, so compare with UTC_TIMESTAMP, not with NOW.
//
// # Cost
//
// PostgreSQL replaces a call of snowflake_time by its expression. Over a million
// rows that took 1.2 times as long as reading the ids alone; a function that is
// not replaced took 20 times as long, and PL/pgSQL 6 times. BenchmarkTime in
// internal/integration/ddl measures it.
package ddl
