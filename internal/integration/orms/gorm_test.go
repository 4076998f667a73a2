package orms

import (
	"context"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type gormStore struct{ db *gorm.DB }

func openGorm(t *testing.T, db database, src source) store {
	dialector := map[string]gorm.Dialector{
		"postgres": postgres.New(postgres.Config{Conn: db.pool}),
		"mysql":    mysql.New(mysql.Config{Conn: db.pool}),
		"sqlite":   sqlite.Dialector{Conn: db.pool},
	}[db.kind]
	handle, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := handle.Use(gormplugin.New(gormplugin.Config{Source: src, Models: []any{&shop.Order{}, &shop.Line{}}})); err != nil {
		t.Fatal(err)
	}
	db.tables(t) // the other tests of gorm migrate
	return gormStore{handle}
}

func (s gormStore) Insert(ctx context.Context, orders []shop.Order) error {
	return graph.Create(ctx, s.db, &orders)
}

func (s gormStore) Upsert(ctx context.Context, order *shop.Order) error {
	return s.db.WithContext(ctx).Clauses(clause.OnConflict{
		Columns:   []clause.Column{{Name: "number"}},
		DoUpdates: clause.AssignmentColumns([]string{"customer"}),
	}).Create(order).Error
}

func (s gormStore) Orders(ctx context.Context, keys []shop.OrderKey) (orders []shop.Order, err error) {
	err = s.db.WithContext(ctx).Preload("Lines", func(db *gorm.DB) *gorm.DB { return db.Order("id") }).Order("id").Find(&orders, keys).Error
	for i := range orders {
		if len(orders[i].Lines) == 0 {
			orders[i].Lines = nil // gorm's is not nil
		}
	}
	return orders, err
}

func (s gormStore) Roots(ctx context.Context) (keys []shop.OrderKey, err error) {
	err = s.db.WithContext(ctx).Model(&shop.Order{}).Where("parent_id IS NULL").Order("id").Pluck("id", &keys).Error
	return keys, err
}

func (s gormStore) Row(ctx context.Context, key shop.OrderKey) (any, error) {
	var order shop.Order
	err := s.db.WithContext(ctx).Take(&order, key).Error
	return order, err
}

// A pointer to a slice is one parameter. To read an array, gorm needs the type of a scanner.
func (s gormStore) InsertList(ctx context.Context, id sqltype.ID, ids []sqltype.ID) error {
	return s.db.WithContext(ctx).Exec("INSERT INTO lists VALUES (?, ?)", id, &ids).Error
}

func (s gormStore) ListsWith(ctx context.Context, id sqltype.ID) ([][]sqltype.ID, error) {
	rows, err := s.db.WithContext(ctx).Raw("SELECT ids FROM lists WHERE ? = ANY(ids)", id).Rows()
	if err != nil {
		return nil, err
	}
	return scanLists(rows)
}
