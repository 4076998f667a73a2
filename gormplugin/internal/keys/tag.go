package keys

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gorm.io/gorm/schema"
)

// What a tag or a Table may say next to the name of a source.
const (
	never       = "-"       // not filled, though it is a key of type sqltype.ID
	decimalText = "decimal" // the form of a string key; the default
	base62Text  = "base62"
)

// options is what the tag snowflake, or a Table, says of a field.
type options struct {
	source     string // a name in Config.Named; empty: Config.Source
	base62     bool
	never      bool
	configured bool // in Config.Tables: the model may lack tags
}

// readTag reads the field's own tag: snowflake, snowflake:orders, snowflake:base62,
// snowflake:orders,base62 or snowflake:-. It does not use TagSettings: gorm copies the tag of
// an embedding field to every embedded one.
func readTag(f *schema.Field) (o options, tagged bool, err error) {
	text, tagged := schema.ParseTagSetting(f.Tag.Get("gorm"), ";")["SNOWFLAKE"]
	if !tagged || strings.EqualFold(text, "snowflake") { // gorm's value of a tag without one
		return options{}, tagged, nil
	}
	o, err = parseOptions(text)
	return o, true, err
}

// parseOptions reads what follows the colon, separated by commas.
func parseOptions(text string) (o options, err error) {
	for option := range strings.SplitSeq(text, ",") {
		switch option = strings.TrimSpace(option); {
		case option == "" || option == decimalText:
		case option == never:
			o.never = true
		case option == base62Text:
			o.base62 = true
		case o.source != "":
			return options{}, fmt.Errorf("the tag snowflake:%s names two sources, %q and %q", text, o.source, option)
		default:
			o.source = option
		}
	}
	return o, nil
}

// checkSourceName says why a tag cannot name the source.
func checkSourceName(name string) error {
	switch {
	case name == "" || strings.ContainsAny(name, ",;:\"\\") || strings.ContainsFunc(name, unicode.IsSpace):
		return errors.New("must be a name that a tag can contain: not empty, without spaces and , ; : \" \\")
	case name == never || name == decimalText || name == base62Text || strings.EqualFold(name, "snowflake"):
		return errors.New("has another meaning in a tag: choose another name")
	}
	return nil
}

// checkTagPlace returns why a tag has no effect: it is misspelled, or in the wrong place.
func checkTagPlace(f *schema.Field, tagged bool) error {
	tag := f.Tag.Get("gorm")
	for setting := range f.TagSettings {
		if setting != "SNOWFLAKE" && (strings.HasPrefix(setting, "SNOW") || strings.Contains(setting, "FLAKE")) {
			return fmt.Errorf("the gorm tag %q says %s: write snowflake, or snowflake:name with the name of a source", tag, strings.ToLower(setting))
		}
	}
	_, ignored := f.TagSettings["-"]
	_, inherited := f.TagSettings["SNOWFLAKE"]
	value, outside := f.Tag.Lookup("snowflake")
	switch {
	// Packages for the data warehouse Snowflake read this tag too: only our own values count.
	case outside && !tagged && slices.Contains([]string{"", decimalText, base62Text}, value):
		return fmt.Errorf("put snowflake inside the gorm tag: `gorm:\"%s\"`", strings.TrimPrefix(tag+";snowflake", ";"))
	case !tagged && inherited:
		return errors.New("the tag snowflake is on the field that embeds it: put it on the key itself, or embed gormplugin.Model")
	case tagged && !ignored && f.DBName == "":
		return fmt.Errorf("the tag snowflake is on a field of type %v, which is no column", f.FieldType)
	}
	return nil
}
