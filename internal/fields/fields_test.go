package fields

import (
	"strings"
	"testing"
	"time"
)

func TestErrors(t *testing.T) {
	var wrong Errors
	if err := wrong.Err("serial"); err != nil {
		t.Errorf("an empty list is the error %v", err)
	}
	wrong.Add("Block", -3, "must be at least %d", 1)
	wrong.Add("Prefix", strings.Repeat("é", 200), "is 100% too long")
	wrong.Add("Window", 3*time.Second, "must be less")
	want := `serial: Block -3: must be at least 1; Prefix "` + strings.Repeat("é", 100) + `"…: is 100% too long; Window 3s: must be less`
	if err := wrong.Err("serial"); err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}

// A value is not quoted as an address, and is not marked as shortened if it is whole.
func TestQuote(t *testing.T) {
	for want, value := range map[string]any{
		"*int": new(int), "func()": func() {}, "chan int": make(chan int), "[]*int": []*int{new(int)},
		"Europe/Berlin": time.FixedZone("Europe/Berlin", 0), "[1 2]": []int{1, 2},
		`"` + strings.Repeat("é", 60) + `"`: strings.Repeat("é", 60),
	} {
		t.Run(want, func(t *testing.T) {
			if got := Quote(value); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

func TestIsNil(t *testing.T) {
	for name, c := range map[string]struct {
		value any
		want  bool
	}{
		"nil":          {nil, true},
		"nil pointer":  {(*int)(nil), true},
		"nil function": {(func())(nil), true},
		"nil map":      {map[int]int(nil), true},
		"nil slice":    {[]int(nil), true},
		"nil channel":  {(chan int)(nil), true},
		"pointer":      {new(int), false},
		"function":     {func() {}, false},
		"zero":         {0, false},
		"struct":       {struct{}{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if IsNil(c.value) != c.want {
				t.Errorf("IsNil is %v", !c.want)
			}
			if got := Quote(c.value); (got == "nil") != c.want {
				t.Errorf("quoted as %s", got)
			}
		})
	}
	if err := Error("serial", "Counter", (*int)(nil), "is required"); err.Error() != "serial: Counter nil: is required" {
		t.Error(err)
	}
}
