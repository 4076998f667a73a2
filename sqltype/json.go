package sqltype

import "encoding/json"

// There is no MarshalJSON: MarshalText makes every JSON package write a string,
// and the same text serves as a map key, for which MarshalJSON is not asked.
var _ json.Unmarshaler = (*ID)(nil)

// UnmarshalJSON reads a JSON string that holds a decimal id, or a JSON number
// that is one digit for digit: 7 but not 7.0, 7e0 or -0. A number is read from
// its text, so all 19 digits count. null leaves the id as it is, as
// encoding/json does for every type. A string with escapes is refused even
// where it would spell a digit, so that an id has one spelling.
//
// ErrSyntax, ErrRange or ErrNegative is returned for anything else, and the id
// keeps its value.
func (id *ID) UnmarshalJSON(data []byte) error {
	if id == nil {
		return nilReceiver("UnmarshalJSON")
	}
	if string(data) == "null" {
		return nil
	}
	text := data
	if len(data) >= 2 && data[0] == '"' && data[len(data)-1] == '"' {
		text = data[1 : len(data)-1]
	}
	n, err := decimal(text)
	if err != nil {
		return inputError("parse JSON", string(data), err)
	}
	*id = n
	return nil
}

// UnmarshalParam reads a path or query parameter; gin and echo call it. It
// reads what Parse reads and returns the same errors. On an error the id keeps
// its value.
func (id *ID) UnmarshalParam(param string) error {
	if id == nil {
		return nilReceiver("UnmarshalParam")
	}
	n, err := Parse(param)
	if err != nil {
		return err
	}
	*id = n
	return nil
}
