package sqltype

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The binary encoders call methods with these names, whose signatures need only the standard
// library. Without them they use the kind of a type: they accept a negative ID, write a
// NullID as {ID, Valid}, and MessagePack writes a byte string.

const (
	bsonNull  = 0x0A
	bsonInt32 = 0x10
	bsonInt64 = 0x12
)

// MarshalBSONValue writes a 64-bit integer, for version 2 of MongoDB's driver. It
// returns ErrNegative if the id is negative.
func (id ID) MarshalBSONValue() (typ byte, data []byte, err error) {
	if id < 0 {
		return 0, nil, valueError("encode", int64(id), ErrNegative)
	}
	return bsonInt64, binary.LittleEndian.AppendUint64(nil, uint64(id)), nil
}

// UnmarshalBSONValue reads an integer of 32 or 64 bits. On an error the id keeps its
// value: ErrNull for null, ErrNegative for a negative integer, ErrType for any other
// type.
func (id *ID) UnmarshalBSONValue(typ byte, data []byte) error {
	n, err := fromBSON(typ, data)
	return id.set("UnmarshalBSONValue", n, err)
}

// MarshalBSONValue writes null for NULL and otherwise what [ID.MarshalBSONValue] writes.
func (n NullID) MarshalBSONValue() (typ byte, data []byte, err error) {
	if !n.Valid {
		return bsonNull, nil, nil
	}
	return n.ID.MarshalBSONValue()
}

// UnmarshalBSONValue reads null as NULL and otherwise what [ID.UnmarshalBSONValue]
// reads, with the same errors.
func (n *NullID) UnmarshalBSONValue(typ byte, data []byte) error {
	id, err := fromBSON(typ, data)
	return n.set("UnmarshalBSONValue", id, err)
}

func fromBSON(typ byte, data []byte) (ID, error) {
	switch {
	case typ == bsonNull:
		return 0, ErrNull
	case typ == bsonInt64 && len(data) == 8:
		return fromInt("parse BSON", int64(binary.LittleEndian.Uint64(data)))
	case typ == bsonInt32 && len(data) == 4:
		return fromInt("parse BSON", int64(int32(binary.LittleEndian.Uint32(data))))
	}
	return 0, fmt.Errorf("sqltype: parse BSON of type 0x%02x, % x: %w", typ, head(data), ErrType)
}

// MarshalCBOR writes an unsigned integer (RFC 8949), in its shortest form. It returns
// ErrNegative if the id is negative.
func (id ID) MarshalCBOR() ([]byte, error) {
	if id < 0 {
		return nil, valueError("encode", int64(id), ErrNegative)
	}
	if id < 24 {
		return []byte{byte(id)}, nil
	}
	return sized(uint64(id), 0x18), nil
}

// UnmarshalCBOR reads an unsigned integer. On an error the id keeps its value:
// ErrNull for null, ErrNegative and ErrRange for an integer that is not an id, ErrType
// for any other type.
func (id *ID) UnmarshalCBOR(data []byte) error {
	n, err := fromCBOR(data)
	return id.set("UnmarshalCBOR", n, err)
}

// MarshalCBOR writes null for NULL and otherwise what [ID.MarshalCBOR] writes.
func (n NullID) MarshalCBOR() ([]byte, error) {
	if !n.Valid {
		return []byte{0xF6}, nil
	}
	return n.ID.MarshalCBOR()
}

// UnmarshalCBOR reads null as NULL and otherwise what [ID.UnmarshalCBOR] reads, with
// the same errors.
func (n *NullID) UnmarshalCBOR(data []byte) error {
	id, err := fromCBOR(data)
	return n.set("UnmarshalCBOR", id, err)
}

