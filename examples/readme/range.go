package readme

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
)

func ordersOfLastWeek(ctx context.Context, db *gorm.DB, now time.Time) (orders []Order, err error) {
	from, before, err := core.Twitter().Range(now.AddDate(0, 0, -7), now)
	if err != nil {
		return nil, err
	}
	err = db.WithContext(ctx).Find(&orders, "id >= ? AND id < ?", from, before).Error
	return orders, err
}
