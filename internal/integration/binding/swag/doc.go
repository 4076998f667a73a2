// Package swag has an API whose ids are of package sqltype, as swag documents it.
package swag

import "github.com/seed-299c1d6b/snowkey/internal/integration/orms/gormcli/models"

//go:generate go run ../../../../cmd/snowkey keys --for swag -o .swaggo ../../orms/gormcli/models
//go:generate go run github.com/swaggo/swag/cmd/swag@v1.16.6 init -q -d ./,../../orms/gormcli/models -g doc.go --ot json -o .

// Get returns an order.
//
//	@title		Orders
//	@version	1
//	@Param		id	path		string	true	"the order"
//	@Success	200	{object}	models.Order
//	@Success	201	{array}		models.Line
//	@Success	202	{object}	sqltype.Key[models.Order]
//	@Router		/orders/{id} [get]
func Get() models.Order { return models.Order{} }
