// Package odd is correct, and seldom seen: no rule reports anything, or stumbles.
package odd

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"

	"fixtures/src/odd/shop"
	"github.com/seed-299c1d6b/snowkey/core"
)

// All rules ask for the kinds of these, which are known from the other package only.
func imported(ctx context.Context, gen *core.Generator, orders []*shop.Order, text string) (string, error) {
	id, err := shop.Issue(ctx, gen)
	if err != nil {
		return "", err
	}
	for i, o := range orders {
		_ = i < len(orders) && o.ID < id && shop.Owner(o) <= o.Buyer && o.Note < text
		_ = int64(o.ID) + int64(shop.Owner(o)) + int64(o.Buyer) + int64(id)
		o.Buyer, o.Lines = id, append(o.Lines, shop.Owner(o), o.ID)
		_ = fmt.Sprintf("{%q: %q}", o.Note, strconv.FormatInt(o.ID, 10))
	}
	sort.Slice(orders, func(i, j int) bool { return orders[i].ID < orders[j].ID })
	if _, err := json.Marshal(struct{ O, P any }{orders, o(orders)}); err != nil {
		return "", err
	}
	return strconv.FormatInt(shop.Owner(orders[0]), 36), nil
}

func o(orders []*shop.Order) *shop.Order { return orders[len(orders)-1] }
