package readme

import (
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
)

func useSnowkey(db *gorm.DB, workerID int64) (*core.Generator, error) {
	gen, err := core.New(core.Config{Worker: core.Fixed(workerID)})
	if err != nil {
		return nil, err
	}
	return gen, db.Use(gormplugin.New(gormplugin.Config{Source: gen, Models: []any{Order{}, OrderLine{}}}))
}
