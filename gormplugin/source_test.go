package gormplugin_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// calling is a source that cannot be compared.
type calling struct {
	fill func(ids []int64)
}

func (s calling) Next(context.Context) (int64, error) {
	ids := []int64{0}
	s.fill(ids)
	return ids[0], nil
}

func (s calling) Fill(_ context.Context, ids []int64) error {
	s.fill(ids)
	return nil
}

// wrapping is of a type that can be compared, and panics where what it holds cannot.
type wrapping struct{ sqltype.Source }

// Badge has keys of three sources.
type Badge struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	Number int64 `gorm:"snowflake:a"`
	Other  int64 `gorm:"snowflake:b"`
}

// Each source is asked once, whatever its type; one under two names once if they can be compared.
func TestReservationsOfEverySource(t *testing.T) {
	for name, tt := range map[string]struct {
		of    func(s calling) (main, a, b sqltype.Source)
		calls []int
	}{
		"pointers, one source": {func(s calling) (_, _, _ sqltype.Source) { return &s, &s, &s }, []int{9}},
		"pointers, two named the same": {func(s calling) (_, _, _ sqltype.Source) {
			main := s
			return &main, &s, &s
		}, []int{3, 6}},
		"cannot be compared": {func(s calling) (_, _, _ sqltype.Source) { return s, s, s }, []int{3, 3, 3}},
		"around those":       {func(s calling) (_, _, _ sqltype.Source) { return wrapping{s}, wrapping{s}, wrapping{s} }, []int{3, 3, 3}},
		"around a pointer":   {func(s calling) (_, _, _ sqltype.Source) { return wrapping{&s}, wrapping{&s}, wrapping{&s} }, []int{9}},
		"of several kinds":   {func(s calling) (_, _, _ sqltype.Source) { return s, wrapping{s}, &s }, []int{3, 3, 3}},
	} {
		for way, create := range map[string]func(db *gorm.DB, rows []Badge) error{
			"Assign": func(db *gorm.DB, rows []Badge) error { return graph.Assign(t.Context(), db, rows) },
			"gorm":   func(db *gorm.DB, rows []Badge) error { return db.Create(&rows).Error },
		} {
			t.Run(name+"/"+way, func(t *testing.T) {
				var calls []int
				last := int64(0)
				main, a, b := tt.of(calling{func(ids []int64) {
					calls = append(calls, len(ids))
					for i := range ids {
						last++
						ids[i] = last
					}
				}})
				db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true})
				if err != nil {
					t.Fatal(err)
				}
				p, err := gormplugin.New(gormplugin.Config{Source: main, Named: map[string]sqltype.Source{"a": a, "b": b}})
				if err != nil {
					t.Fatal(err)
				}
				if err := db.Use(p); err != nil {
					t.Fatal(err)
				}
				rows := make([]Badge, 3)
				if err := create(db, rows); err != nil {
					t.Fatal(err)
				}
				seen := map[int64]bool{}
				for _, r := range rows {
					for _, id := range []int64{r.ID, r.Number, r.Other} {
						if id == 0 || seen[id] {
							t.Errorf("%v: %d is there twice, or nothing", rows, id)
						}
						seen[id] = true
					}
				}
				if fmt.Sprint(calls) != fmt.Sprint(tt.calls) {
					t.Errorf("reservations of %v, want %v", calls, tt.calls)
				}
			})
		}
	}
}

// A table and a model of it must not write one column in two forms.
func TestTextOfTableAndTag(t *testing.T) {
	type Plain struct {
		ID string `gorm:"primaryKey;size:19;snowflake"`
	}
	type Sorted struct {
		ID string `gorm:"primaryKey;size:11;snowflake:base62"`
	}
	type Untagged struct {
		ID string `gorm:"primaryKey;size:19"`
	}
	for _, tt := range []struct {
		text  string
		model any
		fault bool
	}{
		{"base62", &Plain{}, true}, {"decimal", &Plain{}, false}, {"", &Plain{}, false},
		{"base62", &Sorted{}, false}, {"decimal", &Sorted{}, true}, {"", &Sorted{}, false}, // "" may be there for the source alone
		{"base62", &Untagged{}, false}, {"decimal", &Untagged{}, false}, {"", &Untagged{}, false},
	} {
		tables := map[string]gormplugin.Table{}
		for _, name := range []string{"plains", "sorteds", "untaggeds"} {
			tables[name] = gormplugin.Table{Column: "id", Text: tt.text}
		}
		p, err := gormplugin.New(gormplugin.Config{Source: calling{func([]int64) {}}, Tables: tables, Models: []any{tt.model}})
		if err != nil {
			t.Fatal(err)
		}
		db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Use(p); (err != nil) != tt.fault || err != nil && !strings.Contains(err.Error(), "contradict each other") {
			t.Errorf("%q for %T: %v", tt.text, tt.model, err)
		}
	}
}
