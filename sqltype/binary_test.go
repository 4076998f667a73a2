package sqltype

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// forms are the bytes of ids: of CBOR as in RFC 8949's appendix A, of MessagePack as in
// its specification.
var forms = []struct {
	id            ID
	cbor, msgpack string
}{
	{0, "\x00", "\x00"},
	{23, "\x17", "\x17"},
	{24, "\x18\x18", "\x18"},
	{100, "\x18\x64", "\x64"},
	{127, "\x18\x7f", "\x7f"},
	{128, "\x18\x80", "\xcc\x80"},
	{255, "\x18\xff", "\xcc\xff"},
	{256, "\x19\x01\x00", "\xcd\x01\x00"},
	{1000, "\x19\x03\xe8", "\xcd\x03\xe8"},
	{65535, "\x19\xff\xff", "\xcd\xff\xff"},
	{1000000, "\x1a\x00\x0f\x42\x40", "\xce\x00\x0f\x42\x40"},
	{math.MaxUint32, "\x1a\xff\xff\xff\xff", "\xce\xff\xff\xff\xff"},
	{1000000000000, "\x1b\x00\x00\x00\xe8\xd4\xa5\x10\x00", "\xcf\x00\x00\x00\xe8\xd4\xa5\x10\x00"},
	{math.MaxInt64, "\x1b\x7f\xff\xff\xff\xff\xff\xff\xff", "\xcf\x7f\xff\xff\xff\xff\xff\xff\xff"},
}

// coder is one binary form of an id and a null.
type coder[K idKind, N nullKind] struct {
	name   string
	encode func(id ID, valid bool) ([]byte, error) // of both types, if they agree
	id     func(*K, []byte) error
	null   func(*N, []byte) error
}

// For BSON, the type comes before the bytes.
func withType(typ byte, data []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return append([]byte{typ}, data...), nil
}

func agree(valid bool, id, null func() ([]byte, error)) ([]byte, error) {
	b, err := null()
	if !valid {
		return b, err
	}
	if other, otherErr := id(); !bytes.Equal(b, other) || fmt.Sprint(err) != fmt.Sprint(otherErr) {
		return nil, fmt.Errorf("an id is % x, %w, and a null % x, %w", other, otherErr, b, err)
	}
	return b, err
}

func coders[K idKind, N nullKind, P idPointer[K], Q nullPointer[N]]() []coder[K, N] {
	return []coder[K, N]{
		{
			"CBOR", func(id ID, valid bool) ([]byte, error) {
				return agree(valid, K(id).MarshalCBOR, nullOf[N](id, valid).MarshalCBOR)
			},
			func(id *K, b []byte) error { return P(id).UnmarshalCBOR(b) },
			func(n *N, b []byte) error { return Q(n).UnmarshalCBOR(b) },
		},
		{
			"MessagePack", func(id ID, valid bool) ([]byte, error) {
				return agree(valid, K(id).MarshalMsgpack, nullOf[N](id, valid).MarshalMsgpack)
			},
			func(id *K, b []byte) error { return P(id).UnmarshalMsgpack(b) },
			func(n *N, b []byte) error { return Q(n).UnmarshalMsgpack(b) },
		},
		{
			"BSON", func(id ID, valid bool) ([]byte, error) {
				return agree(valid, func() ([]byte, error) { return withType(K(id).MarshalBSONValue()) },
					func() ([]byte, error) { return withType(nullOf[N](id, valid).MarshalBSONValue()) })
			},
			func(id *K, b []byte) error { return P(id).UnmarshalBSONValue(b[0], b[1:]) },
			func(n *N, b []byte) error { return Q(n).UnmarshalBSONValue(b[0], b[1:]) },
		},
	}
}

func TestBinary(t *testing.T) {
	kinds(t, testBinary[ID, NullID], testBinary[plainKey, plainNull])
}

func testBinary[K idKind, N nullKind, P idPointer[K], Q nullPointer[N]](t *testing.T) {
	coders := coders[K, N, P, Q]()
	for _, f := range forms {
		bson := []byte{0x12}
		for n := f.id; len(bson) < 9; n >>= 8 {
			bson = append(bson, byte(n))
		}
		for i, want := range []string{f.cbor, f.msgpack, string(bson)} {
			c := coders[i]
			b, err := c.encode(f.id, true)
			if err != nil || string(b) != want {
				t.Errorf("%s of %d: % x, %v, want % x", c.name, f.id, b, err, want)
			}
			id, null := K(42), nullOf[N](0, false)
			if err := errors.Join(c.id(&id, []byte(want)), c.null(&null, []byte(want))); err != nil || id != K(f.id) || null != some[N](f.id) {
				t.Errorf("%s % x: %d, %v, %v, want %d", c.name, want, id, null, err, f.id)
			}
		}
	}
	for i, want := range []string{"\xf6", "\xc0", "\x0a"} {
		c := coders[i]
		if b, err := c.encode(7, false); err != nil || string(b) != want {
			t.Errorf("%s of NULL: % x, %v", c.name, b, err)
		}
		id, null := K(42), some[N](42)
		if err := c.null(&null, []byte(want)); err != nil || null != nullOf[N](0, false) {
			t.Errorf("%s: %v, %v", c.name, null, err)
		}
		if err := c.id(&id, []byte(want)); !errors.Is(err, ErrNull) || id != 42 {
			t.Errorf("%s: NULL into an id: %d, %v", c.name, id, err)
		}
		if b, err := c.encode(-5, true); b != nil || !errors.Is(err, ErrNegative) || !strings.Contains(err.Error(), "-5") {
			t.Errorf("%s of -5: % x, %v", c.name, b, err)
		}
		if err := errors.Join(c.id(nil, []byte(want)), c.null(nil, []byte(want))); !errors.Is(err, ErrNil) {
			t.Errorf("%s into nil: %v", c.name, err)
		}
	}
	null := some[N](42)
	if err := Q(&null).UnmarshalCBOR([]byte{0xF7}); err != nil || null != nullOf[N](0, false) {
		t.Errorf("undefined: %v, %v", null, err)
	}
}

