package gormplugin

import (
	"fmt"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// A row that gorm saves before another, and that collided with one which could not be found,
// has no key. What is here keeps gorm from writing the zero of it as a foreign key.

// checkLinks looks at the foreign keys that gorm has set in the rows of a statement, before
// they are written.
func (p *Plugin) checkLinks(stmt *gorm.Statement, create bool) error {
	rows := newRows(stmt.ReflectValue)
	for _, rel := range stmt.Schema.Relationships.BelongsTo {
		for i := range rows.n {
			row := rows.at(i)
			if row.Kind() != reflect.Struct {
				break
			}
			parent := indirect(fieldAt(row, rel.Field.StructField.Index))
			if !parent.IsValid() || parent.IsZero() {
				continue // gorm saves none
			}
			ref := p.keyless(rel, parent)
			if ref == nil || !saves(stmt, rel, create) {
				continue
			}
			return fmt.Errorf("%s of row %d would be 0: %s was not written, and the row that it collided with is not found by any unique index of columns",
				fieldName(stmt.Schema, ref.ForeignKey), i, fieldName(stmt.Schema, rel.Field))
		}
	}
	return p.checkJoinRows(stmt, rows)
}

// keyless gives the reference whose key the parent lacks, though the plugin fills it.
func (p *Plugin) keyless(rel *schema.Relationship, parent reflect.Value) *schema.Reference {
	for _, ref := range rel.References {
		if ref.OwnPrimaryKey || ref.PrimaryKey == nil {
			continue
		}
		if v := fieldAt(parent, ref.PrimaryKey.StructField.Index); v.IsValid() && !v.IsZero() {
			continue
		}
		if p.fills(rel.FieldSchema, ref.PrimaryKey) {
			return ref
		}
	}
	return nil
}

// saves reports whether gorm saves the association with the statement.
func saves(stmt *gorm.Statement, rel *schema.Relationship, create bool) bool {
	columns, restricted := stmt.SelectAndOmitColumns(create, !create)
	written, said := columns[rel.Name]
	return written || !said && !restricted
}

// checkJoinRows refuses a row of a many2many join table of which a half is 0.
func (p *Plugin) checkJoinRows(stmt *gorm.Statement, rows rowsOf) error {
	for _, link := range joinLinks(stmt.Schema) {
		if !p.fills(link.schema, link.ref.PrimaryKey) {
			continue
		}
		for i := range rows.n {
			row := rows.at(i)
			if row.Kind() != reflect.Struct {
				return nil
			}
			if _, zero := link.ref.ForeignKey.ValueOf(stmt.Context, row); zero {
				return fmt.Errorf("%s of row %d would be 0: the %s was not written, and the row that it collided with is not found by any unique index of columns",
					link.ref.ForeignKey.Name, i, link.schema.Name)
			}
		}
	}
	return nil
}

// A joinLink is one half of a join row.
type joinLink struct {
	schema *schema.Schema // what it refers to
	ref    *schema.Reference
}

// joinLinks are the foreign keys that are parts of the row's own key and refer to a row that
// no field holds: gorm makes such relations for join tables.
func joinLinks(s *schema.Schema) (links []joinLink) {
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	for _, rel := range s.Relationships.Relations {
		if rel.Type != schema.BelongsTo {
			continue
		}
		for _, ref := range rel.References {
			if !ref.OwnPrimaryKey && ref.PrimaryKey != nil && ref.ForeignKey.PrimaryKey {
				links = append(links, joinLink{rel.FieldSchema, ref})
			}
		}
	}
	return links
}

// fills reports whether the plugin fills a key.
func (p *Plugin) fills(s *schema.Schema, f *schema.Field) bool {
	for _, t := range p.plan(s, "").targets {
		if t.field == f && t.source != nil {
			return true
		}
	}
	return false
}
