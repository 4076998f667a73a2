// Package orms runs sqltype through the libraries for SQL that have no folder of their
// own: what column they make for an ID and a NullID, what NULL means in their
// conditions, and that a negative ID is refused. The second table of docs/encoders.md
// is what is measured here.
package orms
