package sqltype

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

const (
	maxText  = "9223372036854775807"
	overText = "9223372036854775808"
)

// texts is the grammar by example; every decoder of text is tested with it.
var texts = []struct {
	in   string
	want ID
	err  error
}{
	{"0", 0, nil},
	{"7", 7, nil},
	{"10", 10, nil},
	{"9007199254740993", 1<<53 + 1, nil},
	{"1996573624012345677", 1996573624012345677, nil},
	{maxText, math.MaxInt64, nil},
	{overText, 0, ErrRange},
	{"9999999999999999999", 0, ErrRange},
	{"10000000000000000000", 0, ErrRange},
	{"18446744073709551616", 0, ErrRange}, // 2^64: 0 if it wrapped around
	{"18446744073709551623", 0, ErrRange}, // 2^64 + 7
	{strings.Repeat("9", 1000), 0, ErrRange},
	{"", 0, ErrSyntax},
	{" ", 0, ErrSyntax},
	{" 7", 0, ErrSyntax},
	{"7 ", 0, ErrSyntax},
	{"7\n", 0, ErrSyntax},
	{"+7", 0, ErrSyntax},
	{"-7", 0, ErrNegative},
	{"-9223372036854775808", 0, ErrNegative},
	{"-99999999999999999999", 0, ErrNegative},
	{"--7", 0, ErrSyntax},
	{"-07", 0, ErrSyntax},
	{"-7x", 0, ErrSyntax},
	{"-+7", 0, ErrSyntax},
	{"-0", 0, ErrSyntax},
	{"-", 0, ErrSyntax},
	{"00", 0, ErrSyntax},
	{"007", 0, ErrSyntax},
	{"0x7", 0, ErrSyntax},
	{"7f", 0, ErrSyntax},
	{"7.0", 0, ErrSyntax},
	{"7e0", 0, ErrSyntax},
	{"1_000", 0, ErrSyntax},
	{"1,000", 0, ErrSyntax},
	{"٧", 0, ErrSyntax}, // a digit to unicode.IsDigit
	{"7\x00", 0, ErrSyntax},
	{"\xff", 0, ErrSyntax},
	{"true", 0, ErrSyntax},
	{"NULL", 0, ErrSyntax},
	{strings.Repeat("9", 1000) + "x", 0, ErrSyntax},
}

// checkError wants an error that errors.Is finds and that quotes the input.
func checkError(t *testing.T, got, want error, input string) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("%.80q: error %v, want %v", input, got, want)
	}
	if want == nil {
		return
	}
	quoted := strings.Trim(fmt.Sprintf("%q", input[:min(len(input), quoteLimit)]), `"`)
	if !strings.Contains(got.Error(), quoted) {
		t.Errorf("error %q does not quote %s", got, quoted)
	}
	if len(got.Error()) > 500 {
		t.Errorf("error of %d bytes for %.20q", len(got.Error()), input)
	}
}

func TestTextDecoders(t *testing.T) {
	kinds(t, testTextDecoders[ID], testTextDecoders[plainKey])
}

func testTextDecoders[K idKind, P idPointer[K]](t *testing.T) {
	decoders := map[string]func(id P, s string) error{
		"UnmarshalText":  func(id P, s string) error { return id.UnmarshalText([]byte(s)) },
		"UnmarshalParam": P.UnmarshalParam,
		"Scan string":    func(id P, s string) error { return id.Scan(s) },
		"Scan bytes":     func(id P, s string) error { return id.Scan([]byte(s)) },
		"Parse": func(id P, s string) error {
			n, err := Parse(s)
			key, keyErr := ParseKey[plainRow](s)
			if err == nil {
				*id = K(n)
			} else if n != 0 {
				return fmt.Errorf("Parse gave %d with the error %w", n, err)
			}
			if ID(key) != n || fmt.Sprint(keyErr) != fmt.Sprint(err) {
				return fmt.Errorf("ParseKey gave %d and the error %w", key, keyErr)
			}
			return err
		},
	}
	for name, decode := range decoders {
		t.Run(name, func(t *testing.T) {
			for _, tt := range texts {
				const before = 42
				id, want := K(before), K(tt.want)
				if tt.err != nil {
					want = before
				}
				checkError(t, decode(&id, tt.in), tt.err, tt.in)
				if id != want {
					t.Errorf("%.40q: id is %d, want %d", tt.in, id, want)
				}
			}
		})
	}
}

