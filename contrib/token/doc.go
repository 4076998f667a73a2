// Package token hides ids. A 64-bit id shows when its row was made, and two of them show about how
// many were made in between. A token is a text of fixed width. Only the holder of a key can make
// the token of an id, or turn it back into the id.
//
//	secret, err := token.ParseSecret(os.Getenv("TOKEN_KEY")) // from: openssl rand -hex 32
//	ring, err := token.New(token.Config{Keys: []token.Secret{secret}})
//	orders, err := ring.Sealer("order") // once, when the program starts
//
//	text, err := orders.AppendSeal(nil, id) // 22 letters and digits
//	id, err := orders.Unseal(string(text))
//
// A [Sealer] makes tokens of 22 characters, or of 16 bytes for a uuid column. It implements
// [sqltype.Sealer].
//
// # What is guaranteed
//
// An id has one token for each key and type name, and a token has one spelling.
//
// A Sealer refuses a text that was not made with a key of the ring and under the same type name.
// With k keys, it accepts such a text with a probability below k/2^64. A token is one block of
// AES-256 over the id and 64 bits that depend on the type name.
//
// The first key seals, all open. To rotate keys, see [Config]. A Ring and its sealers are safe for
// concurrent use. No error and no printed value of this package contains a secret.
//
// # What is not
//
// A token is no permission: check on every access whose row it is. Equal ids have equal tokens. A
// token whose key is lost cannot be opened. See docs/security.md.
//
// The package imports the standard library, core and sqltype only.
package token
