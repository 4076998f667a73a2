// Package ddl runs the SQL of package ddl on real servers: PostgreSQL, MariaDB, a
// MySQL if SNOWKEY_TEST_MYSQL names one, and SQLite.
package ddl
