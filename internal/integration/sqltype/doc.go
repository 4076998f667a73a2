// Package sqltype tests ids and keys over database/sql, on every database.
package sqltype
