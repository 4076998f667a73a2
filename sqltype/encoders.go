package sqltype

import (
	"encoding/xml"
	"net/url"
	"reflect"
)

var (
	_ xml.MarshalerAttr = (*ID)(nil)
	_ xml.MarshalerAttr = (*NullID)(nil)
)

// GobEncode returns what MarshalText returns. Without it, encoding/gob would write and
// read negative ids.
func (id ID) GobEncode() ([]byte, error) { return id.MarshalText() }

// GobDecode reads what UnmarshalText reads and returns the same errors.
func (id *ID) GobDecode(text []byte) error { return id.UnmarshalText(text) }

// MarshalXMLAttr writes the decimal text, and no attribute for a nil *ID. Without it,
// encoding/xml would call MarshalText on the nil *ID and panic.
func (id *ID) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	if id == nil {
		return xml.Attr{}, nil
	}
	text, err := id.MarshalText()
	return xml.Attr{Name: name, Value: string(text)}, err
}

// MarshalXMLAttr writes the id's text, an empty text for NULL, and no attribute for a nil
// *NullID.
func (n *NullID) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	if n == nil {
		return xml.Attr{}, nil
	}
	text, err := n.MarshalText()
	return xml.Attr{Name: name, Value: string(text)}, err
}

// EncodeValues adds the text to a query. The text is empty for NULL. It is for
// go-querystring, which would otherwise write a NullID as two parameters.
func (n NullID) EncodeValues(key string, values *url.Values) error {
	text, err := n.MarshalText()
	if err == nil {
		values.Add(key, string(text))
	}
	return err
}

// UnmarshalMapstructure reads an integer of any size, an ID, and text that Parse accepts. It
// is for mapstructure, which would otherwise accept negative numbers and cut off fractions. On
// an error the id keeps its value: ErrNull for nil, ErrNegative and ErrRange for an integer
// that is not an id, Parse's error for text, and ErrType for any other type, including
// floats.
func (id *ID) UnmarshalMapstructure(v any) error {
	n, err := fromAny(v)
	return id.set("UnmarshalMapstructure", n, err)
}

// UnmarshalMapstructure reads nil, a nil pointer and a NullID that is NULL as NULL, and
// otherwise what [ID.UnmarshalMapstructure] reads, with the same errors.
func (n *NullID) UnmarshalMapstructure(v any) error {
	id, err := fromAny(v)
	return n.set("UnmarshalMapstructure", id, err)
}

func fromAny(v any) (ID, error) {
	if n, ok := v.(NullID); ok {
		if !n.Valid {
			return 0, ErrNull
		}
		v = n.ID
	}
	value := reflect.ValueOf(v)
	if value.Kind() == reflect.Pointer {
		if value.IsNil() {
			return 0, ErrNull
		}
		return fromAny(value.Elem().Interface())
	}
	switch {
	case !value.IsValid():
		return 0, ErrNull
	case value.CanInt():
		return fromInt("decode", value.Int())
	case value.CanUint():
		return fromUint("decode", value.Uint())
	case value.Kind() == reflect.String:
		return Parse(value.String())
	}
	return 0, typeError("decode", v)
}
