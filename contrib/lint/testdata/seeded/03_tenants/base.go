// Package tenants has the models of a hosted product: tenants, members and their documents.
package tenants

import "time"

// Base is embedded by all models.
type Base struct {
	ID        int64 `gorm:"primaryKey;autoIncrement:false"` // FAULT 013 class 1: an embedded key without snowflake; go-gorm/gorm#785
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Entity is embedded by models that name their owner.
type Entity[Owner any] struct {
	ID      int64 `gorm:"primaryKey;snowflake"` // FAULT 014 class 1: an embedded generic struct without autoIncrement:false
	OwnerID int64
	Owner   *Owner
}

// Stamped is embedded by models whose keys are filled.
type Stamped struct {
	ID        int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	CreatedAt time.Time
}
