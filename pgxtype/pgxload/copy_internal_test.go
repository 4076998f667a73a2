package pgxload

import "testing"

// PostgreSQL tells the place of an error in the language of the server, after
// the places in the functions that were called.
func TestCopyLine(t *testing.T) {
	for _, tt := range []struct {
		where, relation string
		line            int
		column          string
	}{
		{"COPY lines, line 3", "lines", 3, ""},
		{"COPY lines, line 3, column sku", "lines", 3, "sku"},
		{"COPY lines, Zeile 12, Spalte sku", "lines", 12, "sku"},
		{"COPY lines, ligne 7, colonne a, b", "lines", 7, "a, b"},
		{"COPY lines, 行 5, 列 sku", "lines", 5, "sku"},
		{"COPY lines, línea 9", "lines", 9, ""},
		{"PL/pgSQL function picky() line 1 at RAISE\nCOPY lines, line 42", "lines", 42, ""},
		{"COPY other, line 1\nSQL statement \"COPY other\"\nCOPY lines, line 2", "lines", 2, ""},
		{"COPY a, line 5, line 3", "a, line 5", 3, ""},
		{"COPY lines, line 3, column x, line 7", "lines", 3, "x, line 7"},
		{"COPY lines2, line 3", "lines", 0, ""},
		{"COPY lines", "lines", 0, ""},
		{"COPY lines, line 99999999999999999999", "lines", 0, ""},
		{"SQL statement \"SELECT 1\"", "lines", 0, ""},
		{"", "lines", 0, ""},
	} {
		t.Run(tt.where, func(t *testing.T) {
			if line, column := copyLine(tt.where, tt.relation); line != tt.line || column != tt.column {
				t.Errorf("%q of %q: line %d, column %q; want %d, %q", tt.where, tt.relation, line, column, tt.line, tt.column)
			}
		})
	}
}
