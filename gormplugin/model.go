package gormplugin

import (
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Model is gorm.Model with a Snowflake key: embed it in a model.
type Model struct {
	ID        sqltype.ID `gorm:"primaryKey"`
	CreatedAt time.Time
	UpdatedAt time.Time
	DeletedAt gorm.DeletedAt `gorm:"index"`
}
