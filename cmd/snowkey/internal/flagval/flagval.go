// Package flagval makes flags of the command line that say in plain words what
// they want.
package flagval

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Value is a flag whose text is checked when it is set. It is a pflag.Value.
type Value[T any] struct {
	to    *T
	kind  string
	text  string
	parse func(string) (T, error)
}

// New makes a flag that sets *to. kind is what help calls the value; an error of
// parse says what is wanted.
func New[T any](to *T, kind, text string, parse func(string) (T, error)) *Value[T] {
	return &Value[T]{to: to, kind: kind, text: text, parse: parse}
}

// Set implements pflag.Value.
func (v *Value[T]) Set(text string) error {
	got, err := v.parse(text)
	if err != nil {
		return err
	}
	*v.to, v.text = got, text
	return nil
}

// String is the text that was given, or the default's.
func (v *Value[T]) String() string { return v.text }

// Type is what help calls the value.
func (v *Value[T]) Type() string { return v.kind }

// Whole is a whole number from least to most.
func Whole(least, most int64) func(string) (int64, error) {
	return func(s string) (int64, error) {
		n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64)
		if err != nil || n < least || n > most || strings.HasPrefix(s, "+") {
			return 0, fmt.Errorf("want a whole number from %d to %d", least, most)
		}
		return n, nil
	}
}

// OneOf is one of the names, as they are written.
func OneOf[T ~string](names ...T) func(string) (T, error) {
	return func(s string) (T, error) {
		for _, name := range names {
			if strings.EqualFold(s, string(name)) {
				return name, nil
			}
		}
		return "", fmt.Errorf("want %s", List(names))
	}
}

// List writes names as a sentence has them: a, b or c.
func List[T ~string](names []T) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}

// Duration is a span of time from least to most.
func Duration(least, most time.Duration) func(string) (time.Duration, error) {
	return func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d < least || d > most {
			return 0, fmt.Errorf("want a duration such as 500ms or 10s, from %v to %v", least, most)
		}
		return d, nil
	}
}

// Zone is a time zone by its name.
func Zone(s string) (*time.Location, error) {
	switch strings.ToLower(s) {
	case "":
		return nil, fmt.Errorf("want a time zone such as Europe/Vienna, UTC or local")
	case "utc", "z":
		return time.UTC, nil
	case "local":
		return time.Local, nil
	}
	loc, err := time.LoadLocation(s)
	if err != nil {
		return nil, fmt.Errorf("want a time zone such as Europe/Vienna, UTC or local")
	}
	return loc, nil
}
