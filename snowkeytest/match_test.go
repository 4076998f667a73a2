package snowkeytest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/DATA-DOG/go-sqlmock"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/snowkeytest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

var (
	_ sqlmock.Argument               = snowkeytest.AnyID{}
	_ sqlmock.Argument               = (*snowkeytest.SameID)(nil)
	_ interface{ Match(v any) bool } = snowkeytest.PgxArgument{} // pgxmock.Argument
)

func TestAnyID(t *testing.T) {
	at := func(at time.Time) int64 {
		id, err := core.Twitter().Compose(core.Parts{Time: at, Worker: 3})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	text := "1996573624012345677"
	for _, c := range []struct {
		name   string
		layout core.Layout
		v      any
		want   bool
	}{
		{"number", core.Layout{}, int64(1996573624012345677), true},
		{"text", core.Layout{}, text, true},
		{"fixture", core.Layout{}, int64(snowkeytest.ID(1)), true},
		{"now", core.Layout{}, at(time.Now()), true},
		{"far ahead", core.Layout{}, at(time.Now().Add(48 * time.Hour)), false},
		{"key of a sequence", core.Layout{}, int64(17), false},
		{"zero", core.Layout{}, int64(0), false},
		{"negative", core.Layout{}, int64(-1996573624012345677), false},
		{"above the layout", core.JavaScriptSafe(), int64(1996573624012345677), false},
		{"text with a zero", core.Layout{}, "0" + text, false},
		{"word", core.Layout{}, "Ann", false},
		{"nil", core.Layout{}, nil, false},
		{"bytes", core.Layout{}, []byte(text), false},
		{"wrong layout", core.Layout{TimeBits: 64}, int64(1996573624012345677), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := snowkeytest.AnyID{Layout: c.layout}
			if got := a.Match(c.v); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			if got := a.Pgx().Match(c.v); got != c.want {
				t.Errorf("Pgx: %v, want %v", got, c.want)
			}
		})
	}
	if !(snowkeytest.AnyID{}).Pgx().Match(snowkeytest.ID(1)) || (snowkeytest.AnyID{}).Pgx().Match(sqltype.ID(-1)) {
		t.Error("pgxmock passes a Valuer as it is")
	}
	id := snowkeytest.ID(1)
	for v, want := range map[any]bool{&id: true, (*sqltype.ID)(nil): false, (*sqltype.Key[int])(nil): false, sqltype.NullID{}: false, uint64(id): true} {
		if got := (snowkeytest.AnyID{}).Pgx().Match(v); got != want {
			t.Errorf("%T %[1]v: %v, want %v", v, got, want)
		}
	}
	if (snowkeytest.PgxArgument{}).Match(int64(1996573624012345677)) {
		t.Error("the zero PgxArgument matches")
	}
}

func TestSameID(t *testing.T) {
	same := new(snowkeytest.SameID)
	steps := []struct {
		v    any
		want bool
	}{
		{"Ann", false}, {int64(5), false},
		{int64(snowkeytest.ID(1)), true}, {int64(snowkeytest.ID(1)), true}, {"1000000000000000001", true},
		{int64(snowkeytest.ID(2)), false}, {nil, false},
	}
	for _, s := range steps {
		if got := same.Match(s.v); got != s.want {
			t.Errorf("%v: %v, want %v", s.v, got, s.want)
		}
	}
	if same.ID() != snowkeytest.ID(1) || fmt.Sprint(same) != "SameID(1000000000000000001)" {
		t.Errorf("%v", same)
	}
	if !same.Pgx().Match(snowkeytest.ID(1)) || same.Pgx().Match(snowkeytest.ID(2)) {
		t.Error("Pgx does not share the id")
	}
}
