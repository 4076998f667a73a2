package gormplugin_test

import (
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Seal struct {
	Tenant sqltype.ID `gorm:"primaryKey"`
	No     int64      `gorm:"primaryKey;autoIncrement:false;snowflake"`
	Code   string     `gorm:"type:char(11) COLLATE bin;snowflake:base62"`
	Name   string
}

// What a restricted Select, a map and a conflict clause make of the statement.
func TestExactSQLOfOtherPaths(t *testing.T) {
	for _, d := range []struct {
		gormtest.Dialect
		selected, mapped, upsert string
	}{
		{
			gormtest.Dialects()[0],
			`INSERT INTO "seals" ("tenant","no","code","name") VALUES ($1,$2,$3,$4)`,
			`INSERT INTO "seals" ("code","name","no","tenant") VALUES ($1,$2,$3,$4),($5,$6,$7,$8)`,
			`INSERT INTO "seals" ("tenant","no","code","name") VALUES ($1,$2,$3,$4) ON CONFLICT DO NOTHING`,
		},
		{
			gormtest.Dialects()[1],
			"INSERT INTO `seals` (`tenant`,`no`,`code`,`name`) VALUES (?,?,?,?)",
			"INSERT INTO `seals` (`code`,`name`,`no`,`tenant`) VALUES (?,?,?,?),(?,?,?,?)",
			"INSERT INTO `seals` (`tenant`,`no`,`code`,`name`) VALUES (?,?,?,?) ON DUPLICATE KEY UPDATE `tenant`=`tenant`",
		},
	} {
		t.Run(d.Name, func(t *testing.T) {
			db, mock := d.Mock(t, &gormtest.Counter{})
			db = db.Session(&gorm.Session{SkipDefaultTransaction: true})
			mock.ExpectExec(d.selected).WithArgs(7, 1, "00000000002", "a").WillReturnResult(sqlmock.NewResult(0, 1))
			mock.ExpectExec(d.mapped).WithArgs("00000000005", "b", 3, 7, "x", "c", 4, 7).WillReturnResult(sqlmock.NewResult(0, 2))
			mock.ExpectExec(d.upsert).WithArgs(7, 77, "00000000006", "d").WillReturnResult(sqlmock.NewResult(0, 1))
			if db.Name() == "mysql" { // over a pool that may have clientFoundRows, the count of rows is not reliable
				mock.ExpectQuery("(SELECT 0,`tenant`,`no`,`code` FROM `seals` WHERE `tenant` = ? AND `no` = ? LOCK IN SHARE MODE)").WithArgs(7, 77).
					WillReturnRows(sqlmock.NewRows([]string{"place", "tenant", "no", "code"}).AddRow(0, 7, 77, "00000000006"))
			}
			maps := []map[string]any{{"name": "b", "tenant": 7}, {"name": "c", "Tenant": 7, "Code": "x", "no": 0}}
			for _, tx := range []*gorm.DB{
				db.Select("Tenant", "Name").Create(&Seal{Tenant: 7, Name: "a"}),
				db.Model(&Seal{}).Create(maps),
				db.Clauses(clause.OnConflict{DoNothing: true}).Create(&Seal{Tenant: 7, No: 77, Name: "d"}),
			} {
				if tx.Error != nil {
					t.Error(tx.Error)
				}
			}
			must(t, mock.ExpectationsWereMet())
		})
	}
}
