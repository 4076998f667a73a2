package describe

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
)

// longNumbers finds the ids in a URL.
var longNumbers = regexp.MustCompile(`\b\d{15,19}\b`)

var tableEnd = regexp.MustCompile(`^\s*(?:\(\d+ rows?\)|\d+ rows? in set\b)`)

// IsTableEnd reports whether a line is the count of rows that psql or mysql prints below a table.
func IsTableEnd(line string) bool { return tableEnd.MatchString(line) }

// Split returns the texts in a list that may be ids, without quotes: the items of JSON, SQL, CSV or a
// table, or the "id" of a JSON object on each line. Of a URL, such as a tweet's, it returns the numbers
// with 15 to 19 digits.
func Split(text string) (ids []string) {
	separates := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;|()[]{}\ufeff", r) }
	for line := range strings.Lines(text) {
		if object := strings.Trim(line, " \t\r\n\ufeff"); strings.HasPrefix(object, "{") && strings.Contains(object, ":") {
			ids = append(ids, objectID(object))
			continue
		}
		if IsTableEnd(line) {
			continue
		}
		for _, item := range strings.FieldsFunc(ungroup(line), separates) {
			id := Unquote(item)
			if found := longNumbers.FindAllString(id, -1); found != nil && strings.Contains(id, "://") {
				ids = append(ids, found...)
			} else if id != "" {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// grouped finds digits in groups of three, with the same separator between all.
var grouped = regexp.MustCompile(`\b[1-9]\d{0,2}(?:(?:,\d{3}){4,}|(?:\.\d{3}){4,}|(?:'\d{3}){4,}|(?:’\d{3}){4,}|(?:_\d{3}){4,}` +
	`|(?: \d{3}){4,}|(?:\x{a0}\d{3}){4,}|(?:\x{202f}\d{3}){4,})\b`)

// ungroup removes the separators from numbers of 13 to 21 digits, such as 1,996,573,624,012,345,677.
func ungroup(text string) string {
	return grouped.ReplaceAllStringFunc(text, func(found string) string {
		if digits := strings.Join(strings.FieldsFunc(found, func(r rune) bool { return !unicode.IsDigit(r) }), ""); len(digits) <= 21 {
			return digits
		}
		return found
	})
}

// objectID returns the "id" of a JSON object as it is written. It returns other lines unchanged, so that
// an error can show them.
func objectID(line string) string {
	var object struct {
		ID json.RawMessage `json:"id"` // a number may have more than 53 bits
	}
	if json.Unmarshal([]byte(line), &object) != nil || len(object.ID) == 0 {
		return line
	}
	return Unquote(string(object.ID))
}

// Unquote removes white space, one comma at the end, and one pair of quotes.
func Unquote(text string) string {
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), ","))
	if n := len(text); n > 1 && text[0] == text[n-1] && strings.IndexByte("\"'`", text[0]) >= 0 {
		return strings.TrimSpace(text[1 : n-1])
	}
	return text
}
