// Package inserts measures rows written to PostgreSQL, MariaDB and SQLite under keys of several
// kinds, and parents with children in several ways.
//
// Each benchmark writes a fixed number of rows, so its figures do not depend on -benchtime, and bytes
// a row can be compared: keyB/row is the primary key's index alone, and diskB/row the table with all
// its indexes. Everything runs over one connection to a server on the same machine.
//
// Differences:
//
//   - InnoDB stores rows in the order of their key, so a random key moves rows there, and only index
//     entries elsewhere.
//   - SQLite stores rows by an integer key, which is its rowid: neither an auto-increment key nor a
//     snowflake has its own index.
//   - The database makes an auto-increment key, the client makes the others. The work for both is
//     measured.
package inserts
