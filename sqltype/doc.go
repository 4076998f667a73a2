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
//		ParentID sqltype.NullID `json:"parent_id"`
//	}
//
// # One grammar
//
// [Parse], [ID.Scan], [ID.UnmarshalText], [ID.UnmarshalJSON] and
// [ID.UnmarshalParam] read the same text: 0, or 1 to 19 digits without a
// leading zero, and not above 9223372036854775807. No sign, space, underscore,
// prefix, fraction or exponent is accepted, so that an id has exactly one
// spelling and can be compared as text. An error quotes what was given, and
// wraps [ErrSyntax], [ErrRange] or [ErrNegative]; the id then keeps its value.
//
// Ids are never negative. A negative ID can be made by a conversion and can be
// printed, but no method that encodes writes it and none that decodes yields
// it. An encoder that ignores methods, and uses the kind of a type, may do either. Zero is
// a valid id to read and to write, but it also means "not set" to [ID.IsZero], to [Assign]
// and to the libraries that fill keys. [New] and [Assign] never return it.
//
// # Databases
//
// [ID.Value] is an int64, always: zero is 0, and a negative ID an error.
// [ID.Scan] reads an int64, a uint64 (MySQL's bigint unsigned), an ID, a *ID,
// and text; any other type, a float among them, is an error.
//
// A plain ID refuses NULL. A column that can be NULL is read into a [NullID], a
// *ID, which is nil for NULL, or a sql.Null[ID]; all three write NULL too.
//
// # JSON
//
// ID has text methods and no MarshalJSON: every JSON package then writes a
// string, as a value, as a map key, in a slice and in an any. Reading accepts a
// string, or a number that is an integer digit for digit; null leaves an ID as
// it was, and makes a *ID nil and a NullID NULL. What the packages do:
//
//	                          leaves out an        errors.Is    with the option "string"
//	                          unset ID by          finds ours
//	encoding/json             omitempty, omitzero  yes          writes "7", refuses 7
//	encoding/json/v2          omitzero             yes          no effect
//	goccy/go-json             omitempty, omitzero  yes          no effect
//	bytedance/sonic           omitempty, omitzero  yes          writes "7", refuses 7
//	json-iterator/go          omitempty            no           writes ""7"", which is no JSON
//	segmentio/encoding/json   omitempty            yes          writes "\"7\"", and refuses 7
//
// So write `json:"id,omitempty,omitzero"` to leave an unset ID out everywhere;
// omitzero alone is enough for encoding/json. A NULL in a NullID is left out by
// omitzero in the first four and written as null by the last two; a nil *ID is
// left out by omitempty in all. Do not add the option "string" to an ID: it is
// for int64 fields, and an ID is a string already. Do not embed an ID in a
// struct, which would get its methods and be written as a lone string.
//
// Every one of them refuses what the grammar refuses, with an error that quotes
// it; of a map key, errors.Is may not find ours, and segmentio blames the colon.
// Into an any an id is read as a string: give it to Parse.
//
// # Requests
//
//	net/http            Parse(r.PathValue("id")), and UnmarshalParam for a NullID
//	chi                 Parse(chi.URLParam(r, "id"))
//	gin                 fields of ShouldBindUri, ShouldBindQuery, ShouldBind
//	echo                fields of Bind; its v5 shows the reason with DefaultHTTPErrorHandler(true)
//	gorilla/schema      fields
//	go-playground/form  fields, after RegisterCustomTypeFunc with Parse; see below
//
// Fields may be an ID, a *ID, a NullID or an []ID, whose values are repeated
// (ids=1&ids=2). An empty parameter is NULL to a NullID, and an error to an ID and
// to a *ID; one that is absent leaves them as they are.
//
// go-playground/form uses the kind of a type. Without a registered function, it reads 007
// and even -7 into an ID, and nothing into a NullID. One function serves both:
//
//	decoder.RegisterCustomTypeFunc(func(values []string) (any, error) {
//		return sqltype.Parse(values[0])
//	}, sqltype.ID(0))
//
// # Other encoders
//
// log/slog and text/template write the decimal text. encoding/xml, [flag.TextVar],
// gocarina/gocsv, TOML and YAML write and read it. With encoding/csv, write [ID.String]
// and read with Parse. NULL in a NullID is an empty text in XML, YAML, TOML, CSV and
// queries, and an empty text is read as NULL. goccy/go-yaml evaluates a number without
// quotes, so 010 is read as 8. A null in YAML leaves an ID and a NullID unchanged.
//
// In BSON, CBOR and MessagePack an ID is an integer, and NULL is null or nil. A negative
// integer, a float and, into an ID, null are errors. In encoding/gob an ID is its text.
// mapstructure reads integers and texts. docs/encoders.md in the repository has a row
// for each of them, and for libraries such as bun, xorm, goqu and squirrel.
//
// fmt prints an ID and a NullID with any verb for numbers and strings, and NULL as NULL.
//
// go-redis refuses an ID as an argument: pass [ID.Int64] or [ID.String]. It reads
// a hash into a struct of IDs by itself.
//
// In an OpenAPI document an id is {"type": "string", "format": "int64"}. huma
// finds the string by itself, but not that a NullID may be null. kin-openapi's
// openapi3gen takes an ID for an integer until a SchemaCustomizer sets Type and
// Format for it, and Nullable for a NullID as well.
//
// # Short forms
//
// [ID.Base32], [ID.Base58] and [ID.Base62] write an id for URLs, file names and
// people, and [ParseBase32], [ParseBase58] and [ParseBase62] read it:
//
//	decimal   1996573624012345677   up to 19 digits
//	base 32   1QDA147XJQ4AD         13, Crockford's; read in any case, I and L as 1, O as 0
//	base 58   5doYnWboBWc           11, Bitcoin's
//	base 62   2NUKMIAa421           11, 0-9A-Za-z
//
// Their width is fixed, and the parsers take no other, so that texts sort as
// the ids do wherever they are compared byte by byte. Upper and lower case
// differ in base 58 and 62: give a column of them such a collation (COLLATE "C"
// in PostgreSQL, ascii_bin in MySQL and MariaDB), or two ids may count as the
// same text.
//
// # Masters and details
//
// [Assign] gives the rows of a whole slice and their details their keys, from
// one reservation, before anything is written.
//
// The package imports the standard library only.
package sqltype
