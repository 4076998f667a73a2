// Package pgxkeys measures ids in pgx, encoded as parameters and scanned from rows, one by one and as
// arrays of 1,000.
//
//   - snowkey is sqltype.ID registered by pgxtype, snowkey-bare the same without registration.
//   - pgx-uuid is pgtype.UUID: 16 bytes on the wire, where a bigint has 8.
//   - bwmarrin has neither Value nor Scan; pgx encodes it as the int64 that it is.
//   - floor-int64 is a plain int64.
package pgxkeys
