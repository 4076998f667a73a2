package sqltype

import (
	"encoding/xml"
	"reflect"
)

// MarshalXMLAttr writes the text, and no attribute for a nil pointer.
func (k *Key[T]) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	if k == nil {
		return xml.Attr{}, nil
	}
	text, err := k.MarshalText()
	return xml.Attr{Name: name, Value: string(text)}, err
}

// GobEncode returns what [ID.GobEncode] returns.
func (k Key[T]) GobEncode() ([]byte, error) { return ID(k).GobEncode() }

// GobDecode reads what [ID.GobDecode] reads.
func (k *Key[T]) GobDecode(text []byte) error { return (*ID)(k).GobDecode(text) }

// MarshalBSONValue writes what [ID.MarshalBSONValue] writes.
func (k Key[T]) MarshalBSONValue() (typ byte, data []byte, err error) {
	return ID(k).MarshalBSONValue()
}

// UnmarshalBSONValue reads what [ID.UnmarshalBSONValue] reads.
func (k *Key[T]) UnmarshalBSONValue(typ byte, data []byte) error {
	return (*ID)(k).UnmarshalBSONValue(typ, data)
}

// MarshalCBOR writes what [ID.MarshalCBOR] writes.
func (k Key[T]) MarshalCBOR() ([]byte, error) { return ID(k).MarshalCBOR() }

// UnmarshalCBOR reads what [ID.UnmarshalCBOR] reads.
func (k *Key[T]) UnmarshalCBOR(data []byte) error { return (*ID)(k).UnmarshalCBOR(data) }

// MarshalMsgpack writes what [ID.MarshalMsgpack] writes.
func (k Key[T]) MarshalMsgpack() ([]byte, error) { return ID(k).MarshalMsgpack() }

// UnmarshalMsgpack reads what [ID.UnmarshalMsgpack] reads.
func (k *Key[T]) UnmarshalMsgpack(data []byte) error { return (*ID)(k).UnmarshalMsgpack(data) }

// UnmarshalMapstructure reads the text of a key, and otherwise what [ID.UnmarshalMapstructure]
// reads.
func (k *Key[T]) UnmarshalMapstructure(v any) error {
	id, err := keyFromAny[T](v)
	return (*ID)(k).set("UnmarshalMapstructure", id, err)
}

func keyFromAny[T any](v any) (ID, error) {
	if value := reflect.ValueOf(v); value.Kind() == reflect.String {
		key, err := ParseKey[T](value.String())
		return ID(key), err
	}
	return fromAny(v)
}