func fromCBOR(data []byte) (ID, error) {
	if len(data) == 0 {
		return 0, fmt.Errorf("sqltype: parse CBOR of 0 bytes: %w", ErrType)
	}
	switch first := data[0]; {
	case first < 24 && len(data) == 1:
		return ID(first), nil
	case first >= 0x18 && first <= 0x1B:
		if n, ok := number(data[1:], first-0x18); ok {
			return fromUint("parse CBOR", n)
		}
	case first >= 0x20 && first < 0x38 && len(data) == 1:
		return 0, valueError("parse CBOR", -1-int64(first-0x20), ErrNegative)
	case first >= 0x38 && first <= 0x3B:
		if n, ok := number(data[1:], first-0x38); ok { // -1-n, which may be beyond an int64
			return 0, fmt.Errorf("sqltype: parse CBOR -1-%d: %w", n, ErrNegative)
		}
	case (first == 0xF6 || first == 0xF7) && len(data) == 1: // null, undefined
		return 0, ErrNull
	}
	return 0, fmt.Errorf("sqltype: parse CBOR % x: %w", head(data), ErrType)
}

// MarshalMsgpack writes an unsigned integer of MessagePack, in its shortest form. It
// returns ErrNegative if the id is negative.
func (id ID) MarshalMsgpack() ([]byte, error) {
	if id < 0 {
		return nil, valueError("encode", int64(id), ErrNegative)
	}
	if id < 0x80 {
		return []byte{byte(id)}, nil
	}
	return sized(uint64(id), 0xCC), nil
}

// UnmarshalMsgpack reads an integer, or a string of up to 31 bytes that Parse accepts. On
// an error the id keeps its value: ErrNull for nil, ErrNegative and ErrRange for an
// integer that is not an id, Parse's error for a string, and ErrType for any other type.
func (id *ID) UnmarshalMsgpack(data []byte) error {
	n, err := fromMsgpack(data)
	return id.set("UnmarshalMsgpack", n, err)
}

// MarshalMsgpack writes nil for NULL and otherwise what [ID.MarshalMsgpack] writes.
func (n NullID) MarshalMsgpack() ([]byte, error) {
	if !n.Valid {
		return []byte{0xC0}, nil
	}
	return n.ID.MarshalMsgpack()
}

// UnmarshalMsgpack reads nil as NULL and otherwise what [ID.UnmarshalMsgpack] reads,
// with the same errors.
func (n *NullID) UnmarshalMsgpack(data []byte) error {
	id, err := fromMsgpack(data)
	return n.set("UnmarshalMsgpack", id, err)
}

func fromMsgpack(data []byte) (ID, error) {
	if len(data) == 0 {
		return 0, fmt.Errorf("sqltype: parse MessagePack of 0 bytes: %w", ErrType)
	}
	switch first := data[0]; {
	case first < 0x80 && len(data) == 1:
		return ID(first), nil
	case first >= 0xE0 && len(data) == 1:
		return fromInt("parse MessagePack", int64(int8(first)))
	case first >= 0xCC && first <= 0xCF:
		if n, ok := number(data[1:], first-0xCC); ok {
			return fromUint("parse MessagePack", n)
		}
	case first >= 0xD0 && first <= 0xD3:
		if n, ok := number(data[1:], first-0xD0); ok {
			unused := 64 - 8<<(first-0xD0)
			return fromInt("parse MessagePack", int64(n<<unused)>>unused) // with its sign
		}
	case first >= 0xA0 && first < 0xC0 && len(data) == 1+int(first-0xA0):
		return Parse(string(data[1:]))
	case first == 0xC0 && len(data) == 1:
		return 0, ErrNull
	}
	return 0, fmt.Errorf("sqltype: parse MessagePack % x: %w", head(data), ErrType)
}

// sized writes n in 1, 2, 4 or 8 bytes, after first, first+1, first+2 or first+3.
func sized(n uint64, first byte) []byte {
	switch {
	case n <= math.MaxUint8:
		return []byte{first, byte(n)}
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16([]byte{first + 1}, uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32([]byte{first + 2}, uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, 9), first+3), n)
}

// number reads what sized writes after its first byte. ok is false unless there are
// 1<<size bytes.
func number(data []byte, size byte) (n uint64, ok bool) {
	for _, b := range data {
		n = n<<8 | uint64(b)
	}
	return n, len(data) == 1<<size
}

// head is the part of the input that an error quotes.
func head(data []byte) []byte { return data[:min(len(data), quoteLimit/2)] }
