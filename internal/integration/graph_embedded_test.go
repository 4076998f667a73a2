package integration

import (
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Keyed is embedded behind a pointer, and holds the key.
type Keyed struct {
	ID sqltype.ID `gorm:"primaryKey"`
}

type Choir struct {
	*Keyed
	Name    string `gorm:"size:20"`
	Singers []Singer
}

type Singer struct {
	*Keyed
	Name    string `gorm:"size:20"`
	ChoirID sqltype.ID
}

// Rows that share the struct that holds their key would have one key: it is an
// error, before anything is touched.
func TestGraphSharedEmbeddedKey(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		src := &tally{}
		db := graphHandle(t, d.open(t), src, nil, &Choir{}, &Singer{})
		for what, build := range map[string]func(k *Keyed) []Choir{
			"one table":        func(k *Keyed) []Choir { return []Choir{{Keyed: k}, {Name: "other"}, {Keyed: k}} },
			"parent and child": func(k *Keyed) []Choir { return []Choir{{Keyed: k, Singers: []Singer{{}, {Keyed: k}}}} },
			"children": func(k *Keyed) []Choir {
				return []Choir{{Singers: []Singer{{Keyed: k}}}, {Singers: []Singer{{Keyed: k}}}}
			},
		} {
			t.Run(what, func(t *testing.T) {
				for by, create := range map[string]func(v any) error{
					"Assign": func(v any) error { return graph.Assign(t.Context(), db, v) },
					"Create": func(v any) error { return graph.Create(t.Context(), db, v) },
				} {
					k := &Keyed{}
					v := build(k)
					if err := create(&v); !errors.Is(err, gorm.ErrInvalidData) || !strings.Contains(err.Error(), "share the embedded struct") {
						t.Errorf("%s by %s: %v", what, by, err)
					}
					if k.ID != 0 {
						t.Errorf("%s by %s: the key %d is left", what, by, k.ID)
					}
				}
			})
		}
		// Of their own, they are as good as any.
		v := []Choir{{Keyed: &Keyed{}, Singers: []Singer{{Keyed: &Keyed{}}, {}}}, {Keyed: &Keyed{}}}
		if err := graph.Create(t.Context(), db, &v); err != nil {
			t.Fatal(err)
		}
		if s := v[0].Singers; v[0].ID == v[1].ID || s[0].ID == 0 || s[0].ID == s[1].ID || s[1].ChoirID != v[0].ID {
			t.Errorf("%+v", v)
		}
	})
}
