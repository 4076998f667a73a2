package sqltype

import (
	"encoding/xml"
	"reflect"
)

// Base32 returns what [ID.Base32] returns, which has no prefix and is no token.
func (k Key[T]) Base32() string { return ID(k).Base32() }

// Base58 returns what [ID.Base58] returns.
func (k Key[T]) Base58() string { return ID(k).Base58() }

// Base62 returns what [ID.Base62] returns.
func (k Key[T]) Base62() string { return ID(k).Base62() }

// AppendBase32 appends what Base32 returns to b.
func (k Key[T]) AppendBase32(b []byte) []byte { return ID(k).AppendBase32(b) }

// AppendBase58 appends what Base58 returns to b.
func (k Key[T]) AppendBase58(b []byte) []byte { return ID(k).AppendBase58(b) }

// AppendBase62 appends what Base62 returns to b.
func (k Key[T]) AppendBase62(b []byte) []byte { return ID(k).AppendBase62(b) }

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

// UnmarshalMapstructure reads a Key[T], a text that ParseKey accepts, and an integer of any size,
// as [ID.UnmarshalMapstructure] does. A key of another type is an error, which is ErrType.
func (k *Key[T]) UnmarshalMapstructure(v any) error {
	id, err := keyFromAny[T](v)
	return (*ID)(k).set("UnmarshalMapstructure", id, err)
}

func keyFromAny[T any](v any) (ID, error) {
	value := reflect.ValueOf(v)
	if value.Kind() == reflect.Pointer && !value.IsNil() {
		return keyFromAny[T](value.Elem().Interface())
	}
	switch v := v.(type) {
	case Key[T]:
		return fromInt("decode", int64(v))
	case NullKey[T]:
		return fromAny(v.null())
	case AnyKey:
		if value.Kind() != reflect.Pointer { // a nil one is NULL
			return 0, typeError("decode", v)
		}
	}
	if value.Kind() == reflect.String {
		return parseKey[T]("parse", value.String())
	}
	return fromAny(v)
}
