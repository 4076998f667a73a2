// Package snownarrow has ids in types that cannot hold them.
package snownarrow

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Order struct {
	ID   sqltype.ID
	Note string
}

type Line struct {
	ID      sqltype.ID
	OrderID int32 // want `OrderID is of type int32, and refers to an id of 63 bits`
	Order   *Order
	Pieces  int32
}

func out(ctx context.Context, gen *core.Generator, o Order) error {
	id, err := gen.Next(ctx)
	if err != nil {
		return err
	}
	_ = int32(id)      // want `int32 cuts off the upper bits of the id id`
	_ = uint32(o.ID)   // want `uint32 cuts off the upper bits of the id o.ID`
	_ = float64(o.ID)  // want `float64 holds integers of 53 bits at most`
	_ = int(id)        // want `int has 32 bits on some platforms`
	_ = int(o.ID) % 64 // a few bits
	_ = int(o.ID % 64)
	_ = int64(o.ID)
	_ = uint64(id)
	return nil
}

func upper(o Order) int32 { return int32(o.ID >> 40) }

// pack takes the bits one by one.
func pack(id sqltype.ID) (uint32, uint32) { return uint32(id >> 32), uint32(id) }

func in(text string) (sqltype.ID, error) {
	n, err := strconv.Atoi(text) // want `strconv.Atoi returns an int, which has 32 bits on some platforms`
	if err != nil {
		return 0, err
	}
	return sqltype.ID(n), nil
}

func in32(text string) (sqltype.ID, error) {
	n, err := strconv.ParseInt(text, 10, 32) // want `strconv.ParseInt with 32 bits`
	return sqltype.ID(n), err
}

func inFloat(text string) (sqltype.ID, error) {
	n, err := strconv.ParseFloat(text, 64) // want `a float holds integers of 53 bits at most`
	return sqltype.ID(n), err              // want `n is a float64`
}

func in64(text string) (sqltype.ID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	return sqltype.ID(n), err
}

func count(text string) (int, error) { return strconv.Atoi(text) }

func decoded(data []byte) (sqltype.ID, error) {
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		return 0, err
	}
	if f, ok := m["id"].(float64); ok {
		return sqltype.ID(f), nil // want `f is a float64, which holds integers of 53 bits at most`
	}
	if m["count"] != nil {
		_ = int64(m["count"].(float64))
	}
	return sqltype.Parse(fmt.Sprint(m["id"])) // want `the text of a float64 lacks the last digits`
}

type request struct {
	ID    int32   `json:"id"`
	Score float64 `json:"score"`
}

func small(r request) sqltype.ID {
	_ = int64(r.Score)
	return sqltype.ID(r.ID) // want `r.ID is of type int32, which cannot hold an id of 63 bits`
}
