package gormplugin

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"gorm.io/gorm/schema"
)

// The words of the tag that are not the name of a source.
const (
	wordNever   = "-"       // not filled, though it is a key of type sqltype.ID
	wordDecimal = "decimal" // how a string key is written; the default
	wordBase62  = "base62"
)

// order is what the tag snowflake, or a table in the Config, says of a field.
type order struct {
	source string // a name in Config.Named; empty: Config.Source
	base62 bool
	never  bool
}

// readTag reads the field's own tag: snowflake, snowflake:orders,
// snowflake:base62, snowflake:orders,base62, snowflake:-. TagSettings will not
// do: gorm copies the tag of an embedding field into every embedded one's.
func readTag(f *schema.Field) (o order, tagged bool, err error) {
	text, tagged := schema.ParseTagSetting(f.Tag.Get("gorm"), ";")["SNOWFLAKE"]
	if !tagged || strings.EqualFold(text, "snowflake") { // how gorm says that a tag has no value
		return order{}, tagged, nil
	}
	o, err = parseOrder(text)
	return o, true, err
}

// parseOrder reads what stands behind the colon: words between commas.
func parseOrder(text string) (o order, err error) {
	for word := range strings.SplitSeq(text, ",") {
		switch word = strings.TrimSpace(word); {
		case word == "" || word == wordDecimal:
		case word == wordNever:
			o.never = true
		case word == wordBase62:
			o.base62 = true
		case o.source != "":
			return order{}, fmt.Errorf("the tag snowflake:%s names two sources, %q and %q", text, o.source, word)
		default:
			o.source = word
		}
	}
	return o, nil
}

// resembles reports whether a word of a tag may be a misspelling of another: both begin alike,
// or differ in at most two letters that are changed, added or removed.
func resembles(word, want string) bool {
	if strings.HasPrefix(word, want[:4]) {
		return true
	}
	row := make([]int, len(want)+1) // Levenshtein's distance of each beginning of want
	for j := range row {
		row[j] = j
	}
	for i := range len(word) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(want) {
			change := diagonal
			if word[i] != want[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(want)] <= 2
}

// checkSourceName says why the name is none that a tag can give.
func checkSourceName(name string) error {
	switch {
	case name == "" || strings.ContainsAny(name, ",;:\"\\") || strings.ContainsFunc(name, unicode.IsSpace):
		return errors.New("not a name that a tag can say")
	case name == wordNever || name == wordDecimal || name == wordBase62 || strings.EqualFold(name, "snowflake"):
		return errors.New("the word has another meaning in the tag")
	}
	return nil
}
