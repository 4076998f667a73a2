// Package shop has ids that package odd takes from it.
package shop

import (
	"context"

	"github.com/seed-299c1d6b/snowkey/core"
)

type Order struct {
	ID    int64 `gorm:"primaryKey;autoIncrement:false;snowflake" json:"id,string"`
	Buyer int64 `json:"-"`
	Lines []int64
	Note  string
}

func Issue(ctx context.Context, gen *core.Generator) (int64, error) { return gen.Next(ctx) }

func Owner(o *Order) int64 { return o.Buyer }

func Made(ctx context.Context, gen *core.Generator) (*Order, error) {
	id, err := gen.Next(ctx)
	if err != nil {
		return nil, err
	}
	return &Order{ID: id, Buyer: id}, nil
}