// Other spellings of an id that encoders use.
func TestBinaryReads(t *testing.T) {
	kinds(t, testBinaryReads[ID, NullID], testBinaryReads[plainKey, plainNull])
}

func testBinaryReads[K idKind, N nullKind, P idPointer[K], Q nullPointer[N]](t *testing.T) {
	coders := coders[K, N, P, Q]()
	for i, inputs := range []map[string]K{
		{"\x18\x07": 7, "\x1b\x00\x00\x00\x00\x00\x00\x00\x07": 7},
		{"\xd0\x07": 7, "\xd1\x00\x07": 7, "\xd2\x00\x00\x00\x07": 7, "\xd3\x00\x00\x00\x00\x00\x00\x00\x07": 7, "\xcf\x00\x00\x00\x00\x00\x00\x00\x07": 7,
			"\xa17": 7, "\xb31996573624012345677": 1996573624012345677},
		{"\x10\x07\x00\x00\x00": 7},
	} {
		for in, want := range inputs {
			var id K
			if err := coders[i].id(&id, []byte(in)); err != nil || id != want {
				t.Errorf("%s % x: %d, %v, want %d", coders[i].name, in, id, err, want)
			}
		}
	}
}

func TestBinaryRefuses(t *testing.T) {
	kinds(t, testBinaryRefuses[ID, NullID], testBinaryRefuses[plainKey, plainNull])
}

func testBinaryRefuses[K idKind, N nullKind, P idPointer[K], Q nullPointer[N]](t *testing.T) {
	coders := coders[K, N, P, Q]()
	for i, inputs := range []map[string]error{
		{
			"\x24": ErrNegative, "\x38\x18": ErrNegative, "\x3b\xff\xff\xff\xff\xff\xff\xff\xff": ErrNegative, "\x1b\x80\x00\x00\x00\x00\x00\x00\x00": ErrRange,
			"": ErrType, "\x18": ErrType, "\x18\x07\x07": ErrType, "\x07\x07": ErrType, "\x1c": ErrType, "\x39\x00": ErrType, "\x617": ErrType, "\xf4": ErrType, "\xf9\x47\x00": ErrType, "\xc2\x41\x07": ErrType, "\x81\x07": ErrType,
		},
		{
			"\xfb": ErrNegative, "\xd0\xfb": ErrNegative, "\xd1\xff\xfb": ErrNegative, "\xd2\xff\xff\xff\xfb": ErrNegative, "\xd3\xff\xff\xff\xff\xff\xff\xff\xfb": ErrNegative,
			"\xcf\x80\x00\x00\x00\x00\x00\x00\x00": ErrRange, "\xa3007": ErrSyntax, "\xa0": ErrSyntax, "\xa2-7": ErrNegative,
			"": ErrType, "\xcc": ErrType, "\xcc\x07\x07": ErrType, "\x07\x07": ErrType, "\xa27": ErrType, "\xc4\x017": ErrType, "\xc2": ErrType, "\xca\x40\xe0\x00\x00": ErrType, "\x91\x07": ErrType, "\xc1": ErrType,
		},
		{
			"\x12\xfb\xff\xff\xff\xff\xff\xff\xff": ErrNegative, "\x10\xfb\xff\xff\xff": ErrNegative,
			"\x12\x07": ErrType, "\x10\x07": ErrType, "\x01\x00\x00\x00\x00\x00\x00\x1c\x40": ErrType, "\x02\x02\x00\x00\x007\x00": ErrType, "\x08\x01": ErrType,
		},
	} {
		for in, want := range inputs {
			id, null := K(42), some[N](42)
			for _, err := range []error{coders[i].id(&id, []byte(in)), coders[i].null(&null, []byte(in))} {
				if !errors.Is(err, want) || len(err.Error()) > 200 {
					t.Errorf("%s % x: %v, want %v", coders[i].name, in, err, want)
				}
			}
			if id != 42 || null != some[N](42) {
				t.Errorf("%s % x: %d, %v", coders[i].name, in, id, null)
			}
		}
	}
	long := bytes.Repeat([]byte{0x1C}, 1<<20)
	for _, c := range coders {
		if err := c.id(new(K), long); err == nil || len(err.Error()) > 300 {
			t.Errorf("%s: an error of %d bytes", c.name, len(err.Error()))
		}
	}
}

// Any bytes that are accepted decode to an id, which survives encoding and decoding.
func FuzzBinary(f *testing.F) {
	for _, form := range forms {
		f.Add([]byte(form.cbor))
		f.Add([]byte(form.msgpack))
	}
	f.Add([]byte("\x12\x07\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\xd3\xff\xff\xff\xff\xff\xff\xff\xfb"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, c := range coders[ID, NullID]() {
			if len(data) == 0 {
				continue // a BSON value has a type
			}
			id, null := ID(42), NullID{42, true}
			err, nullErr := c.id(&id, data), c.null(&null, data)
			if err != nil && id != 42 || err == nil && (id < 0 || null != NullID{id, true}) || nullErr != nil && null != (NullID{42, true}) {
				t.Fatalf("%s % x: %d, %v, %v, %v", c.name, data, id, err, null, nullErr)
			}
			if err != nil {
				continue
			}
			var again ID
			b, err := c.encode(id, true)
			if err == nil {
				err = c.id(&again, b)
			}
			if err != nil || again != id {
				t.Fatalf("%s % x: %d, again %d, %v", c.name, data, id, again, err)
			}
		}
	})
}
