package graph_test

import (
	"testing"

	"gorm.io/driver/mysql"

	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// With clientFoundRows, MySQL counts existing rows as written ones, so its count does not show
// that all rows were written.
func TestCollisionsWithClientFoundRows(t *testing.T) {
	for _, server := range testserver.MySQLs(t) {
		cfg := databases.FreshMySQL(t, server.DSN)
		cfg.ClientFoundRows = true
		db := graphHandle(t, mysql.New(mysql.Config{DSNConfig: cfg, DisableWithReturning: true}), nil, nil, &User{}, &Keyword{}, &Visit{})
		ada := &User{Email: "ada@x"}
		must(t, db.Create(ada).Error)
		for what, create := range creates(t) {
			v := &Visit{Name: what, User: &User{Email: "ada@x"}}
			if err := create(db, v); err != nil || v.UserID != ada.ID {
				t.Errorf("%s: the user is %d, want %d: %v", what, v.UserID, ada.ID, err)
			}
		}
	}
}
