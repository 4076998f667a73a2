package rows

import "gorm.io/gorm"

// Selection is what Select and Omit say of columns and relations. The zero value keeps all.
type Selection struct {
	Named      map[string]bool // false: by Omit
	Restricted bool            // what is not named is left out
}

// Selected returns the selection of a create, or of an update.
func Selected(stmt *gorm.Statement, create bool) Selection {
	named, restricted := stmt.SelectAndOmitColumns(create, !create)
	return Selection{named, restricted}
}

// Has reports whether the statement writes a column or saves a relation.
func (s Selection) Has(name string) bool {
	selected, named := s.Named[name]
	return selected || !named && !s.Restricted
}

// Omits reports whether Omit names a column or a relation.
func (s Selection) Omits(name string) bool {
	selected, named := s.Named[name]
	return named && !selected
}
