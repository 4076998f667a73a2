package inserts

import "github.com/seed-299c1d6b/snowkey/sqltype"

// The same two tables with keys of three kinds.

type SnowMaster struct {
	ID      sqltype.ID
	Name    string       `gorm:"size:40"`
	Details []SnowDetail `gorm:"foreignKey:MasterID"`
}

type SnowDetail struct {
	ID       sqltype.ID
	MasterID sqltype.ID `gorm:"index"`
	Position int
	Text     string `gorm:"size:40"`
}

type AutoMaster struct {
	ID      int64
	Name    string       `gorm:"size:40"`
	Details []AutoDetail `gorm:"foreignKey:MasterID"`
}

type AutoDetail struct {
	ID       int64
	MasterID int64 `gorm:"index"`
	Position int
	Text     string `gorm:"size:40"`
}

type TextMaster struct { // a UUID of version 4, as text
	ID      string       `gorm:"primaryKey;size:36"`
	Name    string       `gorm:"size:40"`
	Details []TextDetail `gorm:"foreignKey:MasterID"`
}

type TextDetail struct {
	ID       string `gorm:"primaryKey;size:36"`
	MasterID string `gorm:"index;size:36"`
	Position int
	Text     string `gorm:"size:40"`
}
