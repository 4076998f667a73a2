package pgxtype

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

// Text that was added after pgx's error is kept, and the address is removed.
func TestUnencodable(t *testing.T) {
	m := pgtype.NewMap()
	text := "x"
	value := &struct{ Text *string }{&text}
	_, err := m.Encode(pgtype.PointOID, pgtype.BinaryFormatCode, value, nil)
	if err == nil || !strings.Contains(err.Error(), "0x") {
		t.Fatalf("pgx quotes no address any more: %v", err)
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{err, `{"Text":"x"} (*struct { Text *string }) cannot be sent as point: cannot find encode plan`},
		{fmt.Errorf("%w: a hint", err), `{"Text":"x"} (*struct { Text *string }) cannot be sent as point: cannot find encode plan: a hint`},
		{errors.New("plain"), `{"Text":"x"} (*struct { Text *string }) cannot be sent as point: plain`},
	} {
		t.Run(tt.want, func(t *testing.T) {
			if got := unencodable(m, pgtype.PointOID, value, tt.err); got.Error() != tt.want {
				t.Errorf("%v; want %s", got, tt.want)
			}
		})
	}
	if got := unencodable(m, 99_999, nil, errors.New("plain")).Error(); got != "a value (<nil>) cannot be sent as type 99999: plain" {
		t.Error(got)
	}
	for _, tt := range []struct {
		value any
		want  string
	}{
		{(*int)(nil), "nil"}, {int8(-3), "-3"}, {true, "true"}, {1.5, "1.5"}, {"a\n", `"a\n"`}, {[]byte("ab"), "2 bytes 6162"}, {[2]int{1, 2}, "[1,2]"}, {make(chan int), "a value"},
		{func() {}, "a value"}, {strings.Repeat("ab", 60), `"` + strings.Repeat("ab", 50) + `…"`},
	} {
		t.Run(tt.want, func(t *testing.T) {
			if got := quote(tt.value); got != tt.want {
				t.Errorf("quote: %s, want %s", got, tt.want)
			}
		})
	}
}
