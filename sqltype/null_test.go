package sqltype

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

func TestNullIDText(t *testing.T) {
	decoders := map[string]func(n *NullID, s string) error{
		"UnmarshalText":  func(n *NullID, s string) error { return n.UnmarshalText([]byte(s)) },
		"UnmarshalParam": (*NullID).UnmarshalParam,
	}
	for name, decode := range decoders {
		for _, tt := range texts {
			n := NullID{42, true}
			want, wantErr := NullID{tt.want, true}, tt.err
			switch {
			case tt.in == "":
				want, wantErr = NullID{}, nil
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
		n         NullID
		text, str string
	}{
		{NullID{}, "", "NULL"},
		{NullID{ID: 7}, "", "NULL"},
		{NullID{7, true}, "7", "7"},
		{NullID{0, true}, "0", "0"},
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
			if tt.n.IsZero() == tt.n.Valid {
				t.Errorf("IsZero of %#v", tt.n)
			}
		})
	}
	negative := NullID{-1, true}
	if got, err := negative.MarshalText(); got != nil || !errors.Is(err, ErrNegative) {
		t.Errorf("MarshalText: %q, %v", got, err)
	}
	if got, err := negative.AppendText([]byte("x")); string(got) != "x" || !errors.Is(err, ErrNegative) {
		t.Errorf("AppendText: %q, %v", got, err)
	}
}

func TestNullIDJSON(t *testing.T) {
	for _, tt := range jsons {
		n := NullID{42, true}
		want := NullID{tt.want, true}
		switch {
		case tt.in == "null":
			want = NullID{}
		case tt.err != nil:
			want = n
		}
		checkError(t, n.UnmarshalJSON([]byte(tt.in)), tt.err, tt.in)
		if n != want {
			t.Errorf("%s: %v, want %v", tt.in, n, want)
		}
	}
	for _, n := range []NullID{{}, {0, true}, {7, true}} {
		b, err := json.Marshal(n)
		back := NullID{42, true}
		if err != nil || json.Unmarshal(b, &back) != nil || back != n {
			t.Errorf("%#v: %s, %v, back %#v", n, b, err, back)
		}
	}
	b, err := json.Marshal(map[NullID]int{{7, true}: 2})
	if err != nil || string(b) != `{"7":2}` {
		t.Errorf("keys: %s, %v", b, err)
	}
}
