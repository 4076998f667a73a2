package sqltype

import (
	"bytes"
	"encoding/json"
	"errors"
)

// There is no MarshalJSON: with MarshalText every JSON package writes a string, and the same string as
// a map key, for which it does not call MarshalJSON. encoding/json also scans what MarshalJSON returns,
// which takes longer than everything else.

// firstRounded is 2^53. From there on, a program that keeps numbers in a float64, such as JavaScript,
// may write a number that differs from the one that it has read.
const firstRounded = 1 << 53

// UnmarshalJSON reads a JSON string with a decimal id, or a JSON number below 2^53 that is an
// integer digit by digit: 7 but not 7.0, 7e0 or -0. null leaves the id unchanged, as in
// encoding/json for every type. A string with escapes is an error, so that an id has one spelling.
//
// The error is ErrRounded for a larger number, which may differ from the one that was sent: send a
// string, or read the document into an [Exact] if every program that wrote it keeps 64 bits. The error
// is ErrSyntax, ErrRange or ErrNegative for anything else. The id is then unchanged.
func (id *ID) UnmarshalJSON(data []byte) error {
	if id != nil && string(data) == "null" {
		return nil
	}
	n, err := fromJSON(data)
	return id.set("UnmarshalJSON", n, err)
}

func fromJSON(data []byte) (ID, error) {
	text, quoted := unquote(data)
	read := bareNumber
	if quoted {
		read = decimal[[]byte]
	}
	n, err := read(text)
	if err != nil {
		return 0, inputError("parse JSON", string(data), err)
	}
	return n, nil
}

// unquote returns the content of a JSON string, with escapes unchanged.
func unquote(data []byte) (text []byte, quoted bool) {
	if len(data) >= 2 && data[0] == '"' && data[len(data)-1] == '"' {
		return data[1 : len(data)-1], true
	}
	return data, false
}

// bareNumber is like decimal, for a JSON number.
func bareNumber(text []byte) (ID, error) {
	id, err := decimal(text)
	if id >= firstRounded {
		return 0, ErrRounded
	}
	return id, err
}

// Exact reads a T from JSON with exact numbers, such as the JSON of json_agg, in which ids may be
// numbers of any size. T is an id type, or contains some. Its plain integers must be below 2^53.
type Exact[T any] struct{ V T }

// UnmarshalJSON reads what [QuoteNumbers] returns into a new V. On an error V is unchanged.
func (e *Exact[T]) UnmarshalJSON(data []byte) error {
	if e == nil {
		return nilReceiver("UnmarshalJSON")
	}
	if string(data) == "null" {
		return json.Unmarshal(data, &e.V)
	}
	var v T
	if err := json.Unmarshal(QuoteNumbers(data), &v); err != nil {
		return err
	}
	e.V = v
	return nil
}

// MarshalJSON returns the JSON of V.
func (e Exact[T]) MarshalJSON() ([]byte, error) { return json.Marshal(e.V) }

// QuoteNumbers returns a JSON document with every integer from 2^53 on, and from -2^53 down, as a
// string. Use it before a document with ids as numbers, such as that of json_agg or of rows in maps,
// goes to a browser. It returns invalid JSON unchanged.
func QuoteNumbers(doc []byte) []byte {
	if !json.Valid(doc) {
		return doc
	}
	out := make([]byte, 0, len(doc)+len(doc)/8)
	for len(doc) > 0 {
		end := max(1, len(doc)-len(bytes.TrimLeft(doc, "+-.0123456789eE"))) // of a number
		if doc[0] == '"' {
			for ; doc[end] != '"'; end++ {
				if doc[end] == '\\' {
					end++
				}
			}
			end++
		}
		if isLarge(doc[:end]) {
			out = append(append(append(out, '"'), doc[:end]...), '"')
		} else {
			out = append(out, doc[:end]...)
		}
		doc = doc[end:]
	}
	return out
}

// isLarge reports whether a JSON number is an integer that a float64 may have rounded.
func isLarge(number []byte) bool {
	_, err := bareNumber(bytes.TrimPrefix(number, []byte("-")))
	return errors.Is(err, ErrRounded) || errors.Is(err, ErrRange)
}
