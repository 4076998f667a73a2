package tenants

import (
	"context"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
)

type Tenant struct {
	Base // ALSO 013: embeds it
	Name string
}

type Member struct {
	gorm.Model // FAULT 015 class 1: the key of gorm.Model is an auto-increment uint; embed gormplugin.Model; go-gorm/gorm#5268
	TenantID   int64
	Email      string
}

type Document struct {
	Entity[Tenant] `gorm:"embedded"` // ALSO 014: embeds it
	Title          string
}

type Comment struct {
	gormplugin.Model // OK 13: gorm.Model with a Snowflake key
	DocumentID       int64
	Text             string
}

type Reaction struct {
	Stamped
	CommentID int64
}

// ShardID is a number that we chose.
type ShardID int64

type Shard struct {
	ID  ShardID // FAULT 016 class 1: a key of a defined integer type, without any tag
	DSN string
}

// Membership has a key of two parts.
type Membership struct {
	TenantID int64 `gorm:"primaryKey;autoIncrement:false"` // OK 14: the caller sets it, the other part is filled
	Serial   int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	Role     string
}

// Install adds the plugin for all models of this package.
func Install(db *gorm.DB, gen *core.Generator) error {
	plugin, err := gormplugin.New(gormplugin.Config{
		Source: gen,
		Strict: true,
		Models: []any{Tenant{}, Member{}, Document{}, Comment{}, Reaction{}, Shard{}, Membership{}, Invite{}},
	})
	if err != nil {
		return err
	}
	return db.Use(plugin)
}

// Invite is the last of a list that grew.
type Invite struct {
	ID    string `gorm:"primaryKey;size:11;autoIncrement:false"` // FAULT 017 class 1: a text key that the plugin should fill, without snowflake:base62
	Email string
}

func Invites(ctx context.Context, db *gorm.DB, emails []string) error {
	rows := make([]Invite, len(emails))
	for i, email := range emails {
		rows[i].Email = email
	}
	return db.WithContext(ctx).Create(&rows).Error
}
