// Package unrelated looks like all faults, and has nothing to do with snowkey.
package unrelated

import (
	"context"
	"encoding/json"
	"sort"
	"strconv"

	"gorm.io/gorm"
)

type Order struct {
	gorm.Model
	No int64 `json:"no"`
}

type Line struct {
	ID      int64 `gorm:"primaryKey" json:"id"`
	OrderID int64 `json:"order_id"`
}

type Key int64

func (Line) KeyForm() string { return "line" }

type source interface {
	Next(ctx context.Context) (int64, error)
}

func use(ctx context.Context, s source, lines []Line) ([]byte, error) {
	id, _ := s.Next(ctx)
	_ = int32(id)
	n, _ := strconv.Atoi("12")
	texts := []string{strconv.FormatInt(id, 10)}
	sort.Strings(texts)
	return json.Marshal(map[string]any{"id": id, "n": n, "sql": "SELECT id FROM orders ORDER BY id::text"})
}
