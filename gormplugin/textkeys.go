package gormplugin

import (
	"context"
	"fmt"
	"reflect"
	"strconv"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// gorm copies the keys of most integer types into foreign keys that are texts as
// Go converts them: 65 becomes "A", and every Snowflake id U+FFFD. Graphs get digits
// instead; where gorm itself would copy, it is an error.

// makesRune reports whether gorm's setter does that to a reference. It is tried, for
// the setter's rules are many.
func makesRune(ref *schema.Reference) bool {
	from, to := ref.PrimaryKey, ref.ForeignKey
	if from == nil || to == nil || ref.PrimaryValue != "" || from.Serializer != nil || to.Serializer != nil {
		return false
	}
	if base(to.FieldType).Kind() != reflect.String {
		return false
	}
	if _, ok := digits(reflect.Zero(base(from.FieldType))); !ok && base(from.FieldType) != nullType {
		return false
	}
	const bell = 7
	ctx := context.Background()
	parent, child := reflect.New(from.Schema.ModelType).Elem(), reflect.New(to.Schema.ModelType).Elem()
	if from.Set(ctx, parent, int64(bell)) != nil {
		return false
	}
	value, _ := from.ValueOf(ctx, parent)
	if to.Set(ctx, child, value) != nil {
		return false
	}
	leaf := indirect(to.ReflectValueOf(ctx, child))
	return leaf.IsValid() && leaf.String() == string(rune(bell))
}

func base(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// digits is the decimal text of an integer, if v is or points to one.
func digits(v reflect.Value) (string, bool) {
	if v = indirect(v); !v.IsValid() {
		return "", false
	}
	switch {
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), true
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), true
	case v.Type() == nullType && v.Field(1).Bool():
		return strconv.FormatInt(v.Field(0).Int(), 10), true
	}
	return "", false
}

// setText sets a leaf that is a text or points to one.
func setText(leaf reflect.Value, text string, log *undoLog) {
	if now := indirect(leaf); now.IsValid() && now.String() == text {
		return
	}
	log.save(leaf)
	for leaf.Kind() == reflect.Pointer {
		// A new one: what it pointed to may be another row's.
		leaf.Set(reflect.New(leaf.Type().Elem()))
		leaf = leaf.Elem()
	}
	leaf.SetString(text)
}

// lossy finds the relations whose references gorm would copy so.
func lossy(s *schema.Schema) (rels []*schema.Relationship) {
	r := &s.Relationships
	for _, list := range [][]*schema.Relationship{r.BelongsTo, r.HasOne, r.HasMany, r.Many2Many} {
		for _, rel := range list {
			for _, ref := range rel.References {
				if makesRune(ref) {
					rels = append(rels, rel)
					break
				}
			}
		}
	}
	return rels
}

// checkTexts refuses the associations that gorm would save under a lost key,
// before anything is written.
func checkTexts(stmt *gorm.Statement, pl *plan, rows rowsOf, create bool) error {
	if len(pl.lossy) == 0 || chainOf(stmt) != nil {
		return nil
	}
	columns, restricted := stmt.SelectAndOmitColumns(create, !create)
	for _, rel := range pl.lossy {
		if written, said := columns[rel.Name]; said && !written || !said && restricted {
			continue
		}
		for i := range rows.n {
			row := rows.at(i)
			if row.Kind() != reflect.Struct || row.Type() != stmt.Schema.ModelType {
				break
			}
			v := fieldAt(row, rel.Field.StructField.Index)
			if !v.IsValid() || v.IsZero() {
				continue
			}
			if v = indirect(v); v.Kind() == reflect.Slice && v.Len() == 0 {
				continue
			}
			for _, ref := range rel.References {
				if makesRune(ref) {
					return fmt.Errorf("%s is of type %v and refers to %s of type %v, which gorm would copy as a character, not as a number: write the rows with gormplugin.Create, or make the types the same",
						fieldName(ref.ForeignKey.Schema, ref.ForeignKey), ref.ForeignKey.FieldType,
						fieldName(ref.PrimaryKey.Schema, ref.PrimaryKey), ref.PrimaryKey.FieldType)
				}
			}
		}
	}
	return nil
}
