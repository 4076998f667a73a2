// Package database gives benchmarks a private PostgreSQL, a private MariaDB and
// an SQLite file, alike as far as they can be, and says how many bytes a table
// and the log of what was done to it take.
//
// All are used over one connection. Durable means that a commit is on the disk
// before it returns; else it is with the operating system. The rest of the
// settings is in [Settings].
package database
