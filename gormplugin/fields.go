package gormplugin

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gorm.io/gorm/schema"
)

// snowflakeField is a field of a model that is to be filled, and how.
type snowflakeField struct {
	*schema.Field
	order order
	given bool // not filled, and must be set: an untagged part of a composite key
}

// snowflakeFields finds the fields that are tagged or named in Config.Tables, a
// sole key whose type needs no tag, and the parts of a composite key that must be set. A nil
// plugin has no tables. other is empty, or the table that replaces the model's.
func (p *Plugin) snowflakeFields(s *schema.Schema, other string) (fields []snowflakeField, faults []error) {
	table, configured := p.table(cmp.Or(other, s.Table))
	met := !configured // the column of Config.Tables
	for _, f := range s.Fields {
		o, tagged, err := readTag(f)
		if err == nil {
			err = misplaced(f, tagged)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", fieldName(s, f), err))
			continue
		}
		if f.DBName == "" || s.FieldsByDBName[f.DBName] != f || o.never { // a shadowed field is no column
			continue
		}
		if configured && strings.EqualFold(table.column, f.DBName) {
			met = true
			if !tagged {
				o.base62 = table.kind == base62
			} else if table.kind != signed && o.base62 != (table.kind == base62) {
				faults = append(faults, fmt.Errorf("%s: its tag and Text in Config.Tables for %s give one column two forms, and base62 is one of them: say the same in both",
					fieldName(s, f), table.name))
				continue
			}
			if o.source == "" {
				o.source = table.sourceName
			}
			tagged = true
		}
		sole := len(s.PrimaryFields) == 1 && s.PrimaryFields[0] == f
		switch {
		case tagged || sole && f.IndirectFieldType == idType:
			fields = append(fields, snowflakeField{Field: f, order: o})
		case !sole && f.PrimaryKey && f.TagSettings["DEFAULT"] == "" && (f.IndirectFieldType == idType || f.IndirectFieldType == nullType) && !isForeignKey(s, f):
			fields = append(fields, snowflakeField{Field: f, given: true})
		case sole && f.IndirectFieldType == nullType && !isForeignKey(s, f):
			faults = append(faults, fmt.Errorf("%s: a key of type sqltype.NullID is filled by the tag snowflake only: use sqltype.ID", fieldName(s, f)))
		}
	}
	if !met {
		faults = append(faults, fmt.Errorf("%s has no column %q, which Config.Tables names for %q: it has %q", modelName(s), table.column, bareName(cmp.Or(other, s.Table)), s.DBNames))
	}
	return fields, faults
}

// misplaced says why a tag that is there will not do what its writer wants.
func misplaced(f *schema.Field, tagged bool) error {
	_, ignored := f.TagSettings["-"]
	_, inherited := f.TagSettings["SNOWFLAKE"]
	misspelled := ""
	for _, word := range slices.Sorted(maps.Keys(f.TagSettings)) {
		if word != "SNOWFLAKE" && resembles(word, "SNOWFLAKE") {
			misspelled = strings.ToLower(word)
		}
	}
	word, outside := f.Tag.Lookup("snowflake")
	// Others read a tag of that name too, those for the warehouse of that name: on a field that is
	// no key it counts where it says what ours would.
	outside = outside && !tagged && (f.PrimaryKey || slices.Contains([]string{"", wordNever, wordDecimal, wordBase62}, word))
	switch {
	case misspelled != "":
		return fmt.Errorf("the gorm tag %q says %s: write snowflake, or snowflake:name with the name of a source", f.Tag.Get("gorm"), misspelled)
	case outside:
		return fmt.Errorf("the tag snowflake stands beside the gorm tag: write `gorm:\"%s\"`", strings.TrimPrefix(f.Tag.Get("gorm")+";snowflake", ";"))
	case !tagged && inherited:
		return errors.New("the tag snowflake stands on the field that embeds it: put it on the key itself, or embed gormplugin.Model")
	case tagged && !ignored && f.DBName == "":
		return fmt.Errorf("the tag snowflake stands on a field of type %v, which is no column", f.FieldType)
	}
	return nil
}

// isForeignKey reports whether the field holds another row's key. In the join
// tables that gorm makes, every field does.
func isForeignKey(s *schema.Schema, f *schema.Field) bool {
	// gorm adds to a parsed schema's relations when it meets another that has it.
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	for _, rel := range s.Relationships.Relations {
		if slices.ContainsFunc(rel.References, func(ref *schema.Reference) bool { return ref.ForeignKey == f }) {
			return true
		}
	}
	return false
}

// table finds what Config.Tables says of a table, whichever schema it is in.
func (p *Plugin) table(name string) (target, bool) {
	if p == nil || len(p.tables) == 0 {
		return target{}, false
	}
	t, ok := p.tables[bareName(name)]
	return t, ok
}
