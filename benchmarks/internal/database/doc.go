// Package database gives benchmarks a private PostgreSQL, a private MariaDB and an SQLite
// file, as similar as possible, and measures the size of tables.
//
// All are used over one connection. Durable means that a commit is on disk before it
// returns; otherwise it has reached the operating system. [Settings] has the other settings.
package database
