// Package sqltype gives a primary key one Go type, [ID], that behaves the same in a database, in
// JSON and in a URL. A [Key] is an ID of one type of rows.
//
// An ID is an int64 in a bigint column and in a struct field, and a decimal string in text,
// including JSON: JavaScript reads numbers as float64, and would change the last digits of most
// 64-bit ids.
//
//	type Order struct {
//		ID       sqltype.ID     `json:"id"`        // bigint, and "1996573624012345677" in JSON
//		ParentID sqltype.NullID `json:"parent_id"` // may be NULL
//		Lines    []Line
//	}
//
//	id, err := sqltype.Parse(r.PathValue("id"))
//	err = sqltype.Assign(ctx, gen, orders, func(o *Order) *sqltype.ID { return &o.ID },
//		sqltype.Children(
//			func(o *Order) []Line { return o.Lines },
//			func(l *Line) *sqltype.ID { return &l.ID },
//			func(l *Line) *sqltype.ID { return &l.OrderID }))
//
// # Typed keys
//
// A Key[Order] does everything that an ID does, and using a Key[Customer] instead does not compile. Do
// not write type OrderID sqltype.ID: such a type has no methods, and is a bare number in JSON.
//
//	type Order struct {
//		ID         sqltype.Key[Order]    `json:"id"`
//		CustomerID sqltype.Key[Customer] `json:"customer_id"`
//	}
//
//	func (*Order) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ord"} }
//
// KeyForm is optional. With it, the key's string, also in JSON, is "ord_1qda147xjq4ad", and a string
// with another prefix is [ErrPrefix]. The column is a bigint either way. What follows for an ID and a
// [NullID] also holds for a Key and a [NullKey], except that the string of a key with a [Form] has the
// Form's grammar.
//
// # What is guaranteed
//
// [Parse], [ID.Scan], [ID.UnmarshalText], [ID.UnmarshalJSON] and [ID.UnmarshalParam] read one
// grammar: 0, or 1 to 19 digits without a leading zero, at most 9223372036854775807. Sign, space,
// underscore, prefix, fraction and exponent are errors, so an id has one spelling and can
// be compared as text. An error quotes the input and wraps [ErrSyntax], [ErrRange] or
// [ErrNegative]; the id is then unchanged.
//
// Ids are never negative: methods that encode a negative ID return an error, and methods that
// decode never return one. Zero is a valid id to read and write, but means "not set" to
// [ID.IsZero], to [Assign] and to libraries that fill keys. [NextID] and [Assign] never return it.
//
// [ID.Value] is an int64. Only a [NullID], a *ID and a sql.Null[ID] accept NULL.
//
// In JSON, an ID is a string: as a value, as a map key, in a slice and in an any. Reading accepts a
// string or an integer below 2^53, and in an [Exact] any integer; null leaves an ID unchanged, makes a
// *ID nil and a NullID NULL. Omit an unset ID with `json:"id,omitempty,omitzero"`.
//
// [ID.Base32], [ID.Bitcoin58] and [ID.Base62] return short strings of a fixed width, which sort byte
// by byte like the ids.
//
// # What is not
//
// An encoder that ignores methods and uses the kind of a type, such as encoding/gob, reads and
// writes negative ids. Do not add the option "string" of encoding/json to an ID. Do not embed an ID in
// a struct, because the struct would get its methods.
//
// # Who calls which method
//
// There are few methods, because encoders prefer some methods to others: a new method may change what
// is written. Add only methods that a library needs.
//
//	Value, Scan             database/sql, and the libraries that are built on it
//	GormDataType            gorm, for the type of a column
//	AppendText              encoding/json/v2, for an ID and a Key
//	MarshalText             encoding/json, also for map keys; encoding/xml, log/slog, CSV, TOML, YAML
//	UnmarshalText           the same but log/slog; flag.TextVar, gorilla/schema
//	MarshalJSON             encoding/json, of NullID and NullKey only: null for NULL
//	MarshalJSONTo           encoding/json/v2, the same without an allocation
//	UnmarshalJSON           encoding/json and encoding/json/v2
//	IsZero                  encoding/json, for omitzero
//	MarshalXMLAttr          encoding/xml, of pointers only: no attribute for nil
//	UnmarshalParam          gin and echo, for path and query parameters
//	Bind                    code that oapi-codegen generates
//	MarshalGQLContext       gqlgen, and UnmarshalGQLContext
//	Format, String          fmt, and code that needs a string
//	Compare, Int64, Base32  your code, as Bitcoin58, Base62 and the Append methods
//
// docs/keys.md says what JSON packages, web frameworks and encoders do with an ID, and what happens to
// stored strings if a Form changes. docs/sql.md is about SQL libraries.
//
// The package imports the standard library only.
package sqltype
