package keys

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// Unique is a set of columns, of an index or of the key, in which rows may collide.
type Unique struct {
	Fields []*schema.Field
	Where  []clause.Expression // the rows in a partial index; empty: all
	Nulls  bool                // NULLS NOT DISTINCT
}

// Uniques returns what the tags of a model declare unique, partial indexes last: the others identify
// a row for certain.
func (r *Registry) Uniques(db *gorm.DB, s *schema.Schema) ([]Unique, error) {
	if known, ok := r.uniques.Load(s); ok {
		return known.([]Unique), nil
	}
	var sets, partial []Unique
	for _, f := range s.Fields {
		if f.Unique && !f.PrimaryKey && f.DBName != "" {
			sets = append(sets, Unique{Fields: []*schema.Field{f}})
		}
	}
	if s.ModelType.Name() != "" { // it is empty for a join table that gorm made
		// ParseIndexes writes to the schema, which others may be reading: give it a copy.
		own, err := schema.Parse(reflect.New(s.ModelType).Interface(), new(sync.Map), db.NamingStrategy)
		if err != nil {
			return nil, fmt.Errorf("gormplugin: %s: %w", s.Name, err)
		}
		for _, index := range own.ParseIndexes() {
			u, ok := uniqueIndex(s, index)
			switch {
			case ok && index.Where != "":
				partial = append(partial, u)
			case ok:
				sets = append(sets, u)
			}
		}
	}
	sets = append(sets, partial...)
	r.uniques.Store(s, sets)
	return sets, nil
}

// uniqueIndex converts an index. ok is false if it has expressions or lengths, or is not unique.
func uniqueIndex(s *schema.Schema, index *schema.Index) (u Unique, ok bool) {
	for _, option := range index.Fields {
		f := s.FieldsByDBName[option.DBName]
		if f == nil || option.Expression != "" || option.Length > 0 {
			return Unique{}, false
		}
		u.Fields = append(u.Fields, f)
	}
	if index.Where != "" {
		u.Where = []clause.Expression{clause.Expr{SQL: index.Where}}
	}
	u.Nulls = strings.Contains(strings.ToUpper(index.Option), "NULLS NOT DISTINCT")
	return u, strings.EqualFold(index.Class, "UNIQUE")
}
