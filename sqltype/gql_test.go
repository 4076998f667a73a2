package sqltype

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// What gqlgen looks for, and calls before MarshalGQL and UnmarshalGQL.
type (
	gqlMarshaler interface {
		MarshalGQLContext(ctx context.Context, w io.Writer) error
	}
	gqlUnmarshaler interface {
		UnmarshalGQLContext(ctx context.Context, v any) error
	}
)

func TestMarshalGQL(t *testing.T) {
	for _, tt := range []struct {
		v    gqlMarshaler
		want string
		err  error
	}{
		{ID(0), `"0"`, nil},
		{ID(math.MaxInt64), `"9223372036854775807"`, nil},
		{ID(-5), "", ErrNegative},
		{NullID{7, true}, `"7"`, nil},
		{NullID{-5, true}, "", ErrNegative},
		{NullID{}, "null", nil},
		{plainKey(7), `"7"`, nil},
		{plainKey(-5), "", ErrNegative},
		{plainNull{7, true}, `"7"`, nil},
		{plainNull{}, "null", nil},
		{Key[gqlOrder](7), `"ord_0000000000007"`, nil},
		{NullKey[gqlOrder]{7, true}, `"ord_0000000000007"`, nil},
		{Key[gqlWrong](7), "", ErrForm},
		{NullKey[gqlWrong]{7, true}, "", ErrForm},
	} {
		t.Run(fmt.Sprintf("%T %d", tt.v, tt.v), func(t *testing.T) {
			var b strings.Builder
			if err := tt.v.MarshalGQLContext(t.Context(), &b); !errors.Is(err, tt.err) || b.String() != tt.want {
				t.Errorf("%s, %v; want %s, %v", &b, err, tt.want, tt.err)
			}
		})
	}
}

type gqlOrder struct{}

func (*gqlOrder) KeyForm() Form { return Form{Prefix: "ord"} }

// Its keys were decimal before.
type gqlCustomer struct{}

func (*gqlCustomer) KeyForm() Form { return Form{Prefix: "cus", Old: gqlForms} }

var gqlForms = []Form{{}}

type gqlWrong struct{}

func (*gqlWrong) KeyForm() Form { return Form{Prefix: "Wrong"} }

func TestUnmarshalGQL(t *testing.T) {
	decimal := func() gqlUnmarshaler { return ptr[ID](42) }
	nullable := func() gqlUnmarshaler { return &NullID{42, true} }
	order := func() gqlUnmarshaler { return ptr[Key[gqlOrder]](42) }
	nullOrder := func() gqlUnmarshaler { return &NullKey[gqlOrder]{42, true} }
	customer := func() gqlUnmarshaler { return ptr[Key[gqlCustomer]](42) }
	for _, tt := range []struct {
		name   string
		target func() gqlUnmarshaler
		v      any
		want   string // of the target's number
		err    error
		show   string // in the error
	}{
		{"a string", decimal, "7", "7", nil, ""},
		{"a number", decimal, json.Number("9007199254740991"), "9007199254740991", nil, ""},
		{"a number that may be rounded", decimal, json.Number("1996573624012345600"), "42", ErrRounded, "send the id as a string"},
		{"a literal that may be rounded", decimal, int64(1996573624012345600), "42", ErrRounded, "send the id as a string"},
		{"a literal", decimal, int64(7), "7", nil, ""},
		{"an int", decimal, 7, "7", nil, ""},
		{"a float", decimal, 7.0, "42", ErrType, `float64 "7"`},
		{"an exponent", decimal, json.Number("7e0"), "42", ErrSyntax, `"7e0"`},
		{"a negative literal", decimal, int64(-7), "42", ErrNegative, `"-7"`},
		{"above the largest", decimal, json.Number("9223372036854775808"), "42", ErrRange, `"9223372036854775808"`},
		{"null", decimal, nil, "42", ErrNull, "NullID"},
		{"an object", decimal, map[string]any{"id": "7"}, "42", ErrType, "map"},
		{"null for a NullID", nullable, nil, "NULL", nil, ""},
		{"nothing for a NullID", nullable, "", "42", ErrSyntax, `""`},
		{"a key", order, "ord_0000000000007", "7", nil, ""},
		{"another key", order, "cus_0000000000007", "42", ErrPrefix, `"cus_0000000000007"`},
		{"a number for a key", order, int64(7), "42", ErrSyntax, `"7"`},
		{"null for a key", order, nil, "42", ErrNull, "NullKey"},
		{"a NullKey", nullOrder, "ord_0000000000007", "7", nil, ""},
		{"null for a NullKey", nullOrder, nil, "NULL", nil, ""},
		{"an old form as a number", customer, json.Number("7"), "7", nil, ""},
		{"a wrong form", func() gqlUnmarshaler { return ptr[Key[gqlWrong]](42) }, "7", "42", ErrForm, "gqlWrong"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target := tt.target()
			err := target.UnmarshalGQLContext(t.Context(), tt.v)
			if !errors.Is(err, tt.err) || err != nil && !strings.Contains(err.Error(), tt.show) {
				t.Errorf("%v, want %v with %s", err, tt.err, tt.show)
			}
			var got string
			switch target := target.(type) {
			case *NullID:
				got = fmt.Sprintf("%d", *target)
			case *NullKey[gqlOrder]:
				got = fmt.Sprintf("%d", *target)
			case interface{ Int64() int64 }:
				got = fmt.Sprint(target.Int64())
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
	for _, target := range []gqlUnmarshaler{(*ID)(nil), (*NullID)(nil), (*plainKey)(nil), (*plainNull)(nil)} {
		if err := target.UnmarshalGQLContext(t.Context(), "7"); !errors.Is(err, ErrNil) {
			t.Errorf("%T: %v", target, err)
		}
	}
}