func TestTextEncoders(t *testing.T) {
	kinds(t, testTextEncoders[ID], testTextEncoders[plainKey])
}

func testTextEncoders[K idKind](t *testing.T) {
	for id, want := range map[K]string{0: "0", 7: "7", 1 << 60: "1152921504606846976", math.MaxInt64: maxText} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			if got := id.String(); got != want {
				t.Errorf("String of %d: %q", int64(id), got)
			}
			if got, err := id.MarshalText(); err != nil || string(got) != want {
				t.Errorf("MarshalText of %d: %q, %v", int64(id), got, err)
			}
			if got, err := id.AppendText([]byte("x")); err != nil || string(got) != "x"+want {
				t.Errorf("AppendText of %d: %q, %v", int64(id), got, err)
			}
		})
	}
	for _, id := range []K{-1, math.MinInt64} {
		if got, err := id.MarshalText(); got != nil || !errors.Is(err, ErrNegative) || !strings.Contains(err.Error(), id.String()) {
			t.Errorf("MarshalText of %d: %q, %v", int64(id), got, err)
		}
		if got, err := id.AppendText([]byte("x")); string(got) != "x" || !errors.Is(err, ErrNegative) {
			t.Errorf("AppendText of %d: %q, %v", int64(id), got, err)
		}
	}
	if got := K(ID(math.MinInt64)).String(); got != "-9223372036854775808" {
		t.Errorf("String of the least: %q", got)
	}
}

func TestFormat(t *testing.T) {
	kinds(t, testFormat[ID], testFormat[plainKey])
}

func testFormat[K idKind](t *testing.T) {
	id := K(1200)
	for _, tt := range []struct{ format, want string }{
		{"%d", "1200"}, {"%s", "1200"}, {"%v", "1200"}, {"%+v", "1200"}, {"%#v", "1200"},
		{"%q", `"1200"`}, {"%#q", "`1200`"}, {"%x", "4b0"}, {"%X", "4B0"}, {"%#x", "0x4b0"},
		{"%b", "10010110000"}, {"%o", "2260"}, {"%+d", "+1200"},
		{"%8d|", "    1200|"}, {"%-8d|", "1200    |"}, {"%08d", "00001200"},
		{"%8s|", "    1200|"}, {"%-8s|", "1200    |"}, {"%8v|", "    1200|"}, {"%08x", "000004b0"},
		{"%10q|", `    "1200"|`}, {"%.2s", "12"}, {"%.6d", "001200"},
		{"%z", "%!z(int64=1200)"},
	} {
		t.Run(tt.format, func(t *testing.T) {
			if got := fmt.Sprintf(tt.format, id); got != tt.want {
				t.Errorf("%s: %q, want %q", tt.format, got, tt.want)
			}
		})
	}
	if got := fmt.Sprintf("%*d", 6, id); got != "  1200" {
		t.Errorf("width by argument: %q", got)
	}
	if got := fmt.Sprintf("%d %s", K(-5), K(-5)); got != "-5 -5" {
		t.Errorf("negative: %q", got)
	}
	if got := fmt.Sprintf("%v %d", []K{1, 2}, struct{ A, B K }{3, 4}); got != "[1 2] {3 4}" {
		t.Errorf("nested: %q", got)
	}
	if got := fmt.Sprintf("%v", (*K)(nil)); got != "<nil>" {
		t.Errorf("nil pointer: %q", got)
	}
	if got := fmt.Sprint(&id); got != "1200" {
		t.Errorf("pointer: %q", got)
	}
}

func TestSmallMethods(t *testing.T) {
	kinds(t, testSmallMethods[ID], testSmallMethods[plainKey])
}

