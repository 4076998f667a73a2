package binding

import (
	"encoding/json"
	"net/http"

	"github.com/seed-299c1d6b/snowkey/internal/integration/binding/oapi"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

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
