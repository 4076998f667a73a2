// Package ddl writes SQL for a layout: functions and expressions that decode ids in the
// database, a domain, partitions by the time in the ids, and a generator within the database.
// It supports PostgreSQL, MySQL with MariaDB, and SQLite.
//
//	script, err := ddl.Config{Dialect: ddl.Postgres, Layout: core.Twitter()}.Functions()
//
//	SELECT snowflake_time(id), snowflake_worker_id(id) FROM orders;
//	SELECT * FROM orders WHERE id >= snowflake_min(now() - interval '1 day');
//
//	orders := ddl.Partitioning{Dialect: ddl.Postgres, Table: "orders", By: ddl.Month}
//	have, err := orders.Read(ctx, db)
//	script, err = orders.Extend(have, now, now.AddDate(0, 3, 0)) // the missing partitions
//
// [Config] has the functions, and the same as expressions, columns, views and constraints.
// [Partitioning] finds missing and old partitions, and writes the statements that create,
// split, drop or detach them. A job may run Read and Extend in several processes at the
// same time if it starts again after an error. [Generator] writes a generator for rows that no Go
// program inserts, as one more holder of leased worker IDs. See docs/ddl.md and
// docs/generator.md.
//
// # What is guaranteed
//
// For every id, the functions return exactly what [core.Layout.Decode] returns. For every
// time in the layout, snowflake_min returns what [core.Layout.FirstAt] returns. An id that
// Decode refuses gives NULL.
//
// Names are quoted, so they are case-sensitive. A name that the database does not accept, or
// would truncate, is an error. Besides names, only numbers of the configuration become SQL.
//
// # What is not
//
// The package executes nothing, except in [Partitioning.Read]. Times are in UTC, whatever
// the session's time zone. In MySQL they are datetimes: compare them with UTC_TIMESTAMP,
// not with NOW. Generator.Create writes the tables of leases, too, as Config.DDL of worker/sqlstore does.
//
// To read the code, begin with dialect.go, config.go and layout.go, then expression.go and objects.go.
// What Partitioning, Sharding and Generator do is in the files with these names, in any order.
package ddl
