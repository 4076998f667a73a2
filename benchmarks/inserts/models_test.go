package inserts

import (
	"database/sql/driver"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The same two tables with keys of four kinds.

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

type ByteMaster struct { // a UUID of version 7, in 16 bytes
	ID      binaryUUID   `gorm:"primaryKey"`
	Name    string       `gorm:"size:40"`
	Details []ByteDetail `gorm:"foreignKey:MasterID"`
}

type ByteDetail struct {
	ID       binaryUUID `gorm:"primaryKey"`
	MasterID binaryUUID `gorm:"index"`
	Position int
	Text     string `gorm:"size:40"`
}

type binaryUUID uuid.UUID

func (u binaryUUID) Value() (driver.Value, error) { return u[:], nil }
func (u *binaryUUID) Scan(v any) error            { copy(u[:], v.([]byte)); return nil }
func (binaryUUID) GormDataType() string           { return "bytes" }
func (binaryUUID) GormDBDataType(db *gorm.DB, _ *schema.Field) string {
	return map[string]string{"postgres": "bytea", "mysql": "binary(16)", "sqlite": "blob"}[db.Name()]
}