func testSmallMethods[K interface {
	idKind
	Compare(other K) int
}](t *testing.T) {
	if !K(0).IsZero() || K(1).IsZero() || K(-1).IsZero() {
		t.Error("IsZero")
	}
	if K(ID(math.MaxInt64)).Int64() != math.MaxInt64 {
		t.Error("Int64")
	}
	ids := []K{3, math.MaxInt64, 1, 0, 2}
	slices.SortFunc(ids, K.Compare)
	if want := []K{0, 1, 2, 3, math.MaxInt64}; !slices.Equal(ids, want) {
		t.Errorf("sorted: %v", ids)
	}
	if K(2).Compare(2) != 0 || K(1).Compare(2) != -1 || K(2).Compare(1) != 1 {
		t.Error("Compare")
	}
}

func TestNilReceivers(t *testing.T) {
	for name, v := range map[string]decoder{
		"ID": (*ID)(nil), "NullID": (*NullID)(nil), "Key": (*plainKey)(nil), "NullKey": (*plainNull)(nil),
		"prefixed": (*Key[prefixedRow])(nil),
	} {
		for method, err := range map[string]error{
			"Scan":           v.Scan(int64(1)),
			"UnmarshalText":  v.UnmarshalText([]byte("1")),
			"UnmarshalJSON":  v.UnmarshalJSON([]byte("1")),
			"UnmarshalParam": v.UnmarshalParam("1"),
		} {
			t.Run(name+"."+method, func(t *testing.T) {
				if !errors.Is(err, ErrNil) || !strings.Contains(err.Error(), method) {
					t.Error(err)
				}
			})
		}
		if err := v.UnmarshalJSON([]byte("null")); !errors.Is(err, ErrNil) {
			t.Errorf("%s.UnmarshalJSON of null: %v", name, err)
		}
		if attr, err := v.MarshalXMLAttr(xml.Name{Local: "id"}); err != nil || attr != (xml.Attr{}) {
			t.Errorf("%s.MarshalXMLAttr: %v, %v", name, attr, err)
		}
	}
}

type sourceFunc func(ctx context.Context) (int64, error)

type sourceStruct struct{ last int64 }

func (s *sourceStruct) Next(context.Context) (int64, error) { s.last++; return s.last, nil }

func (f sourceFunc) Next(ctx context.Context) (int64, error) { return f(ctx) }

func (*sourceStruct) Fill(context.Context, []int64) error { return errors.ErrUnsupported }

func (sourceFunc) Fill(context.Context, []int64) error { return errors.ErrUnsupported }

func TestNew(t *testing.T) {
	fault := errors.New("store is away")
	ctx := context.WithValue(t.Context(), sourceFunc(nil).key(), "mark")
	for _, tt := range []struct {
		name string
		src  Source
		want ID
		err  error
	}{
		{"id", sourceFunc(func(context.Context) (int64, error) { return 77, nil }), 77, nil},
		{"largest", sourceFunc(func(context.Context) (int64, error) { return math.MaxInt64, nil }), math.MaxInt64, nil},
		{"nil source", nil, 0, ErrNil},
		{"nil function", sourceFunc(nil), 0, ErrNil},
		{"nil pointer", (*sourceStruct)(nil), 0, ErrNil},
		{"negative", sourceFunc(func(context.Context) (int64, error) { return -3, nil }), 0, ErrSource},
		{"zero", sourceFunc(func(context.Context) (int64, error) { return 0, nil }), 0, ErrSource},
		{"error", sourceFunc(func(context.Context) (int64, error) { return 5, fault }), 0, fault},
		{"context", sourceFunc(func(ctx context.Context) (int64, error) {
			if ctx.Value(sourceFunc(nil).key()) != "mark" {
				return 0, errors.New("another context")
			}
			return 1, nil
		}), 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := NextID(ctx, tt.src)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("%s: %d, %v", tt.name, got, err)
			}
			key, keyErr := NextKey[plainRow](ctx, tt.src)
			if key.ID() != tt.want || fmt.Sprint(keyErr) != fmt.Sprint(err) {
				t.Errorf("%s: the key %d, %v", tt.name, key, keyErr)
			}
		})
	}
}

type contextKey struct{}

func (sourceFunc) key() contextKey { return contextKey{} }
