package integration

import (
	"errors"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Customer has a tagged int64 key, Order and Line have the ID type.
type Customer struct {
	ID   int64  `gorm:"primaryKey;autoIncrement:false;snowflake" json:"id,string"`
	Name string `gorm:"size:100" json:"name"`
}

type Order struct {
	ID         sqltype.ID  `json:"id"`
	CustomerID *int64      `json:"customerId,omitempty,string"`
	Customer   *Customer   `json:"customer,omitempty"`
	Note       string      `gorm:"size:100" json:"note"`
	ParentID   *sqltype.ID `json:"parentId,omitempty"`
	Lines      []Line      `json:"lines,omitempty"`
	Hooked     sqltype.ID  `gorm:"-" json:"-"` // the key as BeforeCreate saw it
}

type Line struct {
	ID       sqltype.ID `json:"id"`
	OrderID  sqltype.ID `gorm:"index;not null" json:"orderId"`
	Position int        `json:"position"`
	Hooked   sqltype.ID `gorm:"-" json:"-"`
}

// Event has no relations, for rows by the ten thousand.
type Event struct {
	ID   sqltype.ID
	Who  int
	What string `gorm:"size:20"`
}

func models() []any { return []any{&Customer{}, &Order{}, &Line{}, &Event{}} }

func (o *Order) BeforeCreate(*gorm.DB) error { o.Hooked = o.ID; return nil }

func (l *Line) BeforeCreate(*gorm.DB) error {
	l.Hooked = l.ID
	if l.Position < 0 {
		return errRefused
	}
	return nil
}

var errRefused = errors.New("the model's hook refuses")
