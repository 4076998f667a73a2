package ids

import (
	"reflect"
	"strings"
)

// A Setting is one part of a gorm tag, such as size:11.
type Setting struct {
	Name  string // in upper case
	Text  string // as it is in the tag, with its value
	Value string
}

// Settings splits a gorm tag as gorm does.
func Settings(tag string) (all []Setting) {
	parts := strings.Split(tag, ";")
	for i := 0; i < len(parts); i++ {
		text := parts[i]
		for strings.HasSuffix(text, `\`) && i+1 < len(parts) { // an escaped semicolon
			i++
			text = text[:len(text)-1] + ";" + parts[i]
		}
		name, value, _ := strings.Cut(text, ":")
		if name = strings.ToUpper(strings.TrimSpace(name)); name != "" {
			all = append(all, Setting{Name: name, Text: text, Value: strings.TrimSpace(value)})
		}
	}
	return all
}

// Find returns the setting of a name, and whether there is one.
func Find(all []Setting, names ...string) (Setting, bool) {
	for _, s := range all {
		for _, name := range names {
			if s.Name == name {
				return s, true
			}
		}
	}
	return Setting{}, false
}

// tagged returns the kind of a field that a tag makes the plugin fill.
func tagged(tag string) Kind {
	if !strings.Contains(strings.ToUpper(tag), "SNOWFLAKE") {
		return None
	}
	s, ok := Find(Settings(reflect.StructTag(tag).Get("gorm")), "SNOWFLAKE")
	if !ok || s.Value == "-" {
		return None
	}
	for option := range strings.SplitSeq(s.Value, ",") {
		if strings.TrimSpace(option) == "base62" {
			return Short
		}
	}
	return Number
}
