package readme

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Word struct {
	ID        sqltype.ID
	Word      string `gorm:"size:40;uniqueIndex:words_live,where:deleted_at IS NULL"`
	Note      string `gorm:"size:40"`
	DeletedAt gorm.DeletedAt
}

func putWord(ctx context.Context, db *gorm.DB, word *Word) error {
	return db.WithContext(ctx).Clauses(clause.OnConflict{
		Columns:     []clause.Column{{Name: "word"}},
		TargetWhere: clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "deleted_at IS NULL"}}},
		DoUpdates:   clause.AssignmentColumns([]string{"note"}),
	}).Create(word).Error
}
