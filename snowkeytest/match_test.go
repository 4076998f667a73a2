package snowkeytest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/snowkeytest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

var _ interface{ Match(v any) bool } = snowkeytest.PgxArgument{} // pgxmock.Argument

func TestAnyID(t *testing.T) {
	ahead := func(d time.Duration) int64 { id, _ := core.Twitter().FirstAt(time.Now().Add(d)); return id }
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
		{"now", core.Layout{}, ahead(0), true},
		{"far ahead", core.Layout{}, ahead(48 * time.Hour), false},
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
	one, two := int64(snowkeytest.ID(1)), int64(snowkeytest.ID(2))
	for i, v := range []any{"Ann", int64(5), one, one, "1000000000000000001", two, nil} {
		if got, want := same.Match(v), i >= 2 && i < 5; got != want {
			t.Errorf("%v: %v, want %v", v, got, want)
		}
	}
	if same.ID() != snowkeytest.ID(1) || fmt.Sprint(same) != "SameID(1000000000000000001)" {
		t.Errorf("%v", same)
	}
}
