package binding

import (
	"encoding/json"
	"net/http"

	"github.com/gin-gonic/gin"
	ginbinding "github.com/gin-gonic/gin/binding"
	"github.com/labstack/echo/v5"
	"github.com/oapi-codegen/runtime"

	"github.com/seed-299c1d6b/snowkey/internal/integration/binding/kinds"
	"github.com/seed-299c1d6b/snowkey/internal/integration/binding/oapi"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The frameworks' own interfaces.
var (
	_ runtime.Binder             = (*sqltype.ID)(nil)
	_ runtime.Binder             = (*sqltype.NullID)(nil)
	_ runtime.Binder             = (*sqltype.Key[customer])(nil)
	_ runtime.Binder             = (*sqltype.NullKey[customer])(nil)
	_ ginbinding.BindUnmarshaler = (*sqltype.ID)(nil)
	_ ginbinding.BindUnmarshaler = (*sqltype.NullID)(nil)
	_ ginbinding.BindUnmarshaler = (*sqltype.Key[customer])(nil)
	_ ginbinding.BindUnmarshaler = (*sqltype.NullKey[customer])(nil)
	_ echo.BindUnmarshaler       = (*sqltype.ID)(nil)
	_ echo.BindUnmarshaler       = (*sqltype.NullID)(nil)
	_ echo.BindUnmarshaler       = (*sqltype.Key[customer])(nil)
	_ echo.BindUnmarshaler       = (*sqltype.NullKey[customer])(nil)
)

type (
	customer = kinds.Customer
	key      = kinds.CustomerKey
	nullKey  = kinds.NullCustomerKey
)

// A request is what every framework binds: the path /orders/{customer}/{id}, a query or a
// form, or a JSON body.
type request struct {
	Customer key            `uri:"customer" param:"customer" json:"-" form:"-"`
	ID       sqltype.ID     `uri:"id" param:"id" json:"-" form:"-"`
	After    sqltype.ID     `form:"after" query:"after" json:"after"`
	Parent   sqltype.NullID `form:"parent" query:"parent" json:"parent"`
	Ptr      *sqltype.ID    `form:"ptr" query:"ptr" json:"ptr"`
	IDs      []sqltype.ID   `form:"ids" query:"ids" json:"ids"`
	Owner    key            `form:"owner" query:"owner" json:"owner"`
	Payer    nullKey        `form:"payer" query:"payer" json:"payer"`
	Guest    *key           `form:"guest" query:"guest" json:"guest"`
	Others   []key          `form:"others" query:"others" json:"others"`
}

// A framework is a server for GET and POST of /orders/{customer}/{id} that gives what it
// bound to seen.
type framework struct {
	name  string
	serve func(seen func(request, error)) http.Handler
}

func frameworks() []framework {
	gin.SetMode(gin.ReleaseMode)
	return []framework{
		{"gin", withGin},
		{"echo", withEcho},
		{"oapi-codegen", withOapi},
	}
}

// answer is the reply of every server: what was bound, or 400 and the reason.
func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func withGin(seen func(request, error)) http.Handler {
	router := gin.New()
	handle := func(c *gin.Context) {
		var r request
		err := c.ShouldBindUri(&r)
		if err == nil {
			err = c.ShouldBind(&r) // by the method and the content type
		}
		seen(r, err)
		answer(c.Writer, err)
	}
	router.GET("/orders/:customer/:id", handle)
	router.POST("/orders/:customer/:id", handle)
	return router
}

// The error of Bind is echo's own 400, whose reason is shown only if configured.
func withEcho(seen func(request, error)) http.Handler {
	e := echo.New()
	e.HTTPErrorHandler = echo.DefaultHTTPErrorHandler(true)
	handle := func(c *echo.Context) error {
		var r request
		err := c.Bind(&r)
		seen(r, err)
		if err != nil {
			return err
		}
		return c.NoContent(http.StatusOK)
	}
	e.GET("/orders/:customer/:id", handle)
	e.POST("/orders/:customer/:id", handle)
	return e
}

// oapiServer is the handler of the server that oapi-codegen generates.
type oapiServer struct{ seen func(request, error) }

func withOapi(seen func(request, error)) http.Handler {
	return oapi.HandlerWithOptions(oapiServer{seen}, oapi.StdHTTPServerOptions{
		ErrorHandlerFunc: func(w http.ResponseWriter, _ *http.Request, err error) {
			seen(request{}, err)
			answer(w, err)
		},
	})
}

func (s oapiServer) GetOrder(_ http.ResponseWriter, _ *http.Request, customer key, id sqltype.ID, p oapi.GetOrderParams) {
	s.seen(request{
		Customer: customer, ID: id, After: or(p.After), Parent: or(p.Parent), Ptr: p.Ptr, IDs: or(p.Ids),
		Owner: or(p.Owner), Payer: or(p.Payer), Guest: p.Guest, Others: or(p.Others),
	}, nil)
}

// oapi-codegen generates nothing for a form in servers that are not strict.
func (s oapiServer) ChangeOrder(w http.ResponseWriter, r *http.Request, customer key, id sqltype.ID) {
	var b oapi.Change
	err := json.NewDecoder(r.Body).Decode(&b)
	s.seen(request{
		Customer: customer, ID: id, After: or(b.After), Parent: or(b.Parent), Ptr: b.Ptr, IDs: or(b.Ids),
		Owner: or(b.Owner), Payer: or(b.Payer), Guest: b.Guest, Others: or(b.Others),
	}, err)
	answer(w, err)
}

// or returns what an optional parameter points to, or the zero value.
func or[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
