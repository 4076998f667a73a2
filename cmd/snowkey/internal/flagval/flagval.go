// Package flagval provides flags whose help and errors name the accepted values, which
// those of pflag.Func do not. The HTTP API parses its parameters with the same functions.
package flagval

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/seed-299c1d6b/snowkey/core"
)

// A Value is a pflag.Value that is parsed when it is set.
type Value[T any] struct {
	to    *T
	kind  string
	text  string
	parse func(string) (T, error)
}

// New returns a flag that sets *to. kind names the value in help, text is the default's;
// an error of parse says what the value must be.
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

// String returns the text that was given, or the default's.
func (v *Value[T]) String() string { return v.text }

// Type names the value in help.
func (v *Value[T]) Type() string { return v.kind }

// Whole parses a whole number from low to high, without a plus sign and leading zeros.
func Whole(low, high int64) func(string) (int64, error) {
	return func(s string) (int64, error) {
		digits := strings.ReplaceAll(s, "_", "")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < low || n > high || strconv.FormatInt(n, 10) != digits {
			return 0, fmt.Errorf("must be a whole number from %d to %d", low, high)
		}
		return n, nil
	}
}

// OneOf parses one of the names, in any case.
func OneOf[T ~string](names ...T) func(string) (T, error) {
	return func(s string) (T, error) {
		for _, name := range names {
			if strings.EqualFold(s, string(name)) {
				return name, nil
			}
		}
		return "", fmt.Errorf("must be %s", List(names))
	}
}

// List joins names as in a sentence: a, b or c.
func List[T ~string](names []T) string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = string(name)
	}
	return english.WordSeries(words, "or")
}

// Duration parses a duration from low to high.
func Duration(low, high time.Duration) func(string) (time.Duration, error) {
	return func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d < low || d > high {
			return 0, fmt.Errorf("must be a duration such as 500ms or 10s, from %v to %v", low, high)
		}
		return d, nil
	}
}

// Zone parses the name of a time zone.
func Zone(s string) (*time.Location, error) {
	switch strings.ToLower(s) {
	case "utc", "z":
		return time.UTC, nil
	case "local":
		return time.Local, nil
	}
	loc, err := time.LoadLocation(s)
	if err != nil || s == "" {
		return nil, errors.New("must be a time zone such as Europe/Vienna, UTC or local")
	}
	return loc, nil
}

// Presets returns core's presets, and layouts of other systems that are only read.
func Presets() []core.Preset {
	since := func(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
	return append(core.Presets(),
		core.Preset{Name: "yitter", Description: "41 time in ms from 2020, 6 worker ID, 6 sequence: the default of yitter's IdGenerator",
			Layout: core.Layout{Epoch: since(1_582_136_402_000), Tick: time.Millisecond, TimeBits: 41, WorkerBits: 6, SequenceBits: 6}},
		core.Preset{Name: "typeid", Description: "48 time in ms from 1970, 15 random (sequence here): 64-bit ids of go-chi/typeid",
			Layout: core.Layout{Epoch: since(0), Tick: time.Millisecond, TimeBits: 48, SequenceBits: 15}},
		core.Preset{Name: "linkedin", Description: "41 time in ms from 1970, 22 others (sequence here): LinkedIn's posts, for reading",
			Layout: core.Layout{Epoch: since(0), Tick: time.Millisecond, TimeBits: 41, SequenceBits: 22}},
		core.Preset{Name: "tiktok", Description: "31 time in seconds from 1970, 32 others (sequence here): TikTok's videos, for reading",
			Layout: core.Layout{Epoch: since(0), Tick: time.Second, TimeBits: 31, SequenceBits: 32}},
		core.Preset{Name: "weibo", Description: "31 time in seconds from 1986, 22 others (sequence here): Weibo's posts, for reading",
			Layout: core.Layout{Epoch: since(515_483_463_000), Tick: time.Second, TimeBits: 31, SequenceBits: 22}})
}

// Preset parses the name of a layout, in any case.
func Preset(s string) (core.Layout, error) {
	var names []string
	for _, p := range Presets() {
		if strings.EqualFold(s, p.Name) {
			return p.Layout.WithDefaults(), nil
		}
		names = append(names, p.Name)
	}
	return core.Layout{}, fmt.Errorf("must be %s", List(names))
}

// WorkerIDs parses worker IDs that are separated by commas.
func WorkerIDs(s string) (ids []int64, err error) {
	for word := range strings.SplitSeq(s, ",") {
		id, err := Whole(0, math.MaxInt64)(strings.TrimSpace(word))
		if err != nil {
			return nil, errors.New("must be worker IDs such as 0,1,2")
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Tick parses the tick of a layout.
func Tick(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Millisecond || d%time.Millisecond != 0 {
		return 0, errors.New("must be whole milliseconds such as 1ms, 10ms or 1s")
	}
	return d, nil
}
