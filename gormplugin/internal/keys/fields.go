package keys

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// keyField is a field of a model that is filled or must be set.
type keyField struct {
	*schema.Field
	options  options
	required bool // not filled: an untagged part of a composite key
}

// keyFields finds the fields that are tagged or named in Config.Tables, a sole key whose type
// needs no tag, and the parts of a composite key that must be set. other is empty, or the table
// that replaces the model's. A nil Registry has no tables.
func (r *Registry) keyFields(s *schema.Schema, other string) (fields []keyField, faults []error) {
	name := cmp.Or(other, s.Table)
	table, configured := r.table(name)
	met := !configured // the column in Config.Tables
	for _, f := range s.Fields {
		o, tagged, err := readTag(f)
		if err == nil {
			err = checkTagPlace(f, tagged)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", FieldName(f), err))
			continue
		}
		if f.DBName == "" || s.FieldsByDBName[f.DBName] != f || o.never { // a shadowed field has no column
			continue
		}
		if configured && strings.EqualFold(table.DBName, f.DBName) {
			met = true
			if !tagged {
				o.base62 = table.Kind == base62
			} else if table.Kind != signed && o.base62 != (table.Kind == base62) {
				faults = append(faults, fmt.Errorf("%s: the tag and Text in Config.Tables for %s contradict each other: one says base62, the other does not",
					FieldName(f), table.Name))
				continue
			}
			o.source = cmp.Or(o.source, table.SourceName)
			tagged = true
		}
		sole := len(s.PrimaryFields) == 1 && s.PrimaryFields[0] == f
		isID, isNull := rows.IsID(f.IndirectFieldType), rows.IsNull(f.IndirectFieldType)
		switch {
		case tagged || sole && isID:
			fields = append(fields, keyField{Field: f, options: o})
		case !f.PrimaryKey || !isID && !isNull || isForeignKey(s, f):
		case sole:
			faults = append(faults, fmt.Errorf("%s: a key of type %s is filled only with the tag snowflake: add it, or use sqltype.ID or sqltype.Key",
				FieldName(f), TypeName(f.IndirectFieldType)))
		case f.TagSettings["DEFAULT"] == "":
			fields = append(fields, keyField{Field: f, required: true})
		}
	}
	if !met {
		faults = append(faults, fmt.Errorf("%s has no column %q, which Config.Tables names for %q: it has %q", modelName(s), table.DBName, bareName(name), s.DBNames))
	}
	return fields, faults
}

// checkTagPlace returns why a tag has no effect: it is misspelled, or in the wrong place.
func checkTagPlace(f *schema.Field, tagged bool) error {
	_, ignored := f.TagSettings["-"]
	_, inherited := f.TagSettings["SNOWFLAKE"]
	misspelled := ""
	for _, setting := range slices.Sorted(maps.Keys(f.TagSettings)) {
		if setting != "SNOWFLAKE" && resembles(setting, "SNOWFLAKE") {
			misspelled = strings.ToLower(setting)
		}
	}
	value, outside := f.Tag.Lookup("snowflake")
	// Packages for the data warehouse read a tag of that name too: on a field that is no key, it
	// counts only with a value of ours.
	outside = outside && !tagged && (f.PrimaryKey || slices.Contains([]string{"", never, decimalText, base62Text}, value))
	switch {
	case misspelled != "":
		return fmt.Errorf("the gorm tag %q says %s: write snowflake, or snowflake:name with the name of a source", f.Tag.Get("gorm"), misspelled)
	case outside:
		return fmt.Errorf("the tag snowflake is beside the gorm tag: write `gorm:\"%s\"`", strings.TrimPrefix(f.Tag.Get("gorm")+";snowflake", ";"))
	case !tagged && inherited:
		return errors.New("the tag snowflake is on the field that embeds it: put it on the key itself, or embed gormplugin.Model")
	case tagged && !ignored && f.DBName == "":
		return fmt.Errorf("the tag snowflake is on a field of type %v, which is no column", f.FieldType)
	}
	return nil
}

// isForeignKey reports whether the field holds another row's key. In the join tables that gorm
// makes, every field does.
func isForeignKey(s *schema.Schema, f *schema.Field) bool {
	// gorm adds to the relations of a parsed schema when it meets another that refers to it.
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	for _, rel := range s.Relationships.Relations {
		if slices.ContainsFunc(rel.References, func(ref *schema.Reference) bool { return ref.ForeignKey == f }) {
			return true
		}
	}
	return false
}
