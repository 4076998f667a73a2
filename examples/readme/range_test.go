package readme

import (
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestOrdersOfLastWeek(t *testing.T) {
	db := openGORM(t, &Order{}, &OrderLine{})
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	week, present, err := core.Twitter().Range(now.AddDate(0, 0, -7), now)
	if err != nil {
		t.Fatal(err)
	}
	rows := []Order{{ID: 5}, {ID: sqltype.ID(week - 1)}, {ID: sqltype.ID(week)}, {ID: sqltype.ID(present - 1)}, {ID: sqltype.ID(present)}}
	if err := db.Create(&rows).Error; err != nil {
		t.Fatal(err)
	}
	orders, err := ordersOfLastWeek(t.Context(), db, now)
	if err != nil || len(orders) != 2 || orders[0].ID != rows[2].ID || orders[1].ID != rows[3].ID {
		t.Errorf("%+v, %v", orders, err)
	}
}
