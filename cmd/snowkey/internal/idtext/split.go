package idtext

import (
	"encoding/json"
	"strings"
	"unicode"
)

// Split returns the texts in a list that may be IDs: the items of JSON, SQL, CSV or a
// table, or on each line an object of JSON, whose "id" counts. Quotes are kept off.
func Split(text string) []string {
	ids := []string{}
	for line := range strings.Lines(text) {
		line = strings.Trim(line, " \t\r\n\ufeff")
		if strings.HasPrefix(line, "{") && strings.Contains(line, ":") {
			ids = append(ids, ofObject(line))
			continue
		}
		for _, item := range strings.FieldsFunc(line, func(r rune) bool {
			return unicode.IsSpace(r) || r == '\ufeff' || strings.ContainsRune(",;()[]{}|", r)
		}) {
			if item = Unquote(item); item != "" {
				ids = append(ids, item)
			}
		}
	}
	return ids
}

// ofObject returns the "id" of an object as it is written; other lines are returned
// whole, for an error to show.
func ofObject(line string) string {
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
