// Package sqltype gives a primary key one Go type, [ID], that behaves the same
// in a database, in JSON and in a URL.
//
// An ID is an int64 everywhere a machine keeps it (a bigint column, a struct
// field) and a decimal string everywhere it is written down, JSON included:
// JavaScript reads numbers as float64 and would silently change the last digits
// of most 64-bit ids.
//
//	type Order struct {
//		ID       sqltype.ID     `json:"id"`
//		ParentID sqltype.NullID `json:"parent_id,omitzero"`
//	}
//
// # One grammar
//
// [Parse], [ID.Scan], [ID.UnmarshalText], [ID.UnmarshalJSON] and
// [ID.UnmarshalParam] read the same text: 0, or 1 to 19 digits without a
// leading zero, and not above 9223372036854775807. No sign, space, underscore,
// prefix, fraction or exponent is accepted, so that an id has exactly one
// spelling and can be compared as text.
//
// Ids are never negative. A negative ID can be made by a conversion and can be
// printed, but no encoder writes it and no decoder yields it. Zero is a valid
// id to read and to write, yet it also means "not set" to [ID.IsZero], to
// [Assign] and to the libraries that fill keys; [New] and [Assign] never give
// it out.
//
// # NULL
//
// A plain ID refuses NULL. A column that can be NULL is read into a [NullID],
// or into a *ID, which is nil for NULL.
//
// # JSON
//
// ID has text methods and no MarshalJSON: every JSON package then writes a
// string, as a value, as a map key and in a slice. Reading accepts a string or
// an exact integer. Do not add the option "string" to the tag, the string is
// there already. To leave out an unset ID write `json:"id,omitempty,omitzero"`
// or omitzero alone: encoding/json/v2 does not see "0" as empty.
//
// The package imports the standard library only.
package sqltype
