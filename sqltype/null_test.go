package sqltype

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

func TestNullText(t *testing.T) {
	kinds(t, testNullText[NullID], testNullText[plainNull])
}

func testNullText[N nullKind, P nullPointer[N]](t *testing.T) {
	decoders := map[string]func(n P, s string) error{
		"UnmarshalText":  func(n P, s string) error { return n.UnmarshalText([]byte(s)) },
		"UnmarshalParam": P.UnmarshalParam,
	}
	for name, decode := range decoders {
		for _, tt := range texts {
			n := some[N](42)
			want, wantErr := some[N](tt.want), tt.err
			switch {
			case tt.in == "":
				want, wantErr = nullOf[N](0, false), nil
			case tt.err != nil:
				want = n
			}
			checkError(t, decode(&n, tt.in), wantErr, tt.in)
			if n != want {
				t.Errorf("%s %.40q: %v, want %v", name, tt.in, n, want)
			}
		}
	}
	for _, tt := range []struct {
		n         N
		text, str string
	}{
		{nullOf[N](0, false), "", "NULL"},
		{nullOf[N](7, false), "", "NULL"},
		{some[N](7), "7", "7"},
		{some[N](0), "0", "0"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			if got, err := tt.n.MarshalText(); err != nil || got == nil || string(got) != tt.text {
				t.Errorf("MarshalText of %#v: %q, %v", tt.n, got, err)
			}
			if got, err := tt.n.AppendText([]byte("x")); err != nil || string(got) != "x"+tt.text {
				t.Errorf("AppendText of %#v: %q, %v", tt.n, got, err)
			}
			if got := fmt.Sprint(tt.n); got != tt.str {
				t.Errorf("String of %#v: %q", tt.n, got)
			}
			if tt.n.IsZero() != (tt.text == "") {
				t.Errorf("IsZero of %#v", tt.n)
			}
		})
	}
	negative := some[N](-1)
	if got, err := negative.MarshalText(); got != nil || !errors.Is(err, ErrNegative) {
		t.Errorf("MarshalText: %q, %v", got, err)
	}
	if got, err := negative.AppendText([]byte("x")); string(got) != "x" || !errors.Is(err, ErrNegative) {
		t.Errorf("AppendText: %q, %v", got, err)
	}
}

func TestNullJSON(t *testing.T) {
	kinds(t, testNullJSON[NullID], testNullJSON[plainNull])
}

func testNullJSON[N nullKind, P nullPointer[N]](t *testing.T) {
	for _, tt := range jsons {
		n := some[N](42)
		want := some[N](tt.want)
		switch {
		case tt.in == "null":
			want = nullOf[N](0, false)
		case tt.err != nil:
			want = n
		}
		checkError(t, P(&n).UnmarshalJSON([]byte(tt.in)), tt.err, tt.in)
		if n != want {
			t.Errorf("%s: %v, want %v", tt.in, n, want)
		}
	}
	for _, n := range []N{nullOf[N](0, false), some[N](0), some[N](7)} {
		b, err := json.Marshal(n)
		back := some[N](42)
		if err != nil || json.Unmarshal(b, &back) != nil || back != n {
			t.Errorf("%#v: %s, %v, back %#v", n, b, err, back)
		}
	}
	b, err := json.Marshal(map[N]int{some[N](7): 2})
	if err != nil || string(b) != `{"7":2}` {
		t.Errorf("keys: %s, %v", b, err)
	}
}
