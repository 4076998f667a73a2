package sqltype

// There is no MarshalJSON: with MarshalText every JSON package writes a string, and the same
// string is a map key, for which MarshalJSON is not called. encoding/json scans what MarshalJSON
// returns, which takes longer than all the rest.

// UnmarshalJSON reads a JSON string with a decimal id, or a JSON number that is an integer digit
// by digit: 7 but not 7.0, 7e0 or -0. All 19 digits are exact. null leaves the id unchanged,
// as in encoding/json for every type. A string with escapes is an error, so that an id
// has one spelling.
//
// The error is ErrSyntax, ErrRange or ErrNegative for anything else; the id is then unchanged.
func (id *ID) UnmarshalJSON(data []byte) error {
	if id != nil && string(data) == "null" {
		return nil
	}
	n, err := fromJSON(data)
	return id.set("UnmarshalJSON", n, err)
}

func fromJSON(data []byte) (ID, error) {
	text, _ := unquote(data)
	n, err := decimal(text)
	if err != nil {
		return 0, inputError("parse JSON", string(data), err)
	}
	return n, nil
}

// unquote returns what is in a JSON string, with escapes as they are.
func unquote(data []byte) (text []byte, quoted bool) {
	if len(data) >= 2 && data[0] == '"' && data[len(data)-1] == '"' {
		return data[1 : len(data)-1], true
	}
	return data, false
}
