package main

import (
	"database/sql"
	"path/filepath"
	"strings"

	"github.com/glebarez/sqlite"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/examples/data"
)

// open opens the database. The names of its tables begin with quickstart_.
func open(dsn string) (*gorm.DB, *sql.DB, error) {
	var dialector gorm.Dialector
	switch ext := filepath.Ext(dsn); {
	case dsn == "":
		dialector = sqlite.Open(":memory:?_pragma=foreign_keys(1)")
	case ext == ".sqlite" || ext == ".db":
		if err := data.Touch(dsn); err != nil {
			return nil, nil, err
		}
		dialector = sqlite.Open(dsn + "?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)")
	case strings.HasPrefix(dsn, "postgres"):
		dialector = postgres.Open(dsn)
	default:
		dialector = mysql.Open(dsn)
	}
	db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard, NamingStrategy: schema.NamingStrategy{TablePrefix: "quickstart_"}})
	if err != nil {
		return nil, nil, err
	}
	pool, err := db.DB()
	if err == nil && dsn == "" {
		pool.SetMaxOpenConns(1) // each connection has its own memory
	}
	return db, pool, err
}
