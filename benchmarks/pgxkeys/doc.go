// Package pgxkeys measures ids in pgx: encoded as parameters, scanned from rows,
// one by one and as arrays of 1,000, and copied into a table.
//
//   - snowkey is sqltype.ID registered by pgxtype, snowkey-bare the same without
//     registration.
//   - google-uuid and gofrs-uuid are registered by the packages that pgx's own
//     documents name for them; pgx-uuid is pgtype.UUID. A UUID is 16 bytes on the
//     wire, a bigint 8.
//   - bwmarrin has neither Value nor Scan; pgx encodes it as the int64 that it is.
//   - floor-int64 is a plain int64.
package pgxkeys
