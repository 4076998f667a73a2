package gormplugin

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/dialect"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/insert"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// checkRows refuses rows on which gorm would panic with its transaction left open, and nil rows,
// which gorm refuses only after it has written their associations.
func checkRows(stmt *gorm.Statement, list *rows.Rows) error {
	switch stmt.Dest.(type) {
	case map[string]any, *map[string]any, []map[string]any, *[]map[string]any:
		for i := range list.Len {
			if list.At(i).IsNil() { // gorm would make a row without a key of it
				return fmt.Errorf("a nil map cannot be given a key: %w", gorm.ErrInvalidData)
			}
		}
		return nil
	}
	if list.Len == 0 || stmt.Schema == nil {
		return nil // gorm refuses it
	}
	model := stmt.Schema.ModelType
	if list.Are(model) {
		return nil
	}
	for i := range list.Len {
		row := list.At(i)
		switch {
		case !row.IsValid():
			return fmt.Errorf("row %d is nil: %w", i, gorm.ErrInvalidData)
		case row.Type() == model || row.Kind() == reflect.Struct && row.Type().ConvertibleTo(model): // the same fields under another name
		default:
			return fmt.Errorf("row %d is of type %s: create %[3]s, []%[3]s, []*%[3]s, map[string]any or []map[string]any: %w",
				i, keys.TypeName(row.Type()), keys.TypeName(model), gorm.ErrInvalidData)
		}
	}
	return nil
}

// checkLists refuses nil in the lists of associations. gorm panics on it when the row itself is
// written.
func checkLists(stmt *gorm.Statement, list *rows.Rows) error {
	if stmt.Schema == nil {
		return nil
	}
	var selected rows.Selection
	if len(stmt.Selects)+len(stmt.Omits) > 0 {
		selected = rows.SelectedInCreate(stmt)
	}
	for _, rel := range slices.Concat(stmt.Schema.Relationships.HasMany, stmt.Schema.Relationships.Many2Many) {
		if rel.Field.IndirectFieldType.Elem().Kind() != reflect.Pointer || !selected.Has(rel.Name) {
			continue
		}
		for i, row := range list.Models() {
			children := rows.Indirect(rows.Field(row, rel.Field.StructField.Index))
			if !children.IsValid() {
				continue
			}
			for j := range children.Len() {
				if children.Index(j).IsNil() {
					return fmt.Errorf("%s[%d] of row %d is nil: %w", keys.FieldName(rel.Field), j, i, gorm.ErrInvalidData)
				}
			}
		}
	}
	return nil
}

// checkLosses refuses associations whose foreign keys gorm would set to another value than the
// key, before anything is written.
func checkLosses(stmt *gorm.Statement, plan *keys.Plan, list *rows.Rows, of func(*gorm.Statement) rows.Selection) error {
	if len(plan.Losses) == 0 || insert.Of(stmt) != nil { // the graph writer checks its own
		return nil
	}
	selected := of(stmt)
	for i := range plan.Losses {
		lost := &plan.Losses[i]
		if !selected.Has(lost.Relation.Name) {
			continue
		}
		for _, row := range list.Models() {
			if row.Type() == stmt.Schema.ModelType && rows.Holds(row, lost.Relation) {
				return lost.Err()
			}
		}
	}
	return nil
}

// checkInsert looks at the keys and foreign keys of the rows after the hooks, before they are
// written.
func (p *Plugin) checkInsert(stmt *gorm.Statement) error {
	list := rows.Of(stmt.ReflectValue)
	if err := p.checkLinks(stmt, &list, rows.SelectedInCreate); err != nil {
		return err
	}
	hooked := hasCreateHook(stmt)
	columns := p.Keys().Plan(stmt.Schema, stmt.Table).Columns
	for i := range columns {
		c := &columns[i]
		if c.Source != nil && (!hooked || !c.Field.PrimaryKey) {
			continue
		}
		if missing, err := c.Missing(&list); err != nil {
			return err
		} else if missing > 0 {
			return c.ErrNotSet()
		}
	}
	return nil
}

