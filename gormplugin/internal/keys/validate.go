package keys

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// Validate is gormplugin.Validate. r may be nil.
func (r *Registry) Validate(db *gorm.DB, models []any) error {
	var faults []error
	var notes []string
	checked := map[any]bool{} // types of keys, and foreign keys
	for _, model := range models {
		stmt := &gorm.Statement{DB: db}
		if err := stmt.Parse(model); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", TypeName(reflect.TypeOf(model)), err))
			continue
		}
		fields, unfit := r.keyFields(stmt.Schema, "")
		faults = append(faults, unfit...)
		if err := unkeyed(stmt.Schema, fields); err != nil && len(unfit) == 0 && !r.Exempts(stmt.Schema, stmt.Schema.Table) {
			faults = append(faults, err)
		}
		for _, f := range fields {
			if err := r.validateField(f, db.Name()); err != nil {
				faults = append(faults, err)
			}
		}
		faults = append(faults, r.typeFaults(stmt.Schema, db.Name(), checked)...)
		notes = append(notes, notesOf(stmt.Schema)...)
	}
	if len(notes) > 0 {
		db.Logger.Warn(context.Background(), "snowkey: %s", strings.Join(notes, "; "))
	}
	if len(faults) > 0 {
		return fmt.Errorf("gormplugin: %w", errors.Join(faults...))
	}
	return nil
}

// notesOf warns of what is right for the database, but wrong elsewhere: a nil pointer to an id panics
// where gorm calls its method Value, and an integer is a number in JSON.
func notesOf(s *schema.Schema) (notes []string) {
	for _, f := range s.Fields {
		if f.FieldType.Kind() == reflect.Pointer && !f.PrimaryKey && rows.IsID(f.IndirectFieldType) {
			notes = append(notes, fmt.Sprintf("%s: a nil %s panics in some conditions of gorm: use sqltype.NullID or sqltype.NullKey", FieldName(f), TypeName(f.FieldType)))
		}
	}
	for _, ref := range references(s) {
		name, options, _ := strings.Cut(ref.ForeignKey.Tag.Get("json"), ",")
		if t := ref.ForeignKey.FieldType; rows.IsInteger(t) && !isDefined(rows.Base(t)) && rows.IsID(ref.PrimaryKey.IndirectFieldType) && name != "-" && !strings.Contains(options, "string") {
			notes = append(notes, fmt.Sprintf("%s: its JSON is a number, which JavaScript rounds: use %s", FieldName(ref.ForeignKey), TypeName(ref.PrimaryKey.IndirectFieldType)))
		}
	}
	return notes
}

func (r *Registry) validateField(f keyField, database string) error {
	if f.required {
		return nil
	}
	c, err := r.column(f, database)
	if err != nil {
		return err
	}
	tag, columnType := f.Tag.Get("gorm"), strings.ToLower(string(f.DataType))
	switch {
	case strings.Contains(columnType, "serial") || strings.Contains(columnType, "auto_increment") || strings.Contains(columnType, "identity"):
		return fmt.Errorf("%s: the type in its gorm tag %q makes keys in the database: say bigint", c.Name, tag)
	case tooNarrow(strings.ToLower(f.TagSettings["TYPE"]), c.Kind, database):
		return fmt.Errorf("%s: the type in its gorm tag %q is too small for a key of 63 bits: say %s", c.Name, tag, columnFor(c.Kind))
	}
	return nil
}

var (
	smallInteger = regexp.MustCompile(`^(tinyint|smallint|mediumint|int|integer|int[1-4]|year)\b`)
	inexact      = regexp.MustCompile(`^(float|double|real)`)
	shortText    = regexp.MustCompile(`^(?:var|n|nvar)?char(?:acter)?(?: varying)?\s*\((\d+)\)`)
)

// tooNarrow reports whether a column's type cannot hold every id of the kind.
func tooNarrow(columnType string, k Kind, database string) bool {
	if inexact.MatchString(columnType) {
		return true
	}
	if m := shortText.FindStringSubmatch(columnType); m != nil {
		n, err := strconv.Atoi(m[1])
		return err == nil && n < max(k.digits(), base62Digits)
	}
	return smallInteger.MatchString(columnType) && database != "sqlite" // there, every integer has 64 bits
}

func columnFor(k Kind) string {
	if n := k.digits(); n > 0 {
		return fmt.Sprintf("char(%d)", n)
	}
	return "bigint"
}
