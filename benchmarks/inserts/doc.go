// Package inserts measures rows written to PostgreSQL, MariaDB and SQLite under
// keys of several kinds, and masters with details in several ways.
//
// Each benchmark writes a fixed number of rows, so its figures are those of one
// run whatever -benchtime is, and bytes a row can be compared:
//
//	walB/row   log written: PostgreSQL's write-ahead log, InnoDB's redo log, SQLite's WAL
//	keyB/row   the primary key's index alone; InnoDB keeps its rows in it, so there is none
//	diskB/row  the table with all its indexes
//
// Everything runs over one connection to a server on the same machine. durable=no
// is a commit that the operating system has and the disk may not.
//
// What is unlike: InnoDB keeps rows in the order of their key, so a random key
// moves rows there and only the index elsewhere; SQLite keeps rows by an integer
// key, which is its rowid, and by a snowflake, whose tables have none: there is no
// index at all; an auto-increment key is made by the database,
// whose work for it is measured, while the others are made by the client, whose
// work for them is measured too.
package inserts