// checkLinks refuses foreign keys that gorm has set to zero. A row that gorm saves before another
// has no key if it collided with a row that was not found.
func (p *Plugin) checkLinks(stmt *gorm.Statement, list *rows.Rows, of func(*gorm.Statement) rows.Selection) error {
	for _, rel := range stmt.Schema.Relationships.BelongsTo {
		for i, row := range list.Models() {
			parent := rows.Indirect(rows.Field(row, rel.Field.StructField.Index))
			if !parent.IsValid() || parent.IsZero() {
				continue // gorm saves none
			}
			if ref := p.unsetReference(rel, parent); ref != nil && of(stmt).Has(rel.Name) {
				return errNotFound(i, keys.FieldName(ref.ForeignKey), keys.FieldName(rel.Field))
			}
		}
	}
	return p.checkJoinRows(stmt, list)
}

// unsetReference returns a reference whose key the parent lacks, though the plugin fills it.
func (p *Plugin) unsetReference(rel *schema.Relationship, parent reflect.Value) *schema.Reference {
	for _, ref := range rel.References {
		if ref.OwnPrimaryKey || ref.PrimaryKey == nil || !p.Keys().Fills(ref.PrimaryKey) {
			continue
		}
		if v := rows.Field(parent, ref.PrimaryKey.StructField.Index); !v.IsValid() || v.IsZero() {
			return ref
		}
	}
	return nil
}

// checkJoinRows refuses rows of a many2many join table in which a foreign key is 0.
func (p *Plugin) checkJoinRows(stmt *gorm.Statement, list *rows.Rows) error {
	for _, ref := range joinReferences(stmt.Schema) {
		if !p.Keys().Fills(ref.PrimaryKey) {
			continue
		}
		for i, row := range list.Models() {
			if _, zero := ref.ForeignKey.ValueOf(stmt.Context, row); zero {
				return errNotFound(i, ref.ForeignKey.Name, "the "+ref.PrimaryKey.Schema.Name)
			}
		}
	}
	return nil
}

func errNotFound(row int, foreignKey, parent string) error {
	return fmt.Errorf("%s of row %d would be 0: %s was not written, and the row that it collided with is not found by any unique index of columns",
		foreignKey, row, parent)
}

// joinReferences returns the foreign keys that are parts of the row's own key and refer to a row
// that no field holds. gorm makes such relations for join tables.
func joinReferences(s *schema.Schema) (found []*schema.Reference) {
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	for _, rel := range s.Relationships.Relations {
		if rel.Type != schema.BelongsTo {
			continue
		}
		for _, ref := range rel.References {
			if !ref.OwnPrimaryKey && ref.PrimaryKey != nil && ref.ForeignKey.PrimaryKey {
				found = append(found, ref)
			}
		}
	}
	return found
}

// collationKey names a table whose collations were checked.
type collationKey struct {
	handle any // the same for all sessions of one gorm.Open
	table  string
}

// checkCollations refuses rows with a base 62 id if the column's collation in MySQL or MariaDB
// ignores case: one id in a few thousand would be refused as a duplicate. It queries the
// database once for each table.
func (p *Plugin) checkCollations(stmt *gorm.Statement, columns []keys.Column) error {
	known := collationKey{stmt.Callback(), stmt.Table}
	if stmt.Name() != "mysql" || stmt.DryRun || !slices.ContainsFunc(columns, func(c keys.Column) bool { return c.IsBase62() }) {
		return nil
	}
	if _, ok := p.collations.Load(known); ok {
		return nil
	}
	collations, err := dialect.Collations(stmt.DB)
	if err != nil {
		return fmt.Errorf("look up the collations of its columns: %w", err)
	}
	for _, c := range columns {
		if collation := collations[strings.ToLower(c.DBName)]; c.IsBase62() && strings.HasSuffix(collation, "_ci") {
			return fmt.Errorf("%s: the collation of its column is %q, which ignores case, and base 62 does not: make the column char(11) CHARACTER SET ascii COLLATE ascii_bin", c.Name, collation)
		}
	}
	if len(collations) > 0 {
		p.collations.Store(known, true)
	}
	return nil
}
