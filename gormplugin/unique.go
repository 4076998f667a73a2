package gormplugin

import (
	"fmt"
	"reflect"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// uniqueCache keeps, for each schema, the sets of columns that its tags declare
// unique, the key excepted.
type uniqueCache struct{ bySchema sync.Map }

func (p *Plugin) uniques(db *gorm.DB, s *schema.Schema) ([][]*schema.Field, error) {
	if known, ok := p.unique.bySchema.Load(s); ok {
		return known.([][]*schema.Field), nil
	}
	sets, err := declaredUniques(db, s)
	if err != nil {
		return nil, err
	}
	p.unique.bySchema.Store(s, sets)
	return sets, nil
}

func declaredUniques(db *gorm.DB, s *schema.Schema) (sets [][]*schema.Field, err error) {
	for _, f := range s.Fields {
		if f.Unique && !f.PrimaryKey && f.DBName != "" {
			sets = append(sets, []*schema.Field{f})
		}
	}
	if s.ModelType.Name() == "" {
		return sets, nil // a join table that gorm made
	}
	// ParseIndexes writes to the schema, which others may be reading: it gets one of its own.
	own, err := schema.Parse(reflect.New(s.ModelType).Interface(), new(sync.Map), db.NamingStrategy)
	if err != nil {
		return nil, fmt.Errorf("gormplugin: %s: %w", s.Name, err)
	}
	for _, index := range own.ParseIndexes() {
		if index.Class != "UNIQUE" || index.Where != "" {
			continue
		}
		var set []*schema.Field
		for _, option := range index.Fields {
			f := s.FieldsByDBName[option.DBName]
			if option.Expression != "" || f == nil {
				set = nil
				break
			}
			set = append(set, f)
		}
		if len(set) > 0 {
			sets = append(sets, set)
		}
	}
	return sets, nil
}
