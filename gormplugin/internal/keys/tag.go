package keys

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"gorm.io/gorm/schema"
)

// What a tag or a Table may say beside the name of a source.
const (
	never       = "-"       // not filled, though it is a key of type sqltype.ID
	decimalText = "decimal" // the form of a string key; the default
	base62Text  = "base62"
)

// options is what the tag snowflake, or a Table, says of a field.
type options struct {
	source string // a name in Config.Named; empty: Config.Source
	base62 bool
	never  bool
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
		return errors.New("has another meaning in the tag")
	}
	return nil
}

// resembles reports whether a name in a tag may be a misspelling of another: both begin alike,
// or differ in at most two letters that are changed, added or removed.
func resembles(name, want string) bool {
	if strings.HasPrefix(name, want[:4]) {
		return true
	}
	row := make([]int, len(want)+1) // the Levenshtein distance to each prefix of want
	for j := range row {
		row[j] = j
	}
	for i := range len(name) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(want) {
			change := diagonal
			if name[i] != want[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(want)] <= 2
}
