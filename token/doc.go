// Package token hides ids. A 64-bit id tells when its row was made, and two of them tell about how
// many were made in between. A token is a text of fixed width that only the holder of a key can
// make from an id, or turn back into it.
//
//	secret, err := token.ParseSecret(os.Getenv("TOKEN_KEY")) // from: openssl rand -hex 32
//	ring, err := token.New(token.Config{Keys: []token.Secret{secret}})
//	orders, err := ring.Sealer("order") // once, when the program starts
//
//	text, err := orders.AppendSeal(nil, id) // 22 letters and digits
//	id, err := orders.Unseal(string(text))
//
// A [Sealer] makes tokens of 22 characters, or of 16 bytes for a uuid column. A [ShortSealer] makes
// tokens of 12 characters. Both implement [sqltype.Sealer].
//
// # What is guaranteed
//
// An id has one token for each key and type name, and a token has one spelling.
//
// Sealer: a text that was not made with a key of the ring, and under the same type name, is refused,
// except with a probability below k/2^64 for k keys. A token is one block of AES-256 over the id
// and 64 bits that depend on the type name.
//
// ShortSealer: a token is the id, encrypted with FF1 of NIST SP 800-38G over AES-256 as a number
// of 11 digits, after one character that names the key. It has no redundancy: of made-up tokens with
// the number of a key, 18% open in base 62, and 37% in base 58, each to some id. A token of another
// type opens as often, to another id.
//
// Keys are rotated by adding a new one in front. The first seals, all open. A Ring and its sealers
// are safe for concurrent use. No error and no text of a value of this package contains a secret.
//
// # What is not
//
// A token is no permission: check on every access whose row it is. Equal ids have equal tokens. A
// token whose key is lost cannot be opened. See docs/security.md.
//
// The package imports the standard library and sqltype only.
package token
