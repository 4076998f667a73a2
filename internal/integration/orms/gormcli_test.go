package orms

import (
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/gormcli/helpers"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/gormcli/models"
	"github.com/seed-299c1d6b/snowkey/snowkeytest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The helpers of gorm gen find rows by keys, also by several, and by no key.
func TestGormCLI(t *testing.T) {
	db, err := gorm.Open(sqlite.Open("file::memory:"), &gorm.Config{})
	must(t, err)
	must(t, db.Use(gormplugin.New(gormplugin.Config{Source: snowkeytest.New(t, snowkeytest.Config{})})))
	must(t, db.AutoMigrate(&models.Order{}, &models.Line{}))
	ctx := t.Context()
	orders := []models.Order{{Number: "1"}, {Number: "2"}}
	must(t, gorm.G[[]models.Order](db).Create(ctx, &orders))
	first, second := orders[0].ID, orders[1].ID
	child := models.Order{Number: "3", ParentID: models.NullOrderKey{Key: first, Valid: true}}
	must(t, gorm.G[models.Order](db).Create(ctx, &child))
	line := models.Line{OrderID: first, Replaces: sqltype.NullID{ID: 7, Valid: true}, Gift: &second, SkuID: 9}
	must(t, gorm.G[models.Line](db).Create(ctx, &line))
	order, of := helpers.Order, helpers.Line
	for name, c := range map[string]struct {
		where []any
		want  int64
	}{
		"equal":     {[]any{order.ID.Eq(first)}, 1},
		"several":   {[]any{order.ID.In(first, child.ID)}, 2},
		"of parent": {[]any{order.ParentID.In(first, second)}, 1},
		"no parent": {[]any{order.ParentID.IsNull()}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			if n, err := gorm.G[models.Order](db).Where(c.where[0]).Count(ctx, "*"); err != nil || n != c.want {
				t.Errorf("%d orders, %v, want %d", n, err, c.want)
			}
		})
	}
	found, err := gorm.G[models.Line](db).Where(of.ID.In(line.ID)).Where(of.OrderID.Eq(first)).Where(of.Replaces.In(7)).Where(of.Gift.Eq(second)).Where(of.SkuID.In(9)).First(ctx)
	if err != nil || found.ID != line.ID {
		t.Errorf("found %+v, %v", found, err)
	}
}
