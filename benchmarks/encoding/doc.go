// Package encoding measures the encoding and decoding of ids as JSON, and an id as an argument of
// database/sql. Libraries without a type of their own cost what floor-int64 costs; in JSON that is a
// number, which a browser rounds.
package encoding
