package rows

import "gorm.io/gorm"

// Selection is what Select and Omit say of columns and relations. The zero value keeps all.
type Selection struct {
	Named      map[string]bool // false: by Omit
	Restricted bool            // what is not named is left out
}

// SelectedInCreate returns the selection of a create.
func SelectedInCreate(stmt *gorm.Statement) Selection {
	named, restricted := stmt.SelectAndOmitColumns(true, false)
	return Selection{named, restricted}
}

// SelectedInUpdate returns the selection of an update.
func SelectedInUpdate(stmt *gorm.Statement) Selection {
	named, restricted := stmt.SelectAndOmitColumns(false, true)
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
