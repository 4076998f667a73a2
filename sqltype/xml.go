package sqltype

import (
	"encoding"
	"encoding/xml"
)

// MarshalXMLAttr writes the decimal string, and no attribute for a nil *ID. Without it,
// encoding/xml would call MarshalText on the nil *ID and panic.
func (id *ID) MarshalXMLAttr(name xml.Name) (xml.Attr, error) { return xmlAttr(name, id, id == nil) }

// MarshalXMLAttr writes the id's string, an empty string for NULL, and no attribute for a nil
// *NullID.
func (n *NullID) MarshalXMLAttr(name xml.Name) (xml.Attr, error) { return xmlAttr(name, n, n == nil) }

// MarshalXMLAttr writes the string, and no attribute for a nil pointer.
func (k *Key[T]) MarshalXMLAttr(name xml.Name) (xml.Attr, error) { return xmlAttr(name, k, k == nil) }

// MarshalXMLAttr writes the key's string, an empty string for NULL, and no attribute for a nil pointer.
func (n *NullKey[T]) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	return xmlAttr(name, n, n == nil)
}

func xmlAttr(name xml.Name, id encoding.TextMarshaler, isNil bool) (xml.Attr, error) {
	if isNil {
		return xml.Attr{}, nil
	}
	text, err := id.MarshalText()
	return xml.Attr{Name: name, Value: string(text)}, err
}
